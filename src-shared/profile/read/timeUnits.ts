/** Nanoseconds of one of a unit of time, by the names that profilers use; null for what is no time. */
export function nanosecondsOf(unit: string): number | null {
  return units.get(unit.toLowerCase()) ?? null
}

const units: ReadonlyMap<string, number> = new Map([
  ['nanoseconds', 1],
  ['nsec', 1],
  ['ns', 1],
  ['microseconds', 1e3],
  ['usec', 1e3],
  ['us', 1e3],
  ['milliseconds', 1e6],
  ['msec', 1e6],
  ['ms', 1e6],
  ['seconds', 1e9],
  ['sec', 1e9],
  ['s', 1e9]
])
