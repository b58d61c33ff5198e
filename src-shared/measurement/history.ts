/** One point, the same kernel at the same shape on the same device, over the runs that measured it. */
import type { Measurement, Run, Step } from '../contract/run'
import type { HistoryEntry, HistoryPoint } from '../contract/history'
import { shapeKey } from '../contract/groups'
import { digits } from '../units'
import { methodOn, nameOfMethod } from './presets'
import { median } from './statistics'
import { runName, optionsOf, shapeOf } from './runName'

/** 'cold' or 'hot', whatever keeps it so. */
const modeOf = ({ measurement }: Step): string => measurement!.cacheMode.split(':')[0]!

const pointOf = (run: Run, step: Step): HistoryPoint => ({
  device: run.device?.name ?? '',
  format: step.format,
  kernel: step.kernel,
  m: step.m,
  n: step.n,
  k: step.k,
  ...(step.groups && { groups: step.groups }),
  mode: modeOf(step)
})

const keyOf = ({ device, format, kernel, mode, ...shape }: HistoryPoint): string =>
  JSON.stringify([device, format, kernel, shapeKey(shape), mode])

/** Every point that was measured, those of the most runs first. */
export function historyPoints(runs: readonly Run[]): { point: HistoryPoint; runs: number }[] {
  const found = new Map<string, { point: HistoryPoint; runs: Set<string> }>()
  for (const run of runs)
    for (const step of run.steps) {
      if (!step.measurement) continue
      const point = pointOf(run, step)
      const key = keyOf(point)
      const one = found.get(key) ?? { point, runs: new Set() }
      found.set(key, one)
      one.runs.add(run.id)
    }
  return [...found.values()]
    .map(({ point, runs: ids }) => ({ point, runs: ids.size }))
    .sort((a, b) => b.runs - a.runs)
}

/** A change needs disjoint quartiles and more than this. */
export const leastChange = 0.01

/** Rates of the point in each run, the oldest first. A noisy run has no verdict and is nothing to compare with; nor are two that are timed in ways that differ. */
export function historyOf(runs: readonly Run[], point: HistoryPoint): HistoryEntry[] {
  const wanted = keyOf(point)
  const sorted = [...runs].sort((a, b) => a.createdAt.localeCompare(b.createdAt))
  let before: { entry: HistoryEntry; way: string } | undefined
  return sorted.flatMap((run) => {
    const step = run.steps.find((one) => one.measurement && keyOf(pointOf(run, one)) === wanted)
    const measured = step?.measurement
    if (!step || !measured) return []
    // FLOP per ns is GFLOP/s.
    const rate = (ns: number) => measured.flops / ns / 1e3
    const { timeNs } = measured
    const entry: HistoryEntry = {
      runId: run.id,
      title: runName({
        ...run,
        formats: run.spec.formats,
        shape: shapeOf(run),
        options: optionsOf(run.spec)
      }),
      provider: step.provider,
      createdAt: run.createdAt,
      sourceHash: step.sourceHash,
      driver: String(run.device?.properties['driverVersion'] ?? ''),
      median: rate(timeNs.median),
      q1: rate(timeNs.q3),
      q3: rate(timeNs.q1),
      least: rate(timeNs.max),
      most: rate(timeNs.min),
      samples: timeNs.samples,
      meanMHz: measured.meanMHz,
      badges: measured.badges,
      change: 0,
      verdict: 'first'
    }
    const way = wayOf(run, measured)
    if (measured.badges.includes('noisy')) entry.verdict = 'noisy'
    else if (before?.way === way) Object.assign(entry, changeSince(before.entry, entry))
    if (entry.verdict !== 'noisy') before = { entry, way }
    return [entry]
  })
}

/**
 * How a launch was timed, as far as its time tells: short ones take some 2 us longer alone than among others (bs-1 to bs-2), and
 * among others up to 0.4 us longer since all are timed in one state (bs-3). Of long ones both are nothing.
 */
const wayOf = ({ device }: Run, { badges, method }: Measurement): string =>
  badges.includes('grouped')
    ? `grouped ${methodOn(device?.kind === 'cpu', nameOfMethod(method))}`
    : 'alone'

function changeSince(
  before: HistoryEntry,
  now: HistoryEntry
): Pick<HistoryEntry, 'change' | 'verdict'> {
  const change = now.median / before.median - 1
  const apart = now.q1 > before.q3 || now.q3 < before.q1
  if (!apart || Math.abs(change) <= leastChange) return { change, verdict: 'same' }
  return { change, verdict: change > 0 ? 'faster' : 'slower' }
}

/** The history over all runs, or over those of one label: what changed is then told of these alone. */
export function labelledHistory(
  runs: readonly Run[],
  point: HistoryPoint | undefined,
  label: string
): { labels: string[]; entries: HistoryEntry[] } {
  if (!point) return { labels: [], entries: [] }
  const measured = new Set(historyOf(runs, point).map(({ runId }) => runId))
  const labels = runs.flatMap(({ id, label: one }) => (measured.has(id) && one ? [one] : []))
  const chosen = runs.filter((run) => label === '' || run.label === label)
  return { labels: [...new Set(labels)].sort(), entries: historyOf(chosen, point) }
}

/** Runs one after the other between two changes, by their places among the entries, and the median of their medians. */
export interface HistoryLevel {
  from: number
  to: number
  median: number
}

/** A noisy run belongs to none and ends none. */
export function levelsOf(entries: readonly HistoryEntry[]): HistoryLevel[] {
  const levels: { places: number[] }[] = []
  for (const [place, { verdict }] of entries.entries()) {
    if (verdict === 'noisy') continue
    if (verdict !== 'same' || levels.length === 0) levels.push({ places: [] })
    levels.at(-1)!.places.push(place)
  }
  return levels.map(({ places }) => ({
    from: places[0]!,
    to: places.at(-1)!,
    median: median(places.map((place) => entries[place]!.median))
  }))
}

/** A mean clock moves a little with every run: by more than this share it is another clock. */
const leastClockChange = 0.02

/**
 * Where the device was another than in the run before, which may be why a rate changed: 'driver 580.95 → 580.159',
 * 'clock 1.64 → 1.75 GHz'.
 */
export function deviceChanges(entries: readonly HistoryEntry[]): { place: number; text: string }[] {
  return entries.flatMap(({ driver, meanMHz }, place) => {
    const before = entries[place - 1]
    if (!before) return []
    const hasDriver = before.driver && driver && before.driver !== driver
    const ratio = meanMHz / before.meanMHz
    const hasClock =
      meanMHz > 0 && before.meanMHz > 0 && Math.abs(Math.log(ratio)) > Math.log1p(leastClockChange)
    const gigahertz = (mhz: number) => digits(mhz / 1000)
    const words = [
      ...(hasDriver ? [`driver ${before.driver} → ${driver}`] : []),
      ...(hasClock ? [`clock ${gigahertz(before.meanMHz)} → ${gigahertz(meanMHz)} GHz`] : [])
    ]
    return words.length > 0 ? [{ place, text: words.join(', ') }] : []
  })
}
