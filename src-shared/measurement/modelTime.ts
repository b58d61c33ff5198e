/** What a model's linear layers take, from the times of their shapes: each counts as often as a step of the model does it. */
import type { JobSpec } from '../contract/jobs'
import type { Run, Step } from '../contract/run'
import { shapeKey, type Shaped } from '../contract/groups'
import { isBundledList, productOf, type ShapeRow } from '../contract/shapes'
import { counted, percent, quantity, text } from '../units'
import { leastNs } from './readShare'
import {
  computeRoof,
  intensityOf,
  limitAt,
  memoryRoof,
  roofsOfRun,
  type DeviceRoofs
} from './roofs'

/** The layers that a step is the shape of; empty where the run is of no model. */
export const layersOf = ({ shapes }: Pick<JobSpec, 'shapes'>, step: Shaped): ShapeRow[] =>
  shapes?.rows.filter((row) => shapeKey(productOf(row)) === shapeKey(step)) ?? []

/** 'expert down at 16 tokens'. */
export const layerName = ({ name, tokens }: ShapeRow): string =>
  tokens === undefined ? name : `${name} at ${counted(tokens, 'token')}`

/** How often a step of the model does it: experts that stand together are done as one. */
export const usesOf = ({ weight, groups, layout }: ShapeRow): number =>
  layout ? weight : weight * groups

export interface LayerTime {
  row: ShapeRow
  kernel: string
  /** Of all its uses in one step of the model. */
  ns: number
  /** Of the model's. */
  share: number
  /** What it would take at its limit (roofs.ts), no less than a plain read of its bytes where these were timed; undefined where none is known. */
  limitNs: number | undefined
  /** The most that tuning it can take off the model's time: all of it where no limit is known. 0..1 */
  gain: number
}

export interface ModelTime {
  format: string
  tokens: number | undefined
  /** Each layer with the fastest kernel that passed; most time first. */
  layers: LayerTime[]
  /** Nanoseconds of one step, over the layers that were timed. */
  ns: number
  /** Layers that no kernel was timed for, and so are not in it. */
  missing: string[]
}

/** A sum for each format and number of tokens; empty where the run is of no model, as a bundled list, or nothing of it was timed. */
export function modelTimesOf(run: Pick<Run, 'spec' | 'steps' | 'device' | 'roofs'>): ModelTime[] {
  const { shapes } = run.spec
  if (!shapes || isBundledList(shapes.source)) return []
  const rows = shapes.rows.filter((row) => usesOf(row) > 0)
  const formats = [...new Set(run.steps.map(({ format }) => format))]
  const steps = [...new Set(rows.map(({ tokens }) => tokens))]
  const roofs = roofsOfRun(run)
  return formats
    .flatMap((format) => steps.map((tokens) => modelTime(run.steps, rows, roofs, format, tokens)))
    .filter(({ layers }) => layers.length > 0)
}

function modelTime(
  steps: readonly Step[],
  rows: readonly ShapeRow[],
  roofs: DeviceRoofs,
  format: string,
  tokens: number | undefined
): ModelTime {
  const missing: string[] = []
  const timed = rows
    .filter((row) => row.tokens === tokens)
    .flatMap((row) => {
      const best = fastest(
        steps.filter(
          (step) => step.format === format && shapeKey(step) === shapeKey(productOf(row))
        )
      )
      if (!best) missing.push(row.name)
      return best ? [{ row, step: best, once: best.measurement!.timeNs.median }] : []
    })
  const ns = timed.reduce((sum, { row, once }) => sum + once * usesOf(row), 0)
  const layers = timed.map(({ row, step, once }): LayerTime => {
    const own = once * usesOf(row)
    const limit = limitNs(step, roofs)
    const limitOfAll = limit === undefined ? undefined : Math.min(own, limit * usesOf(row))
    const gain = (own - (limitOfAll ?? 0)) / ns
    return { row, kernel: step.kernel, ns: own, share: own / ns, limitNs: limitOfAll, gain }
  })
  layers.sort((a, b) => b.ns - a.ns)
  return { format, tokens, layers, ns, missing }
}

/** A baseline computes something else, and one that is wrong is no kernel to use. */
function fastest(steps: readonly Step[]): Step | undefined {
  const able = steps.filter(
    ({ measurement, disposition, baseline }) => measurement && !baseline && disposition === 'passed'
  )
  return able.reduce<Step | undefined>(
    (best, step) =>
      !best || step.measurement!.timeNs.median < best.measurement!.timeNs.median ? step : best,
    undefined
  )
}

function limitNs(step: Step, roofs: DeviceRoofs): number | undefined {
  const measured = step.measurement!
  const work = step.work ?? measured
  const limit = limitAt(intensityOf(work), computeRoof(step, roofs), memoryRoof(step, roofs))
  const byRates = limit && (work.flops / limit.rate) * 1e9
  const byRead = leastNs(step, roofs)
  return byRead === undefined ? byRates : Math.max(byRead, byRates ?? 0)
}

/** The layer that most can be taken off the model's time by. */
export const worthTuning = ({ layers }: ModelTime): LayerTime =>
  layers.reduce((most, layer) => (layer.gain > most.gain ? layer : most))

/** Nanoseconds of a step for each of its tokens; undefined where they are one or none is said. */
export const perTokenNs = ({ ns, tokens }: ModelTime): number | undefined =>
  tokens !== undefined && tokens > 1 ? ns / tokens : undefined

/** 'mxfp4 at 16 tokens: the linear layers take 3.1 ms a step; tuning gate up, 41 % of it, buys at most 12 %.' */
export function modelTimeText(time: ModelTime): string {
  const { format, tokens, ns, missing } = time
  const where = tokens === undefined ? format : `${format} at ${counted(tokens, 'token')}`
  const best = worthTuning(time)
  const each = perTokenNs(time)
  const perToken = each === undefined ? '' : ` (${timeText(each)} a token)`
  const without = missing.length > 0 ? ` Not timed, and not in it: ${missing.join(', ')}.` : ''
  const basis = best.limitNs === undefined ? ', were it free' : ''
  return (
    `${where}: the linear layers take ${timeText(ns)} a step${perToken}; tuning ${best.row.name}, ` +
    `${percent(best.share)} of it, buys at most ${percent(best.gain)}${basis}.${without}`
  )
}

const timeText = (ns: number) => text(quantity('time', ns))
