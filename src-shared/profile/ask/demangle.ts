/**
 * Itanium C++ names to text, as GNU c++filt writes them less the return types of templates: right, or raw. The grammar
 * is in demangler/.
 */
import { Parser } from './demangler/parser'
import { Printer, TooLong } from './demangler/printer'
import { NotMangled } from './demangler/scanner'

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

function demangleNew(name: string): string {
  if (!name.startsWith('_Z') || name.length > longestName) return name
  // Tools append their own: '_Z4gemmv [M=1]', '_Z4gemmv.cold', '_Z4gemmv(int)'.
  const mangled = /^_Z[\w$]*/.exec(name)![0]
  try {
    const out = new Printer()
    out.print(Parser.parse(mangled))
    return out.text + name.slice(mangled.length)
  } catch (error) {
    if (error instanceof NotMangled || error instanceof TooLong || error instanceof RangeError)
      return name
    throw error
  }
}
