/** A checkpoint in another convention, scale layout or format: planned as a whole, done in steps, resumed after a kill. */
import { createHash } from 'node:crypto'
import {
  findBlockScaledWeights,
  scaleLayoutKey,
  type Convention
} from '@shared/checkpoints/conventions'
import {
  requireSameFormat,
  sameFormat,
  weightTensors,
  type WeightTensors
} from '@shared/checkpoints/convert'
import { addCompared, lossOf, type WeightLoss } from '@shared/checkpoints/loss'
import { floatSource, weightSource, type WeightSource } from '@shared/checkpoints/weightSource'
import { UserError } from '@shared/errors'
import type { ScaleRule } from '@shared/formats/quantize'
import { planFile, type TensorEntry } from '@shared/formats/safetensors'
import { layoutText } from '@shared/layouts/describe'
import type { ScaleLayout } from '@shared/layouts/layout'
import { ResumableFile } from '../../ground/resumableFile'
import type { Checkpoint } from '../../store/checkpointFile'
import {
  copySteps,
  quantizeSteps,
  readFound,
  repackSteps,
  type Found,
  type PlaceOf,
  type Step
} from './conversionSteps'
import { Meter, Stopped, type WeightWork } from './weightWork'

export interface ConversionRequest {
  /** Left out: every weight keeps its own. */
  to?: Convention
  layout: ScaleLayout
  /** Allows another format, of block-scaled weights and of matrices of real numbers. */
  requantise: boolean
  rule: ScaleRule
  /** Real tensors with such a word in their name stay as they are. */
  keep: readonly string[]
  onlyConverted: boolean
  out: string
  force: boolean
}

export interface ConvertedWeight {
  name: string
  /** What it was stored as: a convention or a dtype. */
  from: string
  to: string
  loss: WeightLoss
}

export interface Conversion {
  weights: ConvertedWeight[]
  /** Other tensors. */
  copied: number
  /** Of the converted tensors. */
  bytes: number
  /** Share of the work that earlier runs had done, 0..1. */
  resumedAt: number
}

/** One weight on its way. */
interface PlannedWeight {
  source: WeightSource
  from: string
  to: Convention
  anew: boolean
  /** Names of the tensors that it replaces. */
  replaced: string[]
  tensors: WeightTensors
}

/** Throws a UserError; or Stopped, after which the same request goes on where this one was. */
export async function convertCheckpoint(
  checkpoint: Checkpoint,
  request: ConversionRequest,
  work: WeightWork
): Promise<Conversion> {
  const weights = planWeights(checkpoint, request)
  const replaced = new Set(weights.flatMap((weight) => weight.replaced))
  const copied = request.onlyConverted
    ? []
    : [...checkpoint.tensors.values()].filter(({ name }) => !replaced.has(name))
  const converted = weights.flatMap(({ tensors }) => tensorsOf(tensors))
  const copies = copied.map((tensor) => ({ ...tensor, byteLength: tensor.end - tensor.start }))
  const metadata = { ...checkpoint.metadata, [scaleLayoutKey]: request.layout.name }
  const file = planFile(request.out, [...converted, ...copies], metadata)
  const identity = identityOf(checkpoint, request, file.head)
  const output = await ResumableFile.open(request.out, { ...file, identity }, request)
  try {
    const placeOf: PlaceOf = ({ name }) => ({
      path: output.partial,
      position: file.positions.get(name)!
    })
    const { steps, compares } = planSteps(weights, copied, checkpoint, request, placeOf)
    const found = earlierFindings(output.done, steps.length)
    const total = steps.reduce((sum, { bytes }) => sum + bytes, 0)
    const done = steps.reduce((sum, { bytes }, at) => sum + (found[at] ? bytes : 0), 0)
    await runSteps(steps, found, output, work)
    await output.commit()
    return {
      weights: weights.map(({ source, from, to }, i) => {
        const parts = compares[i]!.map((at) => found[at]!.compared!)
        return { name: source.name, from, to: to.name, loss: lossOf(addCompared(parts), source) }
      }),
      copied: copied.length,
      bytes: converted.reduce((sum, { byteLength }) => sum + byteLength, 0),
      resumedAt: total === 0 ? 0 : done / total
    }
  } catch (error) {
    // What is done stays for the next run; the first trouble is the one to tell.
    await output.leave().catch(() => {})
    throw error
  }
}

const tensorsOf = ({ codes, scales, tensorScale }: WeightTensors) => [
  codes,
  scales,
  ...(tensorScale ? [tensorScale] : [])
]

function planWeights(checkpoint: Checkpoint, request: ConversionRequest): PlannedWeight[] {
  const { to, layout, requantise, keep } = request
  if (requantise && !to) {
    throw new UserError('usage', '--requantise needs --to, the convention to convert to.')
  }
  const planned = findBlockScaledWeights(checkpoint, checkpoint.path).map((weight) => {
    const target = to ?? weight.convention
    const anew = requantise && !sameFormat(weight.convention, target)
    if (!anew) requireSameFormat(weight, target)
    const parts = [weight.codes, weight.scales, ...(weight.tensorScale ? [weight.tensorScale] : [])]
    const source = weightSource(weight)
    return {
      source,
      from: weight.convention.name,
      to: target,
      anew,
      replaced: parts.map(({ name }) => name),
      tensors: weightTensors(source, target, layout)
    }
  })
  if (requantise && to) {
    for (const tensor of checkpoint.tensors.values()) {
      if (keep.some((word) => tensor.name.includes(word))) continue
      const source = floatSource(tensor, to.scaleBlockSize)
      if (!source) continue
      const tensors = weightTensors(source, to, layout)
      planned.push({ source, from: tensor.dtype, to, anew: true, replaced: [tensor.name], tensors })
    }
  }
  if (planned.length === 0) {
    const what = requantise ? 'weights' : 'block-scaled weights'
    throw new UserError('usage', `${checkpoint.path} has no ${what} to convert.`)
  }
  return planned
}

/** The steps, and for each weight which of them compare it. */
function planSteps(
  weights: readonly PlannedWeight[],
  copied: readonly TensorEntry[],
  checkpoint: Checkpoint,
  { layout, rule }: ConversionRequest,
  placeOf: PlaceOf
): { steps: Step[]; compares: number[][] } {
  const steps: Step[] = []
  const compares = weights.map(({ source, to, anew, tensors }) => {
    const target = { to, layout, tensors, placeOf }
    if (anew || !('blocks' in source.stored)) {
      return quantizeSteps(source, target, rule, checkpoint, steps)
    }
    return repackSteps(source.stored.blocks, source, target, checkpoint, steps)
  })
  for (const tensor of copied) {
    copySteps(tensor, placeOf({ ...tensor, byteLength: 0 }), checkpoint, steps)
  }
  return { steps, compares }
}

/** What decides every byte of the file. */
function identityOf(
  checkpoint: Checkpoint,
  { layout, rule, requantise }: ConversionRequest,
  head: Uint8Array
): string {
  const rest = { files: checkpoint.files(), layout: layoutText(layout), rule, requantise }
  return createHash('sha256').update(head).update(JSON.stringify(rest)).digest('hex')
}

function earlierFindings(lines: readonly unknown[], steps: number): (Found | undefined)[] {
  const found = new Array<Found | undefined>(steps)
  for (const line of lines) {
    const one = readFound(line)
    if (one && one.at >= 0 && one.at < steps) found[one.at] = one
  }
  return found
}

async function runSteps(
  steps: readonly Step[],
  found: (Found | undefined)[],
  output: ResumableFile,
  work: WeightWork
): Promise<void> {
  const meter = new Meter(
    steps.reduce((sum, { bytes }) => sum + bytes, 0),
    work.onProgress
  )
  for (const [at, step] of steps.entries()) {
    if (work.signal.aborted) throw new Stopped('Stopped.')
    if (!found[at]) {
      const result = await step.run({
        work,
        found,
        write: (position, bytes) => output.write(position, bytes),
        progress: (activity, from, to) => meter.within(step.bytes, activity, from, to)
      })
      found[at] = { at, ...result }
      output.record(found[at])
    }
    meter.finish(step.bytes)
  }
}
