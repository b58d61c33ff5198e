/**
 * A demangled C++ name taken apart: its scopes and their template arguments. Knows GNU's spelling ('(anonymous
 * namespace)', '{lambda(int)#1}') and that of NVIDIA's tools ('<unnamed>', '[lambda(int) (instance 1)]', '(int)128').
 * Names that a tool cut short end in open brackets: what is there is used.
 */
export interface NamePart {
  name: string
  /** Template arguments as written; null where there are none. */
  args: string[] | null
  isLambda: boolean
}

const opening = '<([{'
const closing = '>)]}'
const operatorSymbol =
  /^operator\s*(?:\(\)|\[\]|->\*?|<=>|<<=?|>>=?|[<>=!]=|[-+*/%^&|~!=<>,]=?|&&|\|\|)/
/** What may follow a whole name after a space: it starts no other name. */
const afterName = /^(?:const|volatile|noexcept|&|\[clone|\[with)/

/** The scopes of a function's or type's name, outermost first; its return type and parameters are left out. */
export function namePartsOf(text: string): NamePart[] {
  let parts: NamePart[] = []
  let name = ''
  let args: string[] | null = null
  const endPart = () => {
    if (name !== '' || args) parts.push({ name, args, isLambda: isLambda(name) })
    name = ''
    args = null
  }
  let at = 0
  while (at < text.length) {
    const character = text[at]!
    if (name === '' && text.startsWith('operator', at)) {
      const symbol = operatorSymbol.exec(text.slice(at))
      if (symbol) {
        name = symbol[0].replace(/\s/, '')
        at += symbol[0].length
        continue
      }
    }
    if (text.startsWith('::', at)) {
      endPart()
      at += 2
    } else if (opening.includes(character)) {
      const end = endOfBracket(text, at)
      if (name === '' && args === null) name = text.slice(at, end)
      else if (character === '<') args = splitArguments(text.slice(at + 1, end - 1))
      at = end
    } else if (character === ' ') {
      const rest = text.slice(at + 1)
      if (name === 'operator') name += ' '
      else if (rest.startsWith('const::')) at += 'const'.length
      else if (afterName.test(rest)) break
      else if (name !== '' || args) {
        // What came so far was the return type.
        parts = []
        name = ''
        args = null
      }
      at++
    } else {
      name += character
      at++
    }
  }
  endPart()
  return parts
}

/** Template arguments: split at the commas between them, trimmed. */
export function splitArguments(text: string): string[] {
  const found: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (opening.includes(text[at]!)) at = endOfBracket(text, at) - 1
    else if (text[at] === ',') {
      found.push(text.slice(start, at).trim())
      start = at + 1
    }
  }
  const last = text.slice(start).trim()
  return last === '' ? found : [...found, last]
}

/** The arguments of the first template of that name anywhere within a name. */
export function argumentsOf(text: string, template: RegExp): string[] | null {
  const found = template.exec(text)
  if (!found) return null
  const at = found.index + found[0].length
  return text[at] === '<' ? splitArguments(text.slice(at + 1, endOfBracket(text, at) - 1)) : null
}

/** The function or type that a name is of: for a lambda the function around it. */
export function entityOf(parts: readonly NamePart[]): NamePart | undefined {
  for (let at = parts.length - 1; at >= 0; at--) {
    const part = parts[at]!
    if (!part.isLambda && !part.name.startsWith('operator()')) return part
  }
  return undefined
}

/** Just behind the bracket that closes the one at `start`; the text's end where none does. */
function endOfBracket(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]!
    if (opening.includes(character)) depth++
    else if (closing.includes(character) && text[at - 1] !== '-' && --depth === 0) return at + 1
  }
  return text.length
}

function isLambda(name: string): boolean {
  return /^(?:\{|\[|'?lambda)/.test(name)
}
