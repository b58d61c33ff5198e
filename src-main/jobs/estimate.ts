/**
 * How long a job takes: the one estimator, for the plan before it and the progress in it. A job is units of work (a
 * validation, a measurement, a look for drift); what a unit takes follows from rates that earlier jobs left on this
 * machine, and from plain guesses where there are none. Times in seconds.
 */
import { shapeKey } from '@shared/contract/groups'
import type { JobSpec } from '@shared/contract/jobs'
import type { Step } from '@shared/contract/run'
import { presets, sustainedNs } from '@shared/measurement/presets'
import type { DeviceMemory, Rate } from '../store/machineMemory'
import { measuresRoofs } from './roofs'

/** What is looked at of a planned step. */
interface Planned extends Pick<Step, 'index' | 'format' | 'level' | 'm' | 'n' | 'k' | 'groups'> {
  kernel: { id: string }
}

/** Seconds per unit of work where no job has been yet, on a CPU and on a GPU. */
const guesses = {
  /** Per element of A and B: operands made, quantised and laid out. */
  open: { cpu: 6e-8, gpu: 2e-9 },
  /** Per FLOP of the float64 reference. */
  reference: { cpu: 5e-11, gpu: 1e-13 },
  /** Per FLOP of a kernel. */
  launch: { cpu: 5e-12, gpu: 3e-15 },
  /** Per element of C: comparison, scale checks. */
  check: { cpu: 2e-7, gpu: 1e-8 },
  /** Per second that a measurement has to take at least: until its samples are steady. */
  measure: { cpu: 2, gpu: 1.5 }
}
export type RateName = keyof typeof guesses

/** A guess may be off by e^0.7 either way; the start of an engine and writing take this long on top. */
const spreadOfGuess = 0.7
const spreadAtLeast = 0.2
const constantSeconds = 0.3
/** What measuring a device's roofs takes. */
const roofSeconds = 1.5
/** Later jobs count this much, so that a machine that changed is learnt anew. */
const weightOfNew = 0.25

export const keyOfRate = (name: RateName, of = ''): string => (of ? `${name} ${of}` : name)

/** The rate with what one more job showed. */
export function learnt(before: Rate | undefined, secondsPerUnit: number): Rate {
  const seen = Math.log(secondsPerUnit)
  if (!before) return { mean: seen, spread: 0.4, count: 1 }
  const weight = Math.max(weightOfNew, 1 / (before.count + 1))
  const off = seen - before.mean
  const variance = (1 - weight) * (before.spread ** 2 + weight * off ** 2)
  return { mean: before.mean + weight * off, spread: Math.sqrt(variance), count: before.count + 1 }
}

export interface Estimate {
  /** Seconds of each unit, in the order of work. */
  units: Map<string, number>
  seconds: number
  /** Nine of ten jobs should end within it. */
  range: [number, number]
}

export const unitOf = {
  validation: (step: number) => `validate ${step}`,
  measurement: (step: number, round: number) => `measure ${step} ${round}`,
  drift: (round: number) => `drift ${round}`
}

/** What one measurement takes at least, by its preset and one operation's time. */
export function leastMeasurement(
  spec: JobSpec & { kind: 'sweep' },
  once: number,
  round: number
): number {
  const preset = presets[spec.preset]
  const warmUp = (round === 0 ? preset.firstWarmupNs : preset.laterWarmupNs) / 1e9
  const toWarm = spec.warmup ? spec.warmup * once : Math.max(warmUp, 3 * once)
  const samples = spec.reps
    ? spec.reps * once
    : Math.max(preset.minTimeNs / 1e9, preset.minSamples * once)
  const sustained = spec.sustained && round === 0 ? sustainedNs / 1e9 : 0
  return toWarm + samples + sustained
}

export const roundsOf = (spec: JobSpec & { kind: 'sweep' }): number =>
  spec.rounds ?? (spec.reps ? 1 : presets[spec.preset].rounds)

export function estimateJob(
  spec: JobSpec,
  steps: readonly Planned[],
  isCpu: boolean,
  { rates, roofs }: DeviceMemory
): Estimate {
  const units = new Map<string, number>()
  let uncertain = 0
  // The rate of exactly this; of its kind; a guess.
  const seconds = (name: RateName, amount: number, of: string): number => {
    // How long sampling goes on is its preset's own; another's tells nothing.
    const rate =
      rates[keyOfRate(name, of)] ?? (name === 'measure' ? undefined : rates[keyOfRate(name)])
    const fixed = name === 'measure' && of.startsWith('fixed')
    const guess = fixed ? 1.2 : guesses[name][isCpu ? 'cpu' : 'gpu']
    const took = amount * (rate ? Math.exp(rate.mean) : guess)
    uncertain += took * (rate ? Math.max(spreadAtLeast, rate.spread) : spreadOfGuess)
    return took
  }
  const openOf = ({ m, n, k }: Planned) => seconds('open', m * k + n * k, spec.distribution)
  const problems = new Set(steps.map(problemOf))
  const opened = new Set<string>()
  const able = steps.filter(({ level }) => level !== 'unavailable')
  for (const step of able) {
    const { m, n, k } = step
    const isNew = !opened.has(problemOf(step))
    opened.add(problemOf(step))
    const make = isNew ? openOf(step) + seconds('reference', 2 * m * n * k, '') : 0
    const run = 3 * seconds('launch', 2 * m * n * k, kernelOf(step))
    units.set(unitOf.validation(step.index), make + run + seconds('check', m * n, ''))
  }
  if (spec.kind === 'sweep') {
    for (let round = 0; round < roundsOf(spec); round++) {
      const visited = new Set<string>()
      for (const step of able) {
        const once = seconds('launch', 2 * step.m * step.n * step.k, kernelOf(step))
        const least = leastMeasurement(spec, once, round)
        // The first round times what has just been validated; each later one makes the operands of every problem again.
        const isOpen = round === 0 || problems.size === 1 || visited.has(problemOf(step))
        visited.add(problemOf(step))
        const again = isOpen ? 0 : openOf(step)
        const took = seconds('measure', least, measureOf(spec))
        units.set(unitOf.measurement(step.index, round), again + took)
      }
      const last = able.at(-1)
      // The round's first point is measured once more.
      if (last && able.length > 1) {
        const again = problems.size > 1 ? openOf(last) : 0
        units.set(unitOf.drift(round), again + units.get(unitOf.measurement(last.index, round))!)
      }
    }
  }
  const first = spec.kind === 'sweep' && measuresRoofs(isCpu, roofs, steps) ? roofSeconds : 0
  const total = constantSeconds + first + [...units.values()].reduce((sum, each) => sum + each, 0)
  const factor = Math.exp(1.3 * (uncertain > 0 ? Math.min(1, uncertain / total) : spreadAtLeast))
  return { units, seconds: total, range: [total / factor, total * factor] }
}

export const kernelOf = ({ kernel, format }: Pick<Planned, 'kernel' | 'format'>): string =>
  `${kernel.id} ${format}`
export const measureOf = (spec: JobSpec & { kind: 'sweep' }): string =>
  `${spec.reps ? 'fixed' : spec.preset} ${spec.mode}`
export const problemOf = (step: Planned): string => `${step.format} ${shapeKey(step)}`

/**
 * How much of a job is done, by time: units that were done tell how the others will. Never falls, and is never all before
 * the end.
 */
export class Meter {
  private readonly left: Map<string, number>
  private doneExpected = 0
  private doneTaken = 0
  private current: { unit: string; expected: number; since: number; inside: number } | undefined
  private shown = 0

  constructor(
    units: ReadonlyMap<string, number>,
    private readonly now: () => number = () => performance.now() / 1000
  ) {
    this.left = new Map(units)
  }

  begin(unit: string): void {
    const expected = this.left.get(unit) ?? 0
    this.left.delete(unit)
    this.current = { unit, expected, since: this.now(), inside: 0 }
  }

  /** Share of the unit at work that is done. */
  inside(fraction: number): void {
    if (this.current) this.current.inside = Math.min(1, Math.max(this.current.inside, fraction))
  }

  end(): void {
    if (!this.current) return
    this.doneExpected += this.current.expected
    this.doneTaken += this.now() - this.current.since
    this.current = undefined
  }

  /** It will not be done: a kernel that failed is not timed. */
  drop(unit: string): void {
    this.left.delete(unit)
  }

  state(): { fraction: number; secondsLeft: number } {
    const { current } = this
    const rest = current ? current.expected * (1 - current.inside) : 0
    const ahead = [...this.left.values()].reduce((sum, each) => sum + each, 0) + rest
    const taken = this.doneTaken + (current ? this.now() - current.since : 0)
    const expected = this.doneExpected + (current ? current.expected - rest : 0)
    // The pace so far counts once a tenth of the work shows it.
    const trust = Math.min(1, (10 * expected) / (expected + ahead || 1))
    const pace = expected > 0 ? Math.exp(trust * Math.log(Math.max(0.05, taken / expected))) : 1
    const secondsLeft = ahead * pace
    const fraction = taken / (taken + secondsLeft || 1)
    this.shown = Math.min(0.99, Math.max(this.shown, fraction))
    return { fraction: this.shown, secondsLeft }
  }
}
