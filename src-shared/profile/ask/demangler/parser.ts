/**
 * The grammar of mangled names: encodings, names, template arguments (Itanium C++ ABI, section 5.1;
 * https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling). Types and expressions are in files of their own.
 */
import { Expressions } from './expressions'
import {
  Encoding,
  Lambda,
  Pack,
  Scoped,
  Sequence,
  Signature,
  Tagged,
  TemplateParameter,
  Text,
  WithArguments
} from './nodes'
import type { Node } from './printer'
import { NotMangled } from './scanner'
import { operatorNames, specialNames, standardClasses } from './tables'

/** What the name of an encoding says about the rest of it. */
interface NameFacts {
  /** ' const &', of a member function. */
  qualifiers: string
  /** Such a function encodes its return type. */
  endsInArguments: boolean
  /** Constructors and conversions have none. */
  hasNoReturn: boolean
  /** The last template arguments: what T_ means in the whole encoding. */
  list: readonly Node[]
}

const noFacts = (): NameFacts => ({
  qualifiers: '',
  endsInArguments: false,
  hasNoReturn: false,
  list: []
})

export class Parser extends Expressions {
  static parse(mangled: string): Node {
    const parser = new Parser(mangled)
    parser.expect('_Z')
    const node = parser.encoding()
    if (parser.at !== parser.text.length) throw new NotMangled()
    return node
  }

  /** <encoding>: a function with its parameters, an object, or a special name. */
  override encoding(): Node {
    return this.nested(() => this.special() ?? this.functionOrData())
  }

  private functionOrData(): Node {
    const facts = noFacts()
    const name = this.name(facts)
    if (this.atEndOfEncoding()) return new Encoding(name, facts.list)
    if (facts.endsInArguments && !facts.hasNoReturn) this.type()
    const parameters: Node[] = []
    while (!this.atEndOfEncoding()) parameters.push(this.type())
    const signature = new Signature(name, isVoid(parameters) ? [] : parameters, facts.qualifiers)
    return new Encoding(signature, facts.list)
  }

  private atEndOfEncoding(): boolean {
    const next = this.peek()
    return next === '' || next === 'E' || next === '.'
  }

  /** <special-name>: tables, guards, thunks; null where there is none. */
  private special(): Node | null {
    const code = this.next(2)
    if (this.eat('GTt')) return new Sequence(['transaction clone for ', this.encoding()])
    if (this.eat('Tc')) {
      this.callOffset()
      this.callOffset()
      return new Sequence(['covariant return thunk to ', this.encoding()])
    }
    if (code === 'Th' || code === 'Tv') {
      this.at++
      this.callOffset()
      const kind = code === 'Th' ? 'non-virtual' : 'virtual'
      return new Sequence([`${kind} thunk to `, this.encoding()])
    }
    if (this.eat('TC')) {
      const within = this.type()
      this.number()
      this.expect('_')
      return new Sequence(['construction vtable for ', this.type(), '-in-', within])
    }
    if (this.eat('GR')) {
      const name = this.name(noFacts())
      const digits = /^[0-9A-Z]*/.exec(this.text.slice(this.at))![0]
      this.at += digits.length
      this.eat('_')
      const index = digits === '' ? 0 : parseInt(digits, 36) + 1
      return new Sequence([`reference temporary #${index} for `, name])
    }
    if (this.eat('TA')) return new Sequence(['template parameter object for ', this.argument()])
    const words = specialNames.get(code)
    if (words === undefined) return null
    this.at += 2
    const isOfType = /^T[VTIS]$/.test(code)
    return new Sequence([words, isOfType ? this.type() : this.name(noFacts())])
  }

  private callOffset(): void {
    if (this.eat('h')) this.number()
    else {
      this.expect('v')
      this.number()
      this.expect('_')
      this.number()
    }
    this.expect('_')
  }

  override className(): Node {
    return this.name(null)
  }

  /** <name>; with `facts` it is an encoding's and its template arguments are what T_ means from here on. */
  private name(facts: NameFacts | null): Node {
    if (this.eat('N')) return this.nestedName(facts)
    if (this.eat('Z')) return this.localName(facts)
    let name: Node
    if (this.peek() === 'S' && this.peek(1) !== 't') {
      name = this.substitution()
      if (this.peek() !== 'I') throw new NotMangled()
    } else {
      const isStd = this.eat('St')
      name = this.unqualified(null, facts)
      if (isStd) name = new Scoped(new Text('std'), name)
      if (this.peek() !== 'I') return name
      this.substitutions.push(name)
    }
    const list = this.argumentList()
    if (facts) {
      facts.endsInArguments = true
      facts.list = list
    }
    return new WithArguments(name, list)
  }

  private nestedName(facts: NameFacts | null): Node {
    let qualifiers = this.cvQualifiers()
    // An explicit object parameter, C++23.
    if (this.eat('H')) qualifiers = ''
    if (this.eat('R')) qualifiers += ' &'
    else if (this.eat('O')) qualifiers += ' &&'
    if (facts) facts.qualifiers = qualifiers
    let name: Node | null = null
    let isNew = false
    let endsInArguments = false
    while (!this.eat('E')) {
      this.eat('L')
      const next = this.peek()
      endsInArguments = false
      isNew = true
      if (next === 'T') name = this.templateParameter()
      else if (next === 'I') {
        if (!name) throw new NotMangled()
        const list = this.argumentList()
        name = new WithArguments(name, list)
        endsInArguments = true
        if (facts) facts.list = list
      } else if (next === 'D' && /[tT]/.test(this.peek(1))) name = this.decltype()
      else if (next === 'S' && this.peek(1) !== 't') {
        if (name) throw new NotMangled()
        name = this.substitution()
        isNew = false
      } else if (this.eat('St')) {
        name = new Text('std')
        isNew = false
      } else if (this.eat('M')) {
        // The closure of a data member's initialiser: the member stays the scope.
        isNew = false
      } else {
        const part = this.unqualified(name, facts)
        name = name ? new Scoped(name, part) : part
      }
      if (isNew) this.substitutions.push(name!)
    }
    if (!name) throw new NotMangled()
    // The whole name is no prefix; as a type it is added by who asked for it.
    if (isNew) this.substitutions.pop()
    if (facts) facts.endsInArguments = endsInArguments
    return name
  }

  private localName(facts: NameFacts | null): Node {
    const scope = this.encoding()
    this.expect('E')
    if (this.eat('s')) {
      this.discriminator()
      return new Scoped(scope, new Text('string literal'))
    }
    let place: Node = scope
    if (this.eat('d')) {
      const index = this.ordinal()
      place = new Scoped(scope, new Text(`{default arg#${index + 1}}`))
    }
    const inner = this.name(facts)
    this.discriminator()
    return new Scoped(place, inner)
  }

  private discriminator(): void {
    if (this.eat('__')) {
      this.digits()
      this.expect('_')
    } else if (this.peek() === '_' && this.isDigit(1)) this.at += 2
  }

  override unqualified(scope: Node | null, facts: NameFacts | null = null): Node {
    let name = this.unqualifiedPart(scope, facts)
    while (this.eat('B')) name = new Tagged(name, this.sourceName())
    return name
  }

  private unqualifiedPart(scope: Node | null, facts: NameFacts | null): Node {
    this.eat('L')
    const next = this.peek()
    if (this.isDigit()) return new Text(this.sourceName())
    if (this.eat('Ul')) return this.lambda()
    if (this.eat('Ut')) return new Text(`{unnamed type#${this.ordinal() + 1}}`)
    if (this.eat('DC')) {
      const names = this.until('E', () => new Text(this.sourceName()))
      return new Text(`[${names.map((name) => name.text).join(', ')}]`)
    }
    if ((next === 'C' || next === 'D') && /[0-9I]/.test(this.peek(1))) {
      if (facts) facts.hasNoReturn = true
      const isInheriting = this.peek(1) === 'I'
      this.at += isInheriting ? 3 : 2
      if (isInheriting) this.type()
      // A closure has no name: its own text stands for it.
      const base = scope?.baseName() ?? ''
      const named = base === '' && scope ? scope.lastPart() : new Text(base)
      return new Sequence([next === 'C' ? '' : '~', named])
    }
    if (this.eat('cv')) {
      if (facts) facts.hasNoReturn = true
      return this.conversion()
    }
    if (this.eat('li')) return new Text(`operator"" ${this.sourceName()}`)
    const operator = operatorNames.get(this.next(2))
    if (operator === undefined) throw new NotMangled()
    this.at += 2
    return new Text(`operator${/^[a-z]/.test(operator) ? ' ' : ''}${operator}`)
  }

  /** 'operator T': arguments that follow the type are the operator's. */
  private conversion(): Node {
    const { ownsArguments } = this
    this.ownsArguments = false
    const type = this.type()
    this.ownsArguments = ownsArguments
    return new Sequence(['operator ', type])
  }

  private lambda(): Node {
    while (this.peek() === 'T' && /[ynptk]/.test(this.peek(1))) this.templateParameterDeclaration()
    const parameters = this.until('E', () => this.type())
    return new Lambda(isVoid(parameters) ? [] : parameters, this.ordinal() + 1)
  }

  /** <template-param-decl>: of a lambda with a parameter list of its own; not shown. */
  private templateParameterDeclaration(): void {
    if (this.eat('Ty')) return
    if (this.eat('Tk')) {
      this.className()
      return
    }
    if (this.eat('Tn')) {
      this.type()
      return
    }
    if (this.eat('Tt')) {
      this.until('E', () => this.templateParameterDeclaration())
      return
    }
    this.expect('Tp')
    this.templateParameterDeclaration()
  }

  override sourceName(): string {
    const length = Number(this.digits())
    if (length === 0 || this.at + length > this.text.length) throw new NotMangled()
    const name = this.next(length)
    this.at += length
    return /^_GLOBAL_[._$]N/.test(name) ? '(anonymous namespace)' : name
  }

  /** <template-args> */
  override argumentList(): Node[] {
    this.expect('I')
    const { ownsArguments } = this
    this.ownsArguments = true
    const list = this.until('E', () => this.argument())
    this.ownsArguments = ownsArguments
    return list
  }

  override argument(): Node {
    return this.nested(() => {
      if (this.eat('J')) return new Pack(this.until('E', () => this.argument()))
      if (this.eat('X')) {
        const expression = this.expression()
        this.expect('E')
        return expression
      }
      if (this.peek() === 'L') return this.literal()
      if (this.peek() === 'T' && /[ynptk]/.test(this.peek(1))) {
        this.templateParameterDeclaration()
        return this.argument()
      }
      return this.type()
    })
  }

  override templateParameter(): Node {
    this.expect('T')
    // Levels ('TL0__') occur in lambdas with parameter lists of their own.
    if (this.eat('L')) this.ordinal()
    return new TemplateParameter(this.ordinal())
  }

  override substitution(): Node {
    this.expect('S')
    const standard = standardClasses.get(this.peek())
    if (standard !== undefined) {
      this.at++
      let node: Node = new Text(standard, standard.replace(/^std::|<.*$/g, ''))
      while (this.eat('B')) node = new Tagged(node, this.sourceName())
      return node
    }
    const digits = /^[0-9A-Z]*/.exec(this.text.slice(this.at, this.at + 8))![0]
    this.at += digits.length
    this.expect('_')
    const found = this.substitutions[digits === '' ? 0 : parseInt(digits, 36) + 1]
    if (!found) throw new NotMangled()
    return found
  }
}

function isVoid(parameters: readonly Node[]): boolean {
  return parameters.length === 1 && parameters[0] instanceof Text && parameters[0].text === 'void'
}
