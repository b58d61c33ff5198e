/** Names and order of several profiles that are opened together: ranks of one training, phases of one session, files. */
import { phaseOfFile } from './joinPhases'
import type { TraceRank } from './reader'

export interface Part {
  fileName: string
  /** As the file says it; null where it does not. */
  rank: TraceRank | null
  /** Whether it is a trace, which may be of a rank. */
  isTrace: boolean
}

export interface NamedParts {
  /** Places in the list given, in the order to show them. */
  order: number[]
  /** By place in the list given. */
  names: string[]
  /** Sentences on how they were told apart, where it is not plain. */
  notes: string[]
}

export function nameParts(parts: readonly Part[]): NamedParts {
  const phases = parts.map(({ fileName }) => phaseOfFile(fileName))
  if (phases.every((phase) => phase !== null)) return inOrder(phases, [])
  if (!parts.every(({ isTrace }) => isTrace)) return asGiven(parts)
  const said = parts.map(({ rank }) => rank?.rank ?? null)
  if (said.every((rank) => rank === null)) return byFileNames(parts)
  const count = new Map<number, number>()
  for (const rank of said) if (rank !== null) count.set(rank, (count.get(rank) ?? 0) + 1)
  const names = parts.map(({ fileName }, at) => {
    const rank = said[at]!
    if (rank === null) return fileName
    return count.get(rank) === 1 ? `rank ${rank}` : `rank ${rank} (${fileName})`
  })
  return inOrder(names, rankNotes(parts, count))
}

function rankNotes(parts: readonly Part[], count: ReadonlyMap<number, number>): string[] {
  const notes: string[] = []
  const twice = [...count].filter(([, files]) => files > 1).map(([rank]) => rank)
  if (twice.length > 0)
    notes.push(`Several files are of rank ${twice.join(', ')}: their names are given as well.`)
  const without = parts.filter(({ rank }) => rank === null).map(({ fileName }) => fileName)
  if (without.length > 0)
    notes.push(
      `No distributedInfo says which rank these are of: ${without.join(', ')}; they stand under their file names.`
    )
  const sizes = new Set(parts.flatMap(({ rank }) => rank?.worldSize ?? []))
  if (sizes.size > 1)
    notes.push(`The files are of trainings of different sizes: ${[...sizes].join(', ')} ranks.`)
  const [size] = sizes
  if (sizes.size === 1 && count.size < size!)
    notes.push(`${count.size} of ${size} ranks are given.`)
  return notes
}

/** 'trace_rank3.json.gz', 'rank-3/trace.json': where no file says its rank, all names may. */
function byFileNames(parts: readonly Part[]): NamedParts {
  const numbers = parts.map(
    ({ fileName }) => /rank[-_. ]?(\d+)/i.exec(fileName)?.[1]?.replace(/^0+(?=\d)/, '') ?? null
  )
  if (numbers.some((number) => number === null) || new Set(numbers).size < numbers.length)
    return asGiven(parts)
  return inOrder(
    numbers.map((number) => `rank ${number}`),
    ['Ranks are taken from the names of the files, which have no distributedInfo.']
  )
}

function asGiven(parts: readonly Part[]): NamedParts {
  const names = parts.map(({ fileName }) => fileName)
  return { order: parts.map((_, at) => at), names, notes: [] }
}

/** 'rank 10' after 'rank 2', where a shell lists it before. */
function inOrder(names: readonly string[], notes: string[]): NamedParts {
  const order = names.map((_, at) => at)
  order.sort((a, b) => names[a]!.localeCompare(names[b]!, 'en', { numeric: true }))
  return { order, names: [...names], notes }
}
