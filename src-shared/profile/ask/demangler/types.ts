/** <type> of the Itanium C++ ABI, section 5.1.5. */
import {
  ArrayType,
  Declarator,
  Expansion,
  FunctionType,
  Qualified,
  Sequence,
  Text,
  WithArguments
} from './nodes'
import type { Node } from './printer'
import { NotMangled, Scanner } from './scanner'
import { builtinTypes } from './tables'

export abstract class Types extends Scanner {
  protected readonly substitutions: Node[] = []
  /** Whether an I behind a T_ belongs to it; not in 'operator T<int>'. */
  protected ownsArguments = true

  abstract encoding(): Node
  abstract className(): Node
  abstract unqualified(scope: Node | null): Node
  abstract sourceName(): string
  abstract argumentList(): Node[]
  abstract argument(): Node
  abstract templateParameter(): Node
  abstract substitution(): Node
  abstract expression(): Node

  type(): Node {
    return this.nested(() => {
      const length = builtinTypes.has(this.peek()) ? 1 : builtinTypes.has(this.next(2)) ? 2 : 0
      if (length > 0) {
        const name = builtinTypes.get(this.next(length))!
        this.at += length
        return new Text(name)
      }
      if (this.peek() === 'D' && /[FBU]/.test(this.peek(1))) {
        return this.sizedNumber()
      }
      if (this.peek() === 'S' && this.peek(1) !== 't') return this.substitutedType()
      const type = this.compound()
      this.substitutions.push(type)
      return type
    })
  }

  /** DF16_, DF16b, DB8_: no substitution candidates, like all builtin types. */
  private sizedNumber(): Node {
    const kind = this.next(2)
    this.at += 2
    const bits = this.digits()
    if (bits === '') throw new NotMangled()
    if (kind === 'DF') {
      if (this.eat('b')) return new Text('std::bfloat16_t')
      if (this.eat('x')) return new Text(`_Float${bits}x`)
      this.expect('_')
      return new Text(`_Float${bits}`)
    }
    this.expect('_')
    return new Text(`${kind === 'DU' ? 'unsigned ' : ''}_BitInt(${bits})`)
  }

  private substitutedType(): Node {
    const base = this.substitution()
    if (this.peek() !== 'I' || !this.ownsArguments) return base
    const type = new WithArguments(base, this.argumentList())
    this.substitutions.push(type)
    return type
  }

  private compound(): Node {
    switch (this.peek()) {
      case 'P':
        this.at++
        return new Declarator(this.type(), '*')
      case 'R':
        this.at++
        return new Declarator(this.type(), '&')
      case 'O':
        this.at++
        return new Declarator(this.type(), '&&')
      case 'r':
      case 'V':
      case 'K':
        return this.qualifiedType()
      case 'F':
        return this.functionType('')
      case 'A':
        return this.arrayType()
      case 'M': {
        this.at++
        const owner = this.type()
        return new Declarator(this.type(), owner)
      }
      case 'C':
        this.at++
        return new Qualified(this.type(), ' _Complex')
      case 'G':
        this.at++
        return new Qualified(this.type(), ' _Imaginary')
      case 'U':
        return this.vendorQualified()
      case 'u': {
        this.at++
        const name = new Text(this.sourceName())
        return this.peek() === 'I' ? new WithArguments(name, this.argumentList()) : name
      }
      case 'T':
        return this.parameterOrElaborated()
      case 'D':
        return this.dType()
    }
    return this.className()
  }

  private qualifiedType(): Node {
    const qualifiers = this.cvQualifiers()
    if (this.peek() === 'F') return this.functionType(qualifiers)
    return new Qualified(this.type(), qualifiers)
  }

  /** <CV-qualifiers> in the order they are written out: ' const volatile __restrict'. */
  protected cvQualifiers(): string {
    const [restrict, isVolatile, isConst] = ['r', 'V', 'K'].map((code) => this.eat(code))
    return `${isConst ? ' const' : ''}${isVolatile ? ' volatile' : ''}${restrict ? ' __restrict__' : ''}`
  }

  private vendorQualified(): Node {
    this.expect('U')
    const name = this.sourceName()
    const list = this.peek() === 'I' ? this.argumentList() : null
    const type = this.type()
    const pieces: (string | Node)[] = [' ', list ? new WithArguments(new Text(name), list) : name]
    return new Sequence([type, ...pieces])
  }

  private parameterOrElaborated(): Node {
    if (/[sue]/.test(this.peek(1))) {
      this.at += 2
      return this.className()
    }
    const parameter = this.templateParameter()
    if (this.peek() !== 'I' || !this.ownsArguments) return parameter
    this.substitutions.push(parameter)
    return new WithArguments(parameter, this.argumentList())
  }

  private dType(): Node {
    if (/[tT]/.test(this.peek(1))) return this.decltype()
    if (this.eat('Dp')) return new Expansion(this.type())
    if (this.eat('Dv')) {
      const size = this.isDigit() ? new Text(this.digits()) : (this.expect('_'), this.expression())
      this.expect('_')
      return new Sequence([this.type(), ' __vector(', size, ')'])
    }
    if (this.eat('Do')) return this.functionType('', ' noexcept')
    if (this.eat('DO')) {
      const condition = this.expression()
      this.expect('E')
      return this.functionType('', new Sequence([' noexcept(', condition, ')']))
    }
    if (this.eat('Dx')) return this.functionType(' transaction_safe')
    throw new NotMangled()
  }

  decltype(): Node {
    this.at += 2
    const expression = this.expression()
    this.expect('E')
    return new Sequence(['decltype (', expression, ')'])
  }

  private functionType(qualifiers: string, exception: string | Node = ''): Node {
    this.expect('F')
    this.eat('Y')
    const result = this.type()
    const parameters: Node[] = []
    let reference = ''
    while (!this.eat('E')) {
      if (this.eat('RE')) reference = ' &'
      else if (this.eat('OE')) reference = ' &&'
      else {
        parameters.push(this.type())
        continue
      }
      break
    }
    const isEmpty =
      parameters.length === 1 && parameters[0] instanceof Text && parameters[0].text === 'void'
    return new FunctionType(result, isEmpty ? [] : parameters, [qualifiers, reference, exception])
  }

  private arrayType(): Node {
    this.expect('A')
    let extent: Node = new Text('')
    if (this.isDigit()) extent = new Text(this.digits())
    else if (this.peek() !== '_') extent = this.expression()
    this.expect('_')
    return new ArrayType(this.type(), extent)
  }
}
