/** Names and order of several profiles that are opened together: ranks of one training, parts of one session, files. */
import type { TraceRank } from './reader'

export interface Part {
  fileName: string
  /** As the file says it; none where it does not. */
  rank?: TraceRank | null
}

export interface NamedParts {
  /** Places in the list given, in the order to show them. */
  order: number[]
  /** By place in the list given. */
  names: string[]
  /** Sentences on how they were told apart, where it is not plain. */
  notes: string[]
  /** Whether they are parts of one thing, and not only files that were named together. */
  belongTogether: boolean
}

export function nameParts(parts: readonly Part[]): NamedParts {
  const phases = parts.map(({ fileName }) => phaseOfFile(fileName))
  if (phases.every((phase) => phase !== null)) return inOrder(phases, [])
  const said = parts.map(({ rank }) => rank?.rank ?? null)
  if (said.every((rank) => rank === null)) return byFileNames(parts)
  const count = new Map<number, number>()
  for (const rank of said) if (rank !== null) count.set(rank, (count.get(rank) ?? 0) + 1)
  const names = parts.map(({ fileName }, at) => {
    const rank = said[at]!
    if (rank === null) return fileName
    return count.get(rank) === 1 ? `rank ${rank}` : `rank ${rank} (${fileName})`
  })
  // Two of one rank may as well be its trace before and after a change.
  const areAllTold = count.size === parts.length
  return { ...inOrder(names, rankNotes(parts, count)), belongTogether: areAllTold }
}

/** 'run.part_3.hatchet' -> 'phase 3'; null for other names. */
function phaseOfFile(fileName: string): string | null {
  const part = /\.part_(\d+)\.[^./]+$/.exec(fileName)
  return part ? `phase ${Number(part[1])}` : null
}

function rankNotes(parts: readonly Part[], count: ReadonlyMap<number, number>): string[] {
  const notes: string[] = []
  const twice = [...count].filter(([, files]) => files > 1).map(([rank]) => rank)
  if (twice.length > 0)
    notes.push(`Several files are of rank ${twice.join(', ')}: their names are given as well.`)
  const without = parts.filter(({ rank }) => !rank).map(({ fileName }) => fileName)
  if (without.length > 0)
    notes.push(
      `Nothing in ${without.join(', ')} says which rank it is of: what it holds stands under the name of the file.`
    )
  const sizes = new Set(parts.flatMap(({ rank }) => rank?.worldSize ?? []))
  if (sizes.size > 1)
    notes.push(`The files are of trainings of different sizes: ${[...sizes].join(', ')} ranks.`)
  const [size] = sizes
  if (sizes.size === 1) {
    const missing = Array.from({ length: size! }, (_, rank) => rank).filter(
      (rank) => !count.has(rank)
    )
    if (missing.length > 0)
      notes.push(`${count.size} of ${size} ranks are given; ${missingText(missing)}`)
  }
  return notes
}

/** 'rank 3 is missing.', 'ranks 1, 3 to 9 are missing.' */
function missingText(ranks: readonly number[]): string {
  const spans: [number, number][] = []
  for (const rank of ranks) {
    const last = spans.at(-1)
    if (last && last[1] === rank - 1) last[1] = rank
    else spans.push([rank, rank])
  }
  const texts = spans.map(([from, to]) =>
    from === to ? String(from) : `${from}${to === from + 1 ? ', ' : ' to '}${to}`
  )
  const shown = texts.length > 12 ? [...texts.slice(0, 12), '...'] : texts
  return ranks.length === 1
    ? `rank ${texts[0]} is missing.`
    : `ranks ${shown.join(', ')} are missing.`
}

/** 'trace_rank3.json.gz', 'rank-3.sqlite': where no file says its rank, all names may. */
function byFileNames(parts: readonly Part[]): NamedParts {
  const numbers = parts.map(
    ({ fileName }) => /rank[-_. ]?(\d+)/i.exec(fileName)?.[1]?.replace(/^0+(?=\d)/, '') ?? null
  )
  if (numbers.some((number) => number === null) || new Set(numbers).size < numbers.length)
    return asGiven(parts)
  return inOrder(
    numbers.map((number) => `rank ${number}`),
    ['Ranks are taken from the names of the files, which do not say them inside.']
  )
}

function asGiven(parts: readonly Part[]): NamedParts {
  const names = parts.map(({ fileName }) => fileName)
  return { order: parts.map((_, at) => at), names, notes: [], belongTogether: false }
}

/** 'rank 10' after 'rank 2', where a shell lists it before. */
function inOrder(names: readonly string[], notes: string[]): NamedParts {
  const order = names.map((_, at) => at)
  order.sort((a, b) => names[a]!.localeCompare(names[b]!, 'en', { numeric: true }))
  return { order, names: [...names], notes, belongTogether: true }
}
