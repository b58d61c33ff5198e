/**
 * A conversion as steps that follow one another, each small enough to be done again after a kill. What a step found is kept
 * as JSON, for later steps and for a run that goes on.
 */
import * as v from 'valibot'
import { rowsTogether, writeRows } from '@shared/checkpoints/arrangement'
import { isPlain, rowBytes, type BlockScaledWeight } from '@shared/checkpoints/conventions'
import { asRead, readTensorScales, storedBytes } from '@shared/checkpoints/tensorScale'
import {
  bytesPerRow,
  totalRows,
  weightSource,
  type WeightSource
} from '@shared/checkpoints/weightSource'
import { nvfp4TensorScale, type ScaleRule } from '@shared/formats/quantize'
import type { TensorEntry } from '@shared/formats/safetensors'
import { layoutText } from '@shared/layouts/describe'
import { paddedSize } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import type {
  NativeFilePlace,
  NativeQuantizedForm,
  NativeRowRange
} from '../../engine/nativeQuantizing'
import type { Checkpoint } from '../../store/checkpointFile'
import { compareRows, type PairOfScratch } from './compareWeights'
import {
  isCopied,
  partsOfBytes,
  readableRows,
  readPlainRows,
  scalesOf,
  slabsOf,
  type ReadableRows,
  type WeightFile
} from './nativeWeights'
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
  /** As it will be found in the new file. */
  weight: BlockScaledWeight
  file: NewFile
}

/** The new file: what of it can be read and where its tensors lie. */
export interface NewFile extends WeightFile {
  /** A file for rows that are copied on their way in, one for rows on their way out. */
  scratch: PairOfScratch
}

const linear = findLayout('linear')

/** Quantises a weight anew, and compares what lies in the file with the original. Returns the steps that compare. */
export function quantizeSteps(
  source: WeightSource,
  { weight, file }: NewWeight,
  rule: ScaleRule,
  checkpoint: Checkpoint,
  steps: Steps
): number[] {
  const { convention: to, layout } = weight
  const scans: number[] = []
  const bytesIn = (range: NativeRowRange) => (range.to - range.from) * bytesPerRow(source)
  if (to.tensorScaleUse) {
    for (const range of slabsOf(source)) {
      scans.push(steps.length)
      steps.push({
        bytes: bytesIn(range),
        run: async ({ work, progress }) => {
          const rows = await readableRows(source, range, checkpoint, file.scratch.original)
          const request = { values: rows.values, range: rows.range }
          const told = progress(`${source.name}: largest value`, 0, 1)
          const { largest } = await callEngine(work, 'scanValues', request, told)
          return { largest }
        }
      })
    }
  }
  const scaleFrom = (found: StepContext['found']) =>
    to.tensorScaleUse
      ? asRead(
          to.tensorScaleUse,
          nvfp4TensorScale(Math.max(0, ...scans.map((at) => found[at]!.largest!)))
        )
      : 1
  const compares: number[] = []
  const converted = weightSource(weight)
  const rules = {
    wholeMatrices: layout.name !== linear.name,
    tile: rowsTogether(weight),
    with: [converted]
  }
  if (to.tensorScaleUse) {
    // Before the values are compared: their factor is read from the file.
    const use = to.tensorScaleUse
    steps.push({
      bytes: 4,
      run: async ({ found, write }) => {
        const { start, end } = weight.tensorScale!
        const count = (end - start) / 4
        await write(start, storedBytes(use, new Array<number>(count).fill(scaleFrom(found))))
        return {}
      }
    })
  }
  for (const range of slabsOf(source, rules)) {
    compares.push(steps.length)
    steps.push({
      bytes: bytesIn(range),
      run: async (context) => {
        const { work, found, progress } = context
        const form = {
          element: to.element.name,
          scale: to.scale.name,
          scaleBlockSize: to.scaleBlockSize,
          rule,
          tensorScale: scaleFrom(found)
        }
        const { original } = file.scratch
        const rows = await readableRows(source, range, checkpoint, original, !isPlain(to))
        const told = progress(`${source.name}: quantising`, 0, 0.6)
        if (isPlain(to)) {
          const places = placesOfRows(weight, rows.first, file)
          const target = { form, ...places, layout: layoutText(layout) }
          const { values, range: counted } = rows
          await callEngine(work, 'quantizeRows', { values, range: counted, to: target }, told)
        } else {
          await quantizeArranged(weight, rows, form, file, context, told)
        }
        const comparing = progress(`${source.name}: comparing`, 0.6, 1)
        const pair = { original: source, converted }
        const files = { original: checkpoint, converted: file }
        return { compared: await compareRows(pair, range, files, file.scratch, work, comparing) }
      }
    })
  }
  return compares
}

/** Rows, counted from 0, in the plain form in a file beside, and from there into the order of the convention. */
async function quantizeArranged(
  weight: BlockScaledWeight,
  rows: ReadableRows,
  form: NativeQuantizedForm,
  { scratch }: NewFile,
  { work, write }: StepContext,
  told: (fraction: number) => void
): Promise<void> {
  const count = rows.range.to
  const sizes = [count * rowBytes(weight), (count * weight.k) / form.scaleBlockSize]
  const [codes, scales] = await scratch.converted.room(sizes)
  const target = { form, codes: codes!, scales: scales!, layout: layoutText(linear) }
  const { values, range } = rows
  await callEngine(work, 'quantizeRows', { values, range, to: target }, told)
  const plain = {
    codes: await scratch.converted.read(codes!, sizes[0]!),
    scales: await scratch.converted.read(scales!, sizes[1]!)
  }
  await writePlainRows(weight, { from: rows.first, to: rows.first + count }, plain, write)
}

/** Where the engine writes rows of a plain weight that it counts from `first`. */
function placesOfRows(weight: BlockScaledWeight, first: number, file: WeightFile) {
  const { rows, k, layout, convention, codes, scales } = weight
  const columns = k / convention.scaleBlockSize
  const perMatrix = paddedSize(layout, rows, columns)
  const scaleBytes = layout.name === linear.name ? first * columns : (first / rows) * perMatrix
  const at = (tensor: TensorEntry, bytes: number) => {
    const { path, position } = file.placeOf(tensor)
    return { path, position: position + bytes }
  }
  return { codes: at(codes, first * rowBytes(weight)), scales: at(scales!, scaleBytes) }
}

/** Plain rows, counted through all matrices, to a file in the order of the convention. */
async function writePlainRows(
  weight: BlockScaledWeight,
  { from, to }: NativeRowRange,
  { codes, scales }: { codes: Uint8Array; scales: Uint8Array },
  write: StepContext['write']
): Promise<void> {
  const toTensor = (tensor: TensorEntry, at: number, bytes: Uint8Array) =>
    write(tensor.start + at, bytes)
  const codeBytes = rowBytes(weight)
  const columns = weight.k / weight.convention.scaleBlockSize
  for (let row = from; row < to;) {
    const matrix = Math.floor(row / weight.rows)
    const first = row - matrix * weight.rows
    const last = Math.min(weight.rows, first + to - row)
    const [start, end] = [row - from, row - from + last - first]
    const plain = {
      codes: codes.subarray(start * codeBytes, end * codeBytes),
      scales: scales.subarray(start * columns, end * columns)
    }
    await writeRows(weight, matrix, first, plain, toTensor)
    row += last - first
  }
}

/** The weight in another convention of its format or with its scales in another layout: nothing is rounded. */
export function repackSteps(
  weight: BlockScaledWeight,
  source: WeightSource,
  { weight: written, file }: NewWeight,
  checkpoint: Checkpoint,
  steps: Steps
): number[] {
  tensorScaleSteps(weight, written, checkpoint, steps)
  const converted = weightSource(written)
  const direct = !isCopied(source) && !isCopied(converted)
  if (direct) directSteps(weight, written, file, checkpoint, steps)
  else arrangeSteps(source, weight, written, checkpoint, steps)
  return slabsOf(source, { with: [converted] }).map((range) => {
    steps.push({
      bytes: (range.to - range.from) * bytesPerRow(source),
      run: async ({ work, progress }) => {
        const told = progress(`${weight.name}: comparing`, 0, 1)
        const pair = { original: source, converted }
        const files = { original: checkpoint, converted: file }
        return { compared: await compareRows(pair, range, files, file.scratch, work, told) }
      }
    })
    return steps.length - 1
  })
}

/** Codes as they are, scales as they are or into another layout: by the engine. */
function directSteps(
  weight: BlockScaledWeight,
  written: BlockScaledWeight,
  file: WeightFile,
  checkpoint: Checkpoint,
  steps: Steps
): void {
  copySteps(weight.codes, file.placeOf(written.codes), checkpoint, steps)
  const { layout, convention } = written
  const scales = file.placeOf(written.scales!)
  if (layoutText(layout) === layoutText(weight.layout)) {
    return copySteps(weight.scales!, scales, checkpoint, steps)
  }
  steps.push({
    bytes: weight.scales!.end - weight.scales!.start,
    run: async ({ work, progress }) => {
      const request = {
        from: scalesOf(weight, checkpoint),
        rowsPerMatrix: weight.rows,
        columns: weight.k / convention.scaleBlockSize,
        range: { from: 0, to: totalRows(weight) },
        layout: layoutText(layout),
        to: scales
      }
      await callEngine(work, 'repackScales', request, progress(`${weight.name}: scales`, 0, 1))
      return {}
    }
  })
}

/** Codes and scales through the plain form, part by part. */
function arrangeSteps(
  source: WeightSource,
  weight: BlockScaledWeight,
  written: BlockScaledWeight,
  checkpoint: Checkpoint,
  steps: Steps
): void {
  const converted = weightSource(written)
  const rules = {
    wholeMatrices: written.layout.name !== linear.name,
    tile: rowsTogether(written),
    with: [converted]
  }
  for (const range of slabsOf(source, rules)) {
    steps.push({
      bytes: (range.to - range.from) * bytesPerRow(source),
      run: async ({ write, progress }) => {
        const told = progress(`${weight.name}: arranging`, 0, 1)
        const plain = readPlainRows(weight, range, checkpoint.read)
        told(0.5)
        await writePlainRows(written, range, plain, write)
        return {}
      }
    })
  }
}

function tensorScaleSteps(
  weight: BlockScaledWeight,
  written: BlockScaledWeight,
  checkpoint: Checkpoint,
  steps: Steps
): void {
  const { tensorScale, convention } = written
  if (!tensorScale) return
  const { start } = tensorScale
  const copied =
    weight.tensorScale && weight.convention.tensorScaleUse === convention.tensorScaleUse
  steps.push({
    bytes: tensorScale.end - start,
    run: async ({ write }) => {
      const bytes = copied
        ? checkpoint.read(weight.tensorScale!, 0, tensorScale.end - start)
        : storedBytes(convention.tensorScaleUse!, readTensorScales(weight, checkpoint.read))
      await write(start, bytes)
      return {}
    }
  })
}
