/**
 * A conversion as steps that follow one another, each small enough to be done again after a kill. What a step found is kept
 * as JSON, for later steps and for a run that goes on.
 */
import * as v from 'valibot'
import type { BlockScaledWeight, Convention } from '@shared/checkpoints/conventions'
import type { WeightTensors } from '@shared/checkpoints/convert'
import type { ComparedValues } from '@shared/checkpoints/loss'
import { readTensorScale } from '@shared/checkpoints/slice'
import { bytesPerRow, totalRows, type WeightSource } from '@shared/checkpoints/weightSource'
import { nvfp4TensorScale, type ScaleRule } from '@shared/formats/quantize'
import type { NewTensor, TensorEntry } from '@shared/formats/safetensors'
import { layoutText } from '@shared/layouts/describe'
import type { ScaleLayout } from '@shared/layouts/layout'
import type {
  NativeFilePlace,
  NativeRowRange,
  NativeStoredValues
} from '../../engine/nativeQuantizing'
import type { Checkpoint } from '../../store/checkpointFile'
import { partsOfBytes, scalesOf, slabsOf, storedScales, storedValues } from './nativeWeights'
import { callEngine, type WeightWork } from './weightWork'

/** JSON knows no infinity: null stands for it. */
const sum = v.pipe(
  v.nullable(v.number()),
  v.transform((value) => value ?? Infinity)
)
const foundSchema = v.object({
  /** Index of the step. */
  at: v.number(),
  largest: v.optional(v.number()),
  compared: v.optional(
    v.object({
      signal: sum,
      noise: sum,
      largestError: sum,
      different: v.number(),
      lost: v.number(),
      bad: v.object({ nan: v.number(), infinite: v.number(), first: v.number() })
    })
  )
})
export type Found = v.InferOutput<typeof foundSchema>

/** What an earlier run wrote down; undefined for a line that is none of this program's. */
export function readFound(line: unknown): Found | undefined {
  const parsed = v.safeParse(foundSchema, line)
  return parsed.success ? parsed.output : undefined
}

/** What steps share. `found` is by index of the step. */
export interface StepContext {
  work: Pick<WeightWork, 'engine' | 'signal'>
  found: readonly (Found | undefined)[]
  write(position: number, bytes: Uint8Array): Promise<void>
  /** Of a part of the step, 0..1, that is told as it goes. */
  progress(activity: string, from: number, to: number): (fraction: number) => void
}

export interface Step {
  /** Of input that it reads. */
  bytes: number
  run(context: StepContext): Promise<Omit<Found, 'at'>>
}

/** A list of steps that knows the index of the next. */
export type Steps = Step[]

/** Where the tensors of the new file begin. */
export type PlaceOf = (tensor: NewTensor) => NativeFilePlace

export function copySteps(
  tensor: TensorEntry,
  to: NativeFilePlace,
  checkpoint: Checkpoint,
  steps: Steps
): void {
  const from = checkpoint.placeOf(tensor)
  for (const part of partsOfBytes(tensor.end - tensor.start)) {
    const count = part.to - part.from
    const at = ({ path, position }: NativeFilePlace) => ({ path, position: position + part.from })
    steps.push({
      bytes: count,
      run: async ({ work, progress }) => {
        const request = { from: at(from), to: at(to), count }
        await callEngine(work, 'copyBytes', request, progress(`${tensor.name}: copying`, 0, 1))
        return {}
      }
    })
  }
}

interface NewWeight {
  to: Convention
  layout: ScaleLayout
  tensors: WeightTensors
  placeOf: PlaceOf
}

/** Quantises a weight anew, and compares what lies in the file with the original. Returns the steps that compare. */
export function quantizeSteps(
  source: WeightSource,
  { to, layout, tensors, placeOf }: NewWeight,
  rule: ScaleRule,
  checkpoint: Checkpoint,
  steps: Steps
): number[] {
  const values = storedValues(source, checkpoint)
  const scans: number[] = []
  const bytesIn = (range: NativeRowRange) => (range.to - range.from) * bytesPerRow(source)
  if (to.tensorScaleUse) {
    for (const range of slabsOf(source, false)) {
      scans.push(steps.length)
      steps.push({
        bytes: bytesIn(range),
        run: async ({ work, progress }) => {
          const told = progress(`${source.name}: largest value`, 0, 1)
          const { largest } = await callEngine(work, 'scanValues', { values, range }, told)
          return { largest }
        }
      })
    }
  }
  const scaleFrom = (found: StepContext['found']) =>
    to.tensorScaleUse
      ? tensorScaleOf(
          to,
          scans.map((at) => found[at]!.largest!)
        )
      : 1
  const compares: number[] = []
  for (const range of slabsOf(source, layout.name !== 'linear')) {
    compares.push(steps.length)
    steps.push({
      bytes: bytesIn(range),
      run: async ({ work, found, progress }) => {
        const tensorScale = scaleFrom(found)
        const form = {
          element: to.element.name,
          scale: to.scale.name,
          scaleBlockSize: to.scaleBlockSize,
          rule,
          tensorScale
        }
        const [codes, scales] = [placeOf(tensors.codes), placeOf(tensors.scales)]
        const target = { form, codes, scales, layout: layoutText(layout) }
        const quantising = progress(`${source.name}: quantising`, 0, 0.6)
        await callEngine(work, 'quantizeRows', { values, range, to: target }, quantising)
        const converted = { ...values, ...written(to, layout, codes, scales, tensorScale) }
        const told = progress(`${source.name}: comparing`, 0.6, 1)
        return { compared: await compare(work, values, converted, range, told) }
      }
    })
  }
  if (tensors.tensorScale) {
    const { position } = placeOf(tensors.tensorScale)
    steps.push({
      bytes: 4,
      run: async ({ found, write }) => {
        await write(position, storedScale(to, scaleFrom(found)))
        return {}
      }
    })
  }
  return compares
}

/** The weight in another convention of its format or with its scales in another layout: nothing is rounded. */
export function repackSteps(
  weight: BlockScaledWeight,
  source: WeightSource,
  { to, layout, tensors, placeOf }: NewWeight,
  checkpoint: Checkpoint,
  steps: Steps
): number[] {
  copySteps(weight.codes, placeOf(tensors.codes), checkpoint, steps)
  const [codes, scales] = [placeOf(tensors.codes), placeOf(tensors.scales)]
  if (layoutText(layout) === layoutText(weight.layout)) {
    copySteps(weight.scales, scales, checkpoint, steps)
  } else {
    steps.push({
      bytes: weight.scales.end - weight.scales.start,
      run: async ({ work, progress }) => {
        const request = {
          from: scalesOf(weight, checkpoint),
          rowsPerMatrix: weight.rows,
          columns: weight.k / to.scaleBlockSize,
          range: { from: 0, to: totalRows(weight) },
          layout: layoutText(layout),
          to: scales
        }
        await callEngine(work, 'repackScales', request, progress(`${weight.name}: scales`, 0, 1))
        return {}
      }
    })
  }
  const factor = readTensorScale(weight, checkpoint.read)
  const keepsFactor = weight.convention.tensorScaleUse === to.tensorScaleUse
  if (weight.tensorScale && tensors.tensorScale) {
    const bytes = keepsFactor ? checkpoint.read(weight.tensorScale, 0, 4) : storedScale(to, factor)
    const { position } = placeOf(tensors.tensorScale)
    steps.push({
      bytes: 4,
      run: async ({ write }) => {
        await write(position, bytes)
        return {}
      }
    })
  }
  const values = storedValues(source, checkpoint)
  const factorThere = keepsFactor ? factor : asRead(to, factor)
  const converted = { ...values, ...written(to, layout, codes, scales, factorThere) }
  return slabsOf(source, false).map((range) => {
    steps.push({
      bytes: (range.to - range.from) * bytesPerRow(source),
      run: async ({ work, progress }) => {
        const told = progress(`${weight.name}: comparing`, 0, 1)
        return { compared: await compare(work, values, converted, range, told) }
      }
    })
    return steps.length - 1
  })
}

async function compare(
  work: StepContext['work'],
  original: NativeStoredValues,
  converted: NativeStoredValues,
  range: NativeRowRange,
  told: (fraction: number) => void
): Promise<ComparedValues> {
  return callEngine(work, 'compareRows', { original, converted, range }, told)
}

const written = (
  to: Convention,
  layout: ScaleLayout,
  codes: NativeFilePlace,
  scales: NativeFilePlace,
  tensorScale: number
): Pick<NativeStoredValues, 'place' | 'blockScaled'> => ({
  place: codes,
  blockScaled: { element: to.element.name, scales: storedScales(to, layout, scales), tensorScale }
})

function tensorScaleOf(to: Convention, largest: readonly number[]): number {
  return asRead(to, nvfp4TensorScale(Math.max(0, ...largest)))
}

/** As a reader of the file finds it: where the reciprocal is stored in float32, the reciprocal of that. */
const asRead = (to: Convention, factor: number) =>
  to.tensorScaleUse === 'divide' ? 1 / Math.fround(1 / factor) : Math.fround(factor)

function storedScale(to: Convention, factor: number): Uint8Array {
  const bytes = new Uint8Array(4)
  const stored = to.tensorScaleUse === 'divide' ? 1 / factor : factor
  new DataView(bytes.buffer).setFloat32(0, stored, true)
  return bytes
}
