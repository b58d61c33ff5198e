/** Roofs, points and axes of a roofline: intensities in FLOP/B, rates in TFLOP/s. */
import type { Roof } from '../contract/roofs'
import type { Step } from '../contract/run'
import { instructionWords } from '../measurement/instructions'
import { intensityOf, limitAt, measuredMemory, ratedPeak } from '../measurement/roofs'
import { count, percent, quantity, text, type Scale } from '../units'
import { roofsAt, shareOfStep, type Roofs } from './limits'
import type { PictureSize } from './picture'
import { ratedRoofOf } from './ratedRoofs'
import { drawn, type SweepLine } from './sweepSeries'

export const margin = { left: 64, right: 24, top: 34, bottom: 42 }

/** What is drawn where: intensities in FLOP/B, rates in TFLOP/s, the size in pixels. */
export interface Plot {
  low: number
  high: number
  rates: { low: number; high: number }
  scale: Scale
  size: PictureSize
}

export interface DrawnRoof {
  /** 'fp8 dram': the same whatever its rate. */
  id: string
  name: string
  compute: Roof | undefined
  memory: Roof | undefined
  /** Where the memory limit meets the compute limit, in FLOP/B. */
  ridge: number | undefined
}

/**
 * One for each instruction and memory level. A data sheet's stands at the device's highest clock, as in the charts over K,
 * whatever the clocks of its points; of others the highest.
 */
export function roofsOf(lines: readonly SweepLine[], roofs: Roofs): DrawnRoof[] {
  const found = new Map<string, DrawnRoof>()
  for (const { step } of lines.flatMap(({ points }) => points)) {
    const { memory } = roofsAt(step, roofs)
    const compute = ratedRoofOf(step, roofs)
    if (!compute && !memory) continue
    const id = `${compute?.of ?? ''} ${memory?.of ?? ''}`.trim()
    const before = found.get(id)
    if (before && (before.compute?.rate ?? 0) >= (compute?.rate ?? 0)) continue
    const ridge = compute && memory ? compute.rate / memory.rate : undefined
    found.set(id, { id, name: nameOf(compute, memory), compute, memory, ridge })
  }
  return [...found.values()]
}

/** A level of memory as it was measured, beside the rated one: as far as the highest roof it meets. */
export interface MeasuredLevel {
  /** 'measured l2' */
  id: string
  name: string
  /** B/s. */
  rate: number
  /** Of its line, as intensity and TFLOP/s. */
  ends: [[number, number], [number, number]]
}

/**
 * What the same device does without its tensor cores: float32 at its highest clock, B/s and FLOP/s as rated. Of a GPU whose
 * roofs are a data sheet's, where no point has that roof itself.
 */
export function plainRoof({ device, entered }: Roofs, drawnRoofs: readonly DrawnRoof[]) {
  const rated = drawnRoofs.filter(({ compute }) => compute?.basis === 'data sheet')
  if (rated.length === 0 || entered.compute !== undefined) return undefined
  if (rated.some(({ compute }) => compute!.of === 'fp32')) return undefined
  const compute = ratedPeak(device, 'fp32')
  const memory = rated.find((roof) => roof.memory)?.memory
  if (!compute) return undefined
  const name = `${nameOf(compute, memory)}, no tensor core`
  return { id: 'plain', name, compute, memory, ridge: memory && compute.rate / memory.rate }
}

/** From a point up to the roof that binds it. */
export interface Drop {
  /** '46 % of the fp8 roof at 1,780 MHz': the clock that was measured, at which a rated roof is lower than drawn. */
  text: string
  /** FLOP/B. */
  intensity: number
  /** Of the point and of its roof, TFLOP/s. */
  rates: [number, number]
}

/** Undefined where no roof is known, or the point lies on or over it. */
export function dropOf(step: Step, roofs: Roofs): Drop | undefined {
  const found = shareOfStep(step, roofs)
  const [intensity, rate] = placeOf(step)
  if (!('share' in found) || intensity === null || rate === null) return undefined
  const { by } = found.limit
  const { of, basis } = roofsAt(step, roofs)[by]!
  const { meanMHz } = step.measurement!
  const clock =
    by === 'compute' && basis === 'data sheet' && meanMHz > 0
      ? ` at ${count(Math.round(meanMHz))} MHz`
      : ''
  const name = of === 'entered' ? 'entered' : by === 'compute' ? instructionWords(of) : 'memory'
  return {
    text: `${percent(found.share)} of the ${name} roof${clock}`,
    intensity,
    rates: [rate, found.limit.rate / 1e12]
  }
}

/** The point that a roofline measures until a person points at one: the fastest that is no reference and of no earlier run. */
export function fastestPoint(lines: readonly SweepLine[], roofs: Roofs): Step | undefined {
  const own = lines.filter(({ mark, overlay }) => !mark.hollow && !overlay)
  const steps = own.flatMap(({ points }) => points.slice(-1).map(({ step }) => step))
  return steps
    .filter((step) => dropOf(step, roofs))
    .sort((a, b) => b.measurement!.tflops - a.measurement!.tflops)[0]
}

const levelTitles = { dram: 'memory', l2: 'L2' } as const

/**
 * Of a GPU, whose roofs are a data sheet's: what its memory gave, and what L2 gave, which a data sheet does not say. Nothing
 * where a person entered a limit of their own.
 */
export function measuredLevels(
  { measured, entered }: Roofs,
  drawnRoofs: readonly DrawnRoof[],
  low: number
): MeasuredLevel[] {
  const isRated = drawnRoofs.some(({ memory }) => memory?.basis === 'data sheet')
  const top = Math.max(0, ...drawnRoofs.map(({ compute }) => compute?.rate ?? 0))
  if (!isRated || entered.memory !== undefined || top === 0) return []
  return (['dram', 'l2'] as const).flatMap((level) => {
    const found = measuredMemory(measured, level)
    const ridge = found && top / found.rate
    if (!found || !ridge || ridge <= low) return []
    const name = `${levelTitles[level]} ${text(quantity('bandwidth', found.rate / 1e9))}, measured`
    const at = (x: number): [number, number] => [x, (x * found.rate) / 1e12]
    const ends: MeasuredLevel['ends'] = [at(low), at(ridge)]
    return [{ id: `measured ${level}`, name, rate: found.rate, ends }]
  })
}

/** What a roofline draws over the points of some lines, and from which intensity on, FLOP/B. */
export interface RooflineRoofs {
  drawnRoofs: readonly DrawnRoof[]
  plain: DrawnRoof | undefined
  levels: readonly MeasuredLevel[]
  low: number
  high: number
}

/** @param hidden ids of roofs that a person leaves out; the axes then close up to what is left */
export function rooflineRoofs(
  lines: readonly SweepLine[],
  roofs: Roofs,
  hidden: ReadonlySet<string> = new Set()
): RooflineRoofs {
  const all = roofsOf(lines, roofs)
  const drawnRoofs = all.filter(({ id }) => !hidden.has(id))
  const plain = plainRoof(roofs, all)
  const range = intensityRange(
    lines,
    drawnRoofs.flatMap(({ ridge }) => ridge ?? [])
  )
  return {
    ...range,
    drawnRoofs,
    plain: plain && !hidden.has(plain.id) ? plain : undefined,
    levels: measuredLevels(roofs, all, range.low).filter(({ id }) => !hidden.has(id))
  }
}

/** The roofs that can be left out, each by its name: 'fp8 2,141 TFLOP/s', 'L2 7.98 TB/s, measured'. */
export function roofChoices(lines: readonly SweepLine[], roofs: Roofs) {
  const { drawnRoofs, plain, levels } = rooflineRoofs(lines, roofs)
  return [...drawnRoofs, ...(plain ? [plain] : []), ...levels].map(({ id, name }) => ({ id, name }))
}

/** 'fp8 1,947 TFLOP/s'; of what was entered, 'limit'. */
function nameOf(compute: Roof | undefined, memory: Roof | undefined): string {
  const name = compute && compute.of !== 'entered' ? instructionWords(compute.of) : 'limit'
  if (compute) return `${name} ${text(quantity('rate', compute.rate / 1e12))}`
  return memory ? `memory ${text(quantity('bandwidth', memory.rate / 1e9))}` : name
}

/** From one power of two to another, around all points and the ridge; something to look at without any. */
export function intensityRange(lines: readonly SweepLine[], ridges: readonly number[]) {
  let low = Math.min(...ridges)
  let high = Math.max(0, ...ridges)
  for (const { points } of lines) {
    for (const { step } of points) {
      const intensity = intensityOf(step.work ?? step.measurement!)
      if (!(intensity > 0) || !Number.isFinite(intensity)) continue
      low = Math.min(low, intensity)
      high = Math.max(high, intensity)
    }
  }
  if (!(high > 0)) return { low: 1, high: 1024 }
  return { low: 2 ** Math.floor(Math.log2(low) - 0.2), high: 2 ** Math.ceil(Math.log2(high) + 0.2) }
}

/** From one power of two to another, in TFLOP/s, around all points and what instructions allow; a roof of memory alone leaves it. */
export function rateRange(
  lines: readonly SweepLine[],
  drawnRoofs: readonly DrawnRoof[],
  least: number,
  plain?: DrawnRoof
) {
  const rates = [
    ...drawnRoofs.flatMap(({ compute, memory }) => [
      limitAt(least, compute, memory)!.rate / 1e12,
      ...(compute ? [compute.rate / 1e12] : [])
    ]),
    ...lines.flatMap(({ points }) => points.map(({ step }) => step.measurement!.tflops))
  ].filter((rate) => rate > 0 && Number.isFinite(rate))
  if (rates.length === 0) return { low: 1, high: 1024, most: 1024 }
  const most = Math.max(...rates)
  return {
    most,
    low: Math.min(
      2 ** Math.floor(Math.log2(Math.min(...rates)) - 0.1),
      plain ? 2 ** Math.floor(Math.log2(plain.compute!.rate / 1e12)) : Infinity
    ),
    high: 2 ** Math.ceil(Math.log2(most) + 0.1)
  }
}

/** Where a roof begins, bends and ends within the plot, as intensity and TFLOP/s. */
export function cornersOf({ compute, memory, ridge }: DrawnRoof, { low, high, rates }: Plot) {
  const end = compute || !memory ? high : Math.min(high, (rates.high * 1e12) / memory.rate)
  return [low, ...(ridge && ridge > low ? [ridge] : []), end].map((x): [number, number] => [
    x,
    limitAt(x, compute, memory)!.rate / 1e12
  ])
}

/** A logarithm needs more than 0. */
const onLogAxis = (value: number): number | null => (value > 0 ? drawn(value) : null)

/** Intensity in FLOP/B and rate in TFLOP/s, times a factor. */
export const placeOf = (
  { work, measurement }: Step,
  { factor }: Pick<Scale, 'factor'> = { factor: 1 }
): [number | null, number | null] => [
  onLogAxis(intensityOf(work ?? measurement!)),
  onLogAxis(measurement!.tflops * factor)
]
