/** Ranges of a thread that may overlap without one lying in the other, as NVTX and rocTX start/end ranges do. */

export interface NamedRange {
  name: string
  start: number | bigint
  end: number | bigint
  /** Opened and closed by a handle, so that it may end at any time; push/pop ranges nest by themselves. */
  isFree: boolean
}

/**
 * Tells the free ranges that lie within what surrounds them, and so have a place among the calls of their thread, from
 * those that cross another range and have none.
 */
export function splitCrossing<T extends NamedRange>(
  ranges: readonly T[]
): { nested: T[]; crossing: T[] } {
  const order = [...ranges].sort((a, b) =>
    a.start !== b.start ? (a.start < b.start ? -1 : 1) : a.end > b.end ? -1 : a.end < b.end ? 1 : 0
  )
  const crossing = new Set<T>()
  const open: T[] = []
  for (const range of order) {
    while (open.length > 0 && open[open.length - 1]!.end <= range.start) open.pop()
    const crosses = () => open.length > 0 && open[open.length - 1]!.end < range.end
    if (range.isFree && crosses()) {
      crossing.add(range)
      continue
    }
    while (crosses() && open[open.length - 1]!.isFree) crossing.add(open.pop()!)
    open.push(range)
  }
  return { nested: ranges.filter((range) => !crossing.has(range)), crossing: [...crossing] }
}
