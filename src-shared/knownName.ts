import { UserError } from './errors'

/**
 * The known name that is meant, in whatever case. Throws a UserError that offers the nearest: 'X is no WHAT. Did you mean Y?
 * ALL: ...'.
 * @param what 'scale layout'
 * @param all how the list of what is known begins: 'Layouts'
 * @param listed what the list says, where naming every one would be too long
 */
export function knownName<T extends string>(
  wanted: string,
  known: readonly T[],
  what: string,
  all: string,
  listed: readonly string[] = known
): T {
  const lower = wanted.toLowerCase()
  const found =
    known.find((name) => name === wanted) ?? known.find((name) => name.toLowerCase() === lower)
  if (found !== undefined) return found
  throw new UserError(
    'usage',
    `"${wanted}" is no ${what}.${didYouMean(wanted, known)} ${all}: ${listed.join(', ')}.`
  )
}

/** ' Did you mean Y?', or nothing where no name is near. */
export function didYouMean(wanted: string, known: Iterable<string>): string {
  const near = nearestName(wanted, known)
  return near === undefined ? '' : ` Did you mean ${near}?`
}

/** More changes than this are another word. */
const mostChanges = 3
/** Looking through more names than this would take longer than a person waits for an error. */
const mostNames = 50_000

export function nearestName(wanted: string, known: Iterable<string>): string | undefined {
  const lower = wanted.toLowerCase()
  let nearest: string | undefined
  let fewest = Math.min(mostChanges, Math.ceil(wanted.length / 2) - 1) + 1
  let seen = 0
  for (const name of known) {
    if (++seen > mostNames) break
    if (Math.abs(name.length - wanted.length) >= fewest) continue
    const changes = changesBetween(lower, name.toLowerCase())
    if (changes >= fewest) continue
    fewest = changes
    nearest = name
  }
  return nearest
}

/** Letters put in, left out, changed or swapped with the next: the optimal string alignment distance. */
function changesBetween(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, changed)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) row[j] = Math.min(row[j]!, before[j - 2]! + 1)
    }
    before = last
    last = row
  }
  return last[b.length]!
}
