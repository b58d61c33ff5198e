/** Steps of sweeps as lines: one per kernel, format and level, so that native and emulated never share one. */
import type { Run, Step } from '../contract/run'
import type { ShapeRow } from '../contract/shapes'
import {
  formatSymbol,
  hollowCharacters,
  kernelColours,
  kernelKey,
  symbolCharacters,
  type Colour,
  type KernelId,
  type Mark
} from '../measurement/marks'
import { scaleFor, tick, type Family, type Scale } from '../units'
import { noRoofs, shareOfStep, type Roofs } from './limits'

export type SweepMetric = 'tflops' | 'time' | 'bandwidth' | 'share'

/** Which extent a chart runs over. */
export type Dimension = 'k' | 'm' | 'n'

export interface SweepPoint {
  /** The step's extent in the dimension of its line. */
  at: number
  step: Step
}

export interface SweepLine {
  /** 'RUN kernel format level', and the variant where there are several. */
  id: string
  runId: string
  kernel: string
  format: string
  level: string
  baseline: boolean
  /** An earlier run, drawn behind. */
  overlay: boolean
  runTitle: string
  over: Dimension
  /** 'M = 16' where the run has several of what the line does not run over; else ''. */
  variant: string
  provider: string
  /** The same in every run that has the kernel and the format. */
  mark: Mark
  points: SweepPoint[]
}

export interface SweepSource {
  run: Run
  title: string
  overlay: boolean
}

/** Dimensions with several values, K first, of a model's layers M, which are its tokens; those that are asked for count before they are measured. */
export function dimensionsOf(sources: readonly SweepSource[]): Dimension[] {
  const isModel = sources.some(({ run: { spec } }) => spec.shapes !== undefined)
  const order = isModel ? (['m', 'k', 'n'] as const) : (['k', 'm', 'n'] as const)
  return order.filter((of) => {
    const values = sources.flatMap(({ run: { spec, steps } }) => [
      ...(spec.kind === 'sweep' ? spec[`${of}Values`] : []),
      ...steps.map((step) => step[of])
    ])
    return new Set(values).size > 1
  })
}

/** Lines over K, or over M or N where that alone varies; over `asked` where it varies too. */
export function sweepLines(sources: readonly SweepSource[], asked?: Dimension): SweepLine[] {
  const dimensions = dimensionsOf(sources)
  const over = asked && dimensions.includes(asked) ? asked : (dimensions[0] ?? 'k')
  const colours = coloursOf(sources.map(({ run }) => run))
  const lines = new Map<string, SweepLine>()
  for (const { run, title, overlay } of sources) {
    const variantOf = variantsOf(run, over)
    for (const step of run.steps) {
      if (!step.measurement) continue
      const variant = variantOf(step)
      const id = [run.id, step.kernel, step.format, step.level, variant].filter(Boolean).join(' ')
      let line = lines.get(id)
      if (!line) {
        line = {
          id,
          runId: run.id,
          kernel: step.kernel,
          provider: step.provider,
          format: step.format,
          level: step.level,
          baseline: step.baseline,
          overlay,
          runTitle: title,
          over,
          variant,
          mark: {
            colour: colours.get(kernelKey(step))!,
            ...formatSymbol(step.format),
            hollow: step.baseline
          },
          points: []
        }
        lines.set(id, line)
      }
      line.points.push({ at: step[over], step })
    }
  }
  const all = [...lines.values()]
  for (const line of all) line.points.sort((a, b) => a.at - b.at)
  return all
}

/** What tells lines of one kernel apart: the extents besides the axis that the run has several of; over M, a model's layers. */
function variantsOf({ spec, steps }: Run, over: Dimension): (step: Step) => string {
  const rows = over === 'm' ? spec.shapes?.rows : undefined
  if (rows) return layersOf(rows)
  const varying = (['m', 'n', 'k'] as const).filter(
    (of) => of !== over && new Set(steps.map((step) => step[of])).size > 1
  )
  return (step) => varying.map((of) => `${of.toUpperCase()} = ${tick(step[of])}`).join(', ')
}

/** A layer by the names that it has at every M; by N × K where it has none, and beside a name that another layer has too. */
function layersOf(rows: readonly ShapeRow[]): (layer: Pick<Step, 'n' | 'k'>) => string {
  const extents = ({ n, k }: Pick<Step, 'n' | 'k'>) => `${tick(n)} × ${tick(k)}`
  const namesAt = new Map<string, Map<number, Set<string>>>()
  for (const row of rows) {
    const layer = namesAt.get(extents(row)) ?? new Map<number, Set<string>>()
    layer.set(row.m, (layer.get(row.m) ?? new Set()).add(row.name))
    namesAt.set(extents(row), layer)
  }
  const names = new Map(
    [...namesAt].map(([layer, atEachM]) => {
      const [first, ...others] = atEachM.values()
      return [layer, [...first!].filter((name) => others.every((at) => at.has(name))).join(', ')]
    })
  )
  const called = [...names.values()]
  return (step) => {
    const layer = extents(step)
    const name = names.get(layer) ?? ''
    const isItsOwn = called.indexOf(name) === called.lastIndexOf(name)
    return name && isItsOwn ? name : [name, layer].filter(Boolean).join(', ')
  }
}

/** What a run may use, in an order that is known before it starts, so that colours do not change while it runs. */
function kernelsOf({ device, spec, steps }: Run): KernelId[] {
  const planned = (device?.kernels ?? []).filter(
    ({ id }) => spec.kernels.length === 0 || spec.kernels.includes(id)
  )
  return [...planned.map(({ id, provider }) => ({ kernel: id, provider })), ...steps]
}

/** The shade of each kernel of runs that are shown together, by kernelKey: the same in every picture of them. */
export const coloursOf = (runs: readonly Run[]): ReadonlyMap<string, Colour> =>
  kernelColours(runs.flatMap(kernelsOf))

/** Median with the quartile band, lower bound first. */
export interface Figure {
  value: number
  low: number
  high: number
}

const metricFamily: Record<Exclude<SweepMetric, 'share'>, Family> = {
  tflops: 'rate',
  time: 'time',
  bandwidth: 'bandwidth'
}

export const metricTitle: Record<SweepMetric, string> = {
  tflops: 'Throughput',
  time: 'Time per operation',
  bandwidth: 'Bandwidth',
  share: 'Share of the limit'
}

/** In TFLOP/s, ns, GB/s or as a share, 0..1, of what the roofs allow; undefined without a limit. */
export function figureOf(
  step: Step,
  metric: SweepMetric,
  roofs: Roofs = noRoofs
): Figure | undefined {
  const measured = step.measurement
  if (!measured) return undefined
  if (metric === 'share') {
    const found = shareOfStep(step, roofs)
    const rate = figureOf(step, 'tflops')
    if (!('share' in found) || !rate) return undefined
    const of = (tflops: number) => Math.min(1, (tflops * 1e12) / found.limit.rate)
    return { value: found.share, low: of(rate.low), high: of(rate.high) }
  }
  const { median, q1, q3 } = measured.timeNs
  if (metric === 'time') return { value: median, low: q1, high: q3 }
  // FLOP per ns is GFLOP/s; bytes per ns is GB/s. Less time is more rate: q3 gives the lower bound.
  const work = metric === 'tflops' ? measured.flops / 1e3 : measured.bytes
  return { value: work / median, low: work / q3, high: work / q1 }
}

export function sweepScale(lines: readonly SweepLine[], metric: SweepMetric): Scale {
  if (metric === 'share') return { unit: '%', factor: 100 }
  let largest = 0
  for (const line of lines) {
    for (const { step } of line.points) {
      const value = figureOf(step, metric)?.value ?? 0
      if (Number.isFinite(value)) largest = Math.max(largest, value)
    }
  }
  return scaleFor(metricFamily[metric], largest)
}

/** What a tooltip and the legend of a picture call a line; an overlaid one by its run as well. */
export const lineName = ({
  kernel,
  format,
  variant,
  overlay,
  runTitle
}: Pick<SweepLine, 'kernel' | 'format' | 'variant' | 'overlay' | 'runTitle'>): string =>
  `${kernel} ${format}${variant && `, ${variant}`}${overlay ? ` (${runTitle})` : ''}`

/** What a chart can place; a gap where there is no number. */
export const drawn = (value: number | undefined, factor = 1): number | null =>
  value !== undefined && Number.isFinite(value) ? value * factor : null

/** Heading of the legend under which a line belongs. */
export function groupOf(line: SweepLine): string {
  if (line.overlay) return `Overlay: ${line.runTitle}`
  if (line.baseline) return 'Baselines'
  const groups: Record<string, string> = {
    native: 'Native',
    exact: 'Exact in software',
    approximate: 'Approximate in software'
  }
  return groups[line.level] ?? line.level
}

/** Where there is no room for every name, references give way, then earlier runs: the least is named first. */
export const standing = ({ mark, overlay }: SweepLine): number =>
  Number(mark.hollow) + 2 * Number(overlay)

/** The mark as a character, where text is all there is. */
export const signOf = ({ mark }: SweepLine): string =>
  (mark.hollow ? hollowCharacters : symbolCharacters)[mark.symbol]
