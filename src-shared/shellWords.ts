/** A command as it is typed, as words: quotes and backslashes as a POSIX shell takes them, and no shell. */
import { UserError } from './errors'

const operators = /[|&;<>()`$\n]/

/** @throws UserError for an open quote, or what only a shell does: pipes, variables, redirection */
export function shellWords(typed: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < typed.length; at++) {
    const letter = typed[at]!
    if (/\s/.test(letter) && letter !== '\n') {
      if (word !== undefined) words.push(word)
      word = undefined
      continue
    }
    if (letter === "'" || letter === '"') {
      const end = endOfQuote(typed, at)
      const inside = typed.slice(at + 1, end)
      if (letter === '"') refuseShell(inside.replaceAll(/\\./g, ''), /[`$]/)
      word = (word ?? '') + (letter === '"' ? inside.replaceAll(/\\(["\\`$])/g, '$1') : inside)
      at = end
      continue
    }
    if (letter === '\\' && at + 1 < typed.length) word = (word ?? '') + typed[++at]!
    else {
      refuseShell(letter, operators)
      word = (word ?? '') + letter
    }
  }
  if (word !== undefined) words.push(word)
  return words
}

function endOfQuote(typed: string, from: number): number {
  const quote = typed[from]!
  for (let at = from + 1; at < typed.length; at++) {
    if (quote === '"' && typed[at] === '\\') at++
    else if (typed[at] === quote) return at
  }
  throw new UserError('usage', `The quote ${quote} is not closed.`)
}

function refuseShell(text: string, what: RegExp): void {
  const found = what.exec(text)
  if (found)
    throw new UserError(
      'usage',
      `${found[0] === '\n' ? 'A second line' : `"${found[0]}"`} is for a shell: quote it, or capture sh -c '...'.`
    )
}
