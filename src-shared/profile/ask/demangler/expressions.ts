/** <expression> and <expr-primary> of the Itanium C++ ABI, section 5.1.6: template arguments that are computed. */
import { Expansion, List, Scoped, Sequence, Encoding, Text, WithArguments } from './nodes'
import type { Node } from './printer'
import { NotMangled } from './scanner'
import {
  binaryOperators,
  integerSuffixes,
  namedCasts,
  operatorNames,
  prefixOperators,
  typeOperators,
  wordOperators
} from './tables'
import { Types } from './types'

/** A name, which needs no parentheses within an expression. */
class Simple extends Sequence {}

export abstract class Expressions extends Types {
  override expression(): Node {
    return this.nested(() => this.expressionInner())
  }

  private expressionInner(): Node {
    const next = this.peek()
    if (next === 'L') return this.literal()
    if (next === 'T') return this.templateParameter()
    if (this.isDigit()) return this.unresolved()
    if (this.eat('gs')) {
      const name = this.expression()
      return new Sequence(['::', name])
    }
    if (
      next === 'f' &&
      /[pL]/.test(this.peek(1)) &&
      !/[a-zA-Z]/.test(this.peek(2).replace('T', ''))
    )
      return this.functionParameter()
    const code = this.next(2)
    this.at += 2
    return this.byCode(code)
  }

  private byCode(code: string): Node {
    if (prefixOperators.has(code)) {
      // Increments say whether they stand before ('pp_') or behind.
      const isPrefix = /^(pp|mm)$/.test(code) ? this.eat('_') : true
      const operand = this.operand(this.addressed(code))
      const sign = operatorNames.get(code)!
      return new Sequence(isPrefix ? [sign, operand] : [operand, sign])
    }
    if (binaryOperators.has(code)) return this.binary(operatorNames.get(code)!)
    const typeWord = typeOperators.get(code)
    if (typeWord !== undefined) return new Sequence([`${typeWord} (`, this.type(), ')'])
    const word = wordOperators.get(code)
    if (word !== undefined) return new Sequence([`${word} (`, this.expression(), ')'])
    const cast = namedCasts.get(code)
    if (cast !== undefined)
      return new Sequence([`${cast}<`, this.type(), '>(', this.expression(), ')'])
    switch (code) {
      case 'cv':
        return this.castTo()
      case 'cl':
        return this.call()
      case 'ix': {
        const array = this.operand(this.expression())
        return new Sequence([array, '[', this.expression(), ']'])
      }
      case 'qu': {
        const condition = this.operand(this.expression())
        const yes = this.operand(this.expression())
        return new Sequence([condition, '?', yes, ' : ', this.operand(this.expression())])
      }
      case 'dt':
      case 'pt': {
        const object = this.operand(this.expression())
        return new Sequence([object, code === 'dt' ? '.' : '->', this.expression()])
      }
      case 'sr':
        return this.scopedName()
      case 'on':
        return this.operatorName()
      case 'il':
        return this.braced(null)
      case 'tl':
        return this.braced(this.type())
      case 'sp':
        return new Expansion(this.expression())
      case 'sZ':
        return new Sequence(['sizeof...(', this.packOf(), ')'])
      case 'fl':
      case 'fr':
        return this.fold(code)
      case 'tw':
        return new Sequence(['throw ', this.expression()])
      case 'tr':
        return new Text('throw')
    }
    throw new NotMangled()
  }

  private packOf(): Node {
    return this.peek() === 'T' ? this.templateParameter() : this.expression()
  }

  /** The address of a function is written without its parameters. */
  private addressed(code: string): Node {
    const operand = this.expression()
    return code === 'ad' && operand instanceof Encoding ? operand.withoutParameters() : operand
  }

  private operand(node: Node): Node {
    return isSimple(node) ? node : new Sequence(['(', node, ')'])
  }

  private binary(sign: string): Node {
    const left = this.operand(this.expression())
    const right = this.operand(this.expression())
    // Within template arguments '>' would end them.
    return new Sequence(sign === '>' ? ['(', left, sign, right, ')'] : [left, sign, right])
  }

  private castTo(): Node {
    const type = this.type()
    const value = this.eat('_')
      ? new List(this.until('E', () => this.expression()))
      : this.expression()
    return new Sequence(['(', type, ')(', value, ')'])
  }

  private call(): Node {
    const called = this.expression()
    const list = this.until('E', () => this.expression())
    const name = called instanceof Encoding ? called.withoutParameters() : this.operand(called)
    return new Sequence([name, '(', new List(list), ')'])
  }

  private braced(type: Node | null): Node {
    const list = new List(this.until('E', () => this.expression()))
    return new Sequence(type ? [type, '{', list, '}'] : ['{', list, '}'])
  }

  private fold(code: string): Node {
    const sign = operatorNames.get(this.next(2))
    if (sign === undefined) throw new NotMangled()
    this.at += 2
    const pack = this.operand(this.expression())
    return new Sequence(code === 'fl' ? ['(...', sign, pack, ')'] : ['(', pack, sign, '...)'])
  }

  private functionParameter(): Node {
    if (this.eat('fpT')) return new Text('this')
    this.at++
    if (this.eat('L')) this.digits()
    this.expect('p')
    this.cvQualifiers()
    return new Simple([`{parm#${this.ordinal() + 1}}`])
  }

  /** <unresolved-name> behind 'sr': a type, or a list of scopes, then a name. */
  private scopedName(): Node {
    if (this.isDigit()) {
      let scope = this.unresolved()
      while (!this.eat('E')) scope = new Scoped(scope, this.unresolved())
      return new Scoped(scope, this.unresolved())
    }
    return new Scoped(this.type(), this.unresolved())
  }

  private unresolved(): Node {
    if (this.eat('on')) return this.operatorName()
    if (this.eat('dn')) return new Sequence(['~', this.isDigit() ? this.unresolved() : this.type()])
    const name = this.unqualified(null)
    return this.peek() === 'I' ? new WithArguments(name, this.argumentList()) : name
  }

  private operatorName(): Node {
    const name = this.unqualified(null)
    return this.peek() === 'I' ? new WithArguments(name, this.argumentList()) : name
  }

  /** <expr-primary>: a number of a type, or a function or object. */
  literal(): Node {
    this.expect('L')
    if (this.eat('_Z') || this.eat('Z')) {
      const name = this.encoding()
      this.expect('E')
      return name
    }
    const isBuiltin = !/[0-9NSZT]/.test(this.peek())
    const type = this.type()
    const value = /^[\w.]*?(?=E)/.exec(this.text.slice(this.at))?.[0]
    if (value === undefined) throw new NotMangled()
    this.at += value.length
    this.expect('E')
    const name = type instanceof Text && isBuiltin ? type.text : ''
    if (name === 'decltype(nullptr)' && (value === '' || value === '0')) return new Text('nullptr')
    if (name === 'bool' && /^[01]$/.test(value)) return new Text(value === '1' ? 'true' : 'false')
    const number = value.replace(/^n/, '-')
    const suffix = integerSuffixes.get(name)
    if (suffix !== undefined) return new Text(`${number}${suffix}`)
    const isFloat = /^(float|double|long double|__float128|_Float\d+)$/.test(name)
    return new Sequence(['(', type, ')', isFloat ? `[${value}]` : number])
  }
}

function isSimple(node: Node): boolean {
  if (node instanceof Text)
    return !/^[-(\d]/.test(node.text) && !/^(true|false|nullptr|throw)$/.test(node.text)
  return (
    (node instanceof Scoped && !node.endsInArguments()) ||
    node instanceof Simple ||
    node instanceof Encoding
  )
}
