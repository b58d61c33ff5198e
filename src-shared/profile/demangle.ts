/**
 * Itanium C++ names to text, as far as GPU kernels need: nested names, templates, literals, lambdas, local names,
 * substitutions (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling). What it cannot read stays raw.
 */
import { builtinTypes, operatorNames, standardSubstitutions } from './demangleTables'

/** The demangled name, or the name itself when it is not a mangled one. */
export function demangle(name: string): string {
  const known = cache.get(name)
  if (known !== undefined) return known
  const text = demangleNew(name)
  if (cache.size >= 50_000) cache.clear()
  cache.set(name, text)
  return text
}

const cache = new Map<string, string>()
const longestName = 20_000
const longestText = 100_000
const deepest = 256

function demangleNew(name: string): string {
  if (!name.startsWith('_Z') || name.length > longestName) return name
  // Tools append their own: '_Z4gemmv [M=1]', '_Z4gemmv.cold', '_Z4gemmv(int)'.
  const mangled = /^_Z[\w$]*/.exec(name)![0]
  try {
    const parser = new Demangler(mangled)
    return parser.encodingToEnd() + name.slice(mangled.length)
  } catch (error) {
    if (error instanceof NotMangled || error instanceof RangeError) return name
    throw error
  }
}

class NotMangled extends Error {}

/** A type's text before and after the name it declares: 'void (*' and ')(int)'. */
interface TypeText {
  left: string
  right: string
}

class Demangler {
  private at = 2
  private depth = 0
  private written = 0
  private readonly substitutions: TypeText[] = []
  private templateArguments: TypeText[] = []
  /** Whether the last name read ends in template arguments: such a function encodes its return type. */
  private endsInTemplate = false
  private isSpecial = false

  constructor(private readonly text: string) {}

  encodingToEnd(): string {
    const result = this.encoding()
    if (this.at !== this.text.length) throw new NotMangled()
    return result
  }

  private encoding(): string {
    return this.nested(() => {
      this.isSpecial = false
      const qualifiers = { text: '' }
      const name = this.name(qualifiers)
      const next = this.peek()
      if (next === '' || next === 'E' || next === '.') return name
      const hasReturn = this.endsInTemplate && !this.isSpecial
      if (hasReturn) this.type()
      const parameters: string[] = []
      while (this.peek() !== '' && this.peek() !== 'E' && this.peek() !== '.') {
        parameters.push(whole(this.type()))
      }
      const list = parameters.length === 1 && parameters[0] === 'void' ? '' : parameters.join(', ')
      return this.keep(`${name}(${list})${qualifiers.text}`)
    })
  }

  private name(qualifiers: { text: string }): string {
    if (this.eat('N')) return this.nestedName(qualifiers)
    if (this.eat('Z')) return this.localName(qualifiers)
    let name: string
    if (this.peek() === 'S' && this.text[this.at + 1] !== 't') {
      name = whole(this.substitution())
    } else {
      name = this.eat('St') ? `std::${this.unqualified('')}` : this.unqualified('')
      if (this.peek() === 'I') this.substitutions.push({ left: name, right: '' })
    }
    this.endsInTemplate = false
    if (this.peek() === 'I') {
      name += this.templateArgumentList()
      this.endsInTemplate = true
    }
    return this.keep(name)
  }

  private nestedName(qualifiers: { text: string }): string {
    qualifiers.text = this.qualifiers()
    if (this.eat('R')) qualifiers.text += ' &'
    else if (this.eat('O')) qualifiers.text += ' &&'
    let name = ''
    let last = ''
    let isTemplate = false
    while (!this.eat('E')) {
      let isSubstitution = false
      if (this.peek() === 'S' && this.text[this.at + 1] !== 't') {
        name = whole(this.substitution())
        last = lastComponent(name)
        isSubstitution = true
      } else if (this.eat('St')) {
        name = 'std'
        isSubstitution = true
      } else if (this.peek() === 'T') {
        name = whole(this.templateParameter())
      } else if (this.peek() === 'I') {
        if (name === '') throw new NotMangled()
        name += this.templateArgumentList()
        isTemplate = true
        if (this.peek() !== 'E') this.substitutions.push({ left: name, right: '' })
        continue
      } else {
        const part = this.unqualified(last)
        last = part
        name = name === '' ? part : `${name}::${part}`
      }
      isTemplate = false
      if (!isSubstitution && this.peek() !== 'E')
        this.substitutions.push({ left: this.keep(name), right: '' })
    }
    this.endsInTemplate = isTemplate
    return this.keep(name)
  }

  private localName(qualifiers: { text: string }): string {
    const scope = this.encoding()
    this.expect('E')
    if (this.eat('s')) {
      this.discriminator()
      return `${scope}::string literal`
    }
    if (this.eat('d')) {
      this.digits()
      this.expect('_')
    }
    const inner = this.name(qualifiers)
    const endsInTemplate = this.endsInTemplate
    this.discriminator()
    this.endsInTemplate = endsInTemplate
    return this.keep(`${scope}::${inner}`)
  }

  private discriminator(): void {
    if (this.eat('__')) {
      this.digits()
      this.expect('_')
    } else if (this.peek() === '_' && /\d/.test(this.text[this.at + 1] ?? '')) this.at += 2
  }

  private unqualified(enclosing: string): string {
    let name = this.unqualifiedPart(enclosing)
    while (this.eat('B')) name += `[abi:${this.sourceName()}]`
    return name
  }

  private unqualifiedPart(enclosing: string): string {
    const next = this.peek()
    if (next === 'L') this.at++
    if (/\d/.test(this.peek())) return this.sourceName()
    if (this.eat('Ul')) {
      const parameters: string[] = []
      while (!this.eat('E')) parameters.push(whole(this.type()))
      const list = parameters.join(', ')
      return `{lambda(${list === 'void' ? '' : list})#${this.ordinal()}}`
    }
    if (this.eat('Ut')) return `{unnamed type#${this.ordinal()}}`
    if (/[CD]/.test(next) && /[0-5]/.test(this.text[this.at + 1] ?? '')) {
      this.at += 2
      this.isSpecial = true
      return next === 'C' ? enclosing : `~${enclosing}`
    }
    const code = this.text.slice(this.at, this.at + 2)
    if (code === 'cv') {
      this.at += 2
      this.isSpecial = true
      return `operator ${whole(this.type())}`
    }
    const operator = operatorNames.get(code)
    if (operator === undefined) throw new NotMangled()
    this.at += 2
    return `operator${operator}`
  }

  /** '_' is the first, '0_' the second. */
  private ordinal(): number {
    const digits = this.digits()
    this.expect('_')
    return digits === '' ? 1 : Number(digits) + 2
  }

  private sourceName(): string {
    const length = Number(this.digits())
    if (length === 0 || this.at + length > this.text.length) throw new NotMangled()
    const name = this.text.slice(this.at, this.at + length)
    this.at += length
    return name.startsWith('_GLOBAL__N') ? '(anonymous namespace)' : name
  }

  private templateArgumentList(): string {
    this.expect('I')
    const list: TypeText[] = []
    while (!this.eat('E')) this.templateArgument(list)
    this.templateArguments = list
    const text = list
      .map(whole)
      .filter((part) => part !== '')
      .join(', ')
    return `<${text}${text.endsWith('>') ? ' >' : '>'}`
  }

  private templateArgument(list: TypeText[]): void {
    if (this.eat('J')) {
      const pack: TypeText[] = []
      while (!this.eat('E')) this.templateArgument(pack)
      list.push({ left: pack.map(whole).join(', '), right: '' })
    } else if (this.eat('X')) {
      throw new NotMangled()
    } else if (this.peek() === 'L') list.push({ left: this.literal(), right: '' })
    else list.push(this.type())
  }

  private literal(): string {
    this.expect('L')
    if (this.eat('_Z')) {
      const name = this.encoding()
      this.expect('E')
      return `&${name}`
    }
    const type = whole(this.type())
    const value = /^[\w.]*?(?=E)/.exec(this.text.slice(this.at))?.[0] ?? ''
    this.at += value.length
    this.expect('E')
    if (type === 'bool') return value === '0' ? 'false' : 'true'
    const number = value.replace(/^n/, '-')
    if (type === 'int') return number
    const suffix = {
      'unsigned int': 'u',
      long: 'l',
      'unsigned long': 'ul',
      'long long': 'll',
      'unsigned long long': 'ull'
    }[type]
    return suffix === undefined ? `(${type})${number}` : `${number}${suffix}`
  }

  private qualifiers(): string {
    let text = ''
    const found = { restrict: this.eat('r'), volatile: this.eat('V'), const: this.eat('K') }
    if (found.const) text += ' const'
    if (found.volatile) text += ' volatile'
    if (found.restrict) text += ' __restrict__'
    return text
  }

  private type(): TypeText {
    return this.nested(() => this.typeInner())
  }

  private typeInner(): TypeText {
    const next = this.peek()
    const builtin =
      builtinTypes.get(next) ?? builtinTypes.get(this.text.slice(this.at, this.at + 2))
    if (builtin !== undefined) {
      this.at += builtinTypes.has(next) ? 1 : 2
      return { left: builtin, right: '' }
    }
    if (next === 'S' && this.text[this.at + 1] !== 't') return this.substitutedType()
    const type = this.compoundType(next)
    this.keep(type.left + type.right)
    this.substitutions.push(type)
    return type
  }

  private substitutedType(): TypeText {
    const base = this.substitution()
    if (this.peek() !== 'I') return base
    const type = { left: this.keep(whole(base) + this.withOuterArguments()), right: '' }
    this.substitutions.push(type)
    return type
  }

  /** Template arguments of a type within a signature: T_ keeps meaning those of the function. */
  private withOuterArguments(): string {
    const outer = this.templateArguments
    const text = this.templateArgumentList()
    this.templateArguments = outer
    return text
  }

  private compoundType(next: string): TypeText {
    switch (next) {
      case 'P':
        return this.declarator('*')
      case 'R':
        return this.declarator('&')
      case 'O':
        return this.declarator('&&')
      case 'r':
      case 'V':
      case 'K': {
        const qualifiers = this.qualifiers()
        const type = this.type()
        return { left: type.left + qualifiers, right: type.right }
      }
      case 'F':
        return this.functionType()
      case 'A':
        return this.arrayType()
      case 'T': {
        const parameter = this.templateParameter()
        if (this.peek() !== 'I') return parameter
        this.substitutions.push(parameter)
        return { left: whole(parameter) + this.withOuterArguments(), right: '' }
      }
      case 'D':
        if (this.eat('Dp')) return this.type()
        throw new NotMangled()
    }
    const outer = this.templateArguments
    const endsInTemplate = this.endsInTemplate
    const isSpecial = this.isSpecial
    const name = this.name({ text: '' })
    this.templateArguments = outer
    this.endsInTemplate = endsInTemplate
    this.isSpecial = isSpecial
    return { left: name, right: '' }
  }

  private declarator(mark: string): TypeText {
    this.at++
    const type = this.type()
    // A reference to a reference collapses: && on & stays &.
    if (mark === '&&' && type.left.endsWith('&') && type.right === '') return type
    return { left: type.left + mark, right: type.right }
  }

  private functionType(): TypeText {
    this.expect('F')
    this.eat('Y')
    const result = whole(this.type())
    const parameters: string[] = []
    while (!this.eat('E')) parameters.push(whole(this.type()))
    const list = parameters.join(', ')
    return { left: `${result} (`, right: `)(${list === 'void' ? '' : list})` }
  }

  private arrayType(): TypeText {
    this.expect('A')
    const extent = this.digits()
    this.expect('_')
    const element = this.type()
    return { left: `${element.left} (`, right: `) [${extent}]${element.right}` }
  }

  private templateParameter(): TypeText {
    this.expect('T')
    const index = this.ordinal() - 1
    const argument = this.templateArguments[index]
    if (!argument) throw new NotMangled()
    return argument
  }

  private substitution(): TypeText {
    this.expect('S')
    const standard = standardSubstitutions.get(this.peek())
    if (standard !== undefined) {
      this.at++
      return { left: standard, right: '' }
    }
    const digits = /^[0-9A-Z]*/.exec(this.text.slice(this.at, this.at + 8))![0]
    this.at += digits.length
    this.expect('_')
    const found = this.substitutions[digits === '' ? 0 : parseInt(digits, 36) + 1]
    if (!found) throw new NotMangled()
    return found
  }

  private digits(): string {
    const start = this.at
    while (this.text[this.at]! >= '0' && this.text[this.at]! <= '9') this.at++
    return this.text.slice(start, this.at)
  }

  private peek(): string {
    return this.text[this.at] ?? ''
  }

  private eat(token: string): boolean {
    if (!this.text.startsWith(token, this.at)) return false
    this.at += token.length
    return true
  }

  private expect(token: string): void {
    if (!this.eat(token)) throw new NotMangled()
  }

  private nested<T>(read: () => T): T {
    if (++this.depth > deepest) throw new NotMangled()
    const result = read()
    this.depth--
    return result
  }

  /** Substitutions of substitutions can double a text per character: hostile names end here. */
  private keep(text: string): string {
    this.written += text.length
    if (this.written > longestText * 10 || text.length > longestText) throw new NotMangled()
    return text
  }
}

/** Function and array types without a declarator: 'void (int)', 'int [4]'. */
function whole(type: TypeText): string {
  if (type.right === '') return type.left
  if (type.left.endsWith(' (')) return type.left.slice(0, -1) + type.right.slice(1).trimStart()
  return type.left + type.right
}

/** The class name that a constructor repeats: 'a::b<int>' -> 'b'. */
function lastComponent(name: string): string {
  const bare = name.replace(/<.*$/, '')
  return bare.slice(bare.lastIndexOf('::') + (bare.includes('::') ? 2 : 1))
}
