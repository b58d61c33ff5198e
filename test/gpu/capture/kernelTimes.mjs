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
  for (const { kernel, totalNs, count } of rows) if (count > 0) add(times, kernel, totalNs, count)
  return times
}

/**
 * Names as ours are: CUPTI's own, mangled, which Proton writes too. torch.profiler demangles them, with the type that a template
 * returns, which a name of the language's own demangler has and ours has not.
 * @param {Times} times @param {any[]} rows of `blockscope launches --by kernel --json`
 */
export function renamed(times, rows) {
  const plain = (/** @type {string} */ name) => name.replace(/^void /, '').replaceAll(' ', '')
  /** @type {Map<string, string>} */
  const ours = new Map(rows.map(({ kernel, name }) => [plain(name), kernel]))
  /** @type {Times} */
  const found = new Map()
  for (const [name, { ns, count }] of times) add(found, ours.get(plain(name)) ?? name, ns, count)
  return found
}

export const median = (/** @type {number[]} */ list) =>
  list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? NaN

/** Of the GPU's timer, by which kernels begin and end: no two profilers of two runs can agree better. */
const tickNs = 32

/**
 * Mean ns of a launch by name, in rounds of two profilers in turn: the median of the rounds' ratios, so that a clock that changes from
 * round to round changes both. Names that take less than a hundredth of all time are too short to be compared.
 * @param {Times[]} ours @param {Times[]} theirs @param {number} [agreement] a share of their time
 */
export function compareTimes(ours, theirs, agreement = 0.01) {
  const total = [...(ours[0]?.values() ?? [])].reduce((sum, { ns }) => sum + ns, 0)
  const names = [...(ours[0] ?? [])].filter(([, { ns }]) => ns >= total / 100).map(([name]) => name)
  const meansOf = (/** @type {Times[]} */ rounds, /** @type {string} */ name) =>
    rounds.map((times) => {
      const found = times.get(name)
      return found ? found.ns / found.count : NaN
    })
  const countsOf = (/** @type {Times[]} */ rounds, /** @type {string} */ name) =>
    String(rounds.map((times) => times.get(name)?.count ?? 0))
  return names.map((name) => {
    const [our, their] = [meansOf(ours, name), meansOf(theirs, name)]
    const off = median(our.map((ns, round) => Math.abs(ns - their[round])))
    const sameCount = countsOf(ours, name) === countsOf(theirs, name)
    return {
      name,
      our: median(our),
      their: median(their),
      ratio: median(our.map((ns, round) => ns / their[round])),
      sameCount,
      agrees: sameCount && off <= Math.max(agreement * median(their), tickNs)
    }
  })
}
