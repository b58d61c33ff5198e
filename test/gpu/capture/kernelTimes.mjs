// Kernel times by name out of what profilers write, and whether two of them agree.

/** @typedef {Map<string, { ns: number, count: number }>} Times */

/** @param {Times} times @param {string} name @param {number} ns @param {number} count */
function add(times, name, ns, count) {
  const found = times.get(name) ?? { ns: 0, count: 0 }
  times.set(name, { ns: found.ns + ns, count: found.count + count })
}

/** torch.profiler's trace: complete events of the category kernel, whose times are microseconds. */
export function timesOfTrace(/** @type {{ traceEvents: any[] }} */ { traceEvents }) {
  /** @type {Times} */
  const times = new Map()
  for (const { ph, cat, name, dur } of traceEvents)
    if (ph === 'X' && cat === 'kernel') add(times, name, dur * 1000, 1)
  return times
}

/** Proton's hatchet: leaves with a time of a device. */
export function timesOfHatchet(/** @type {any[]} */ [root]) {
  /** @type {Times} */
  const times = new Map()
  const walk = (/** @type {any} */ { frame, metrics, children }) => {
    if (metrics.device_id !== undefined && metrics.count > 0)
      add(times, frame.name, metrics['time (ns)'], metrics.count)
    children.forEach(walk)
  }
  walk(root)
  return times
}

/** `blockscope launches --by kernel --json`. */
export function timesOfLaunches(/** @type {any[]} */ rows) {
  /** @type {Times} */
  const times = new Map()
  for (const { kernel, totalNs, count } of rows) add(times, kernel, totalNs, count)
  return times
}

export const median = (/** @type {number[]} */ list) =>
  list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? NaN

/**
 * Mean ns of a launch by name, in rounds of two profilers in turn: the ratio of their medians.
 * Names that take less than a hundredth of all time are too short to be compared.
 * @param {Times[]} ours @param {Times[]} theirs
 */
export function compareTimes(ours, theirs) {
  const total = [...(ours[0]?.values() ?? [])].reduce((sum, { ns }) => sum + ns, 0)
  const names = [...(ours[0] ?? [])].filter(([, { ns }]) => ns >= total / 100).map(([name]) => name)
  const meanOf = (/** @type {Times[]} */ rounds, /** @type {string} */ name) =>
    median(
      rounds.map((times) => {
        const found = times.get(name)
        return found ? found.ns / found.count : NaN
      })
    )
  return names.map((name) => {
    const [our, their] = [meanOf(ours, name), meanOf(theirs, name)]
    const counts = [ours, theirs].map((rounds) =>
      rounds.map((times) => times.get(name)?.count ?? 0)
    )
    return {
      name,
      our,
      their,
      ratio: our / their,
      sameCount: String(counts[0]) === String(counts[1])
    }
  })
}
