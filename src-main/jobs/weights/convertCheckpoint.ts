/** A checkpoint in another convention, scale layout or format: planned as a whole, done in steps, resumed after a kill. */
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import type { Convention } from '@shared/checkpoints/convention'
import {
  findWeights,
  scaleLayoutKey,
  unsureText,
  type Named
} from '@shared/checkpoints/conventions'
import {
  ownScaleLayout,
  requireSameFormat,
  sameFormat,
  weightTensors,
  writtenWeight,
  type WeightTensors
} from '@shared/checkpoints/convert'
import { readTensorScales } from '@shared/checkpoints/tensorScale'
import { addCompared, lossOf, type WeightLoss } from '@shared/checkpoints/loss'
import { floatSource, weightSource, type WeightSource } from '@shared/checkpoints/weightSource'
import { UserError } from '@shared/errors'
import type { ScaleRule } from '@shared/formats/quantize'
import { isSafetensorsDtype, planFile, type TensorEntry } from '@shared/formats/safetensors'
import { layoutText } from '@shared/layouts/describe'
import type { ScaleLayout } from '@shared/layouts/layout'
import { layouts } from '@shared/layouts/registry'
import { ResumableFile } from '../../ground/resumableFile'
import type { Checkpoint } from '../../store/checkpointFile'
import {
  copySteps,
  quantizeSteps,
  readFound,
  repackSteps,
  type Found,
  type NewFile,
  type Step
} from './conversionSteps'
import { Scratch } from '../../ground/scratch'
import { Meter, Stopped, type WeightWork } from './weightWork'

export interface ConversionRequest {
  /** Left out: every weight keeps its own. */
  to?: Convention
  /** Left out: as the convention has them. */
  layout?: ScaleLayout
  /** What a person said about the weights of the file. */
  named: Named
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
  layout: ScaleLayout
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
  requireDtypes(checkpoint, copied)
  const copies = copied.map((tensor) => ({ ...tensor, byteLength: tensor.end - tensor.start }))
  const metadata = describedLayout(checkpoint.metadata, weights)
  const file = planFile(request.out, [...converted, ...copies], metadata)
  const identity = identityOf(checkpoint, request, file.head)
  const output = await ResumableFile.open(request.out, { ...file, identity }, request)
  const written = openWritten(output.partial)
  try {
    const { positions } = file
    const { steps, compares } = planSteps(weights, copied, checkpoint, request, positions, written)
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
  } finally {
    await written.close()
  }
}

/** The unfinished file, read where it is written. */
function openWritten(path: string): NewFile & { close(): Promise<void> } {
  const descriptor = openSync(path, 'r')
  const scratch = {
    original: new Scratch(`${path}.rows-in`),
    converted: new Scratch(`${path}.rows-out`)
  }
  return {
    scratch,
    placeOf: ({ start }) => ({ path, position: start }),
    read: ({ start }, from, to) => {
      const bytes = new Uint8Array(to - from)
      for (let done = 0; done < bytes.length;) {
        const count = readSync(descriptor, bytes, done, bytes.length - done, start + from + done)
        if (count === 0) throw new Error(`${path} ended early.`)
        done += count
      }
      return bytes
    },
    async close() {
      closeSync(descriptor)
      await scratch.original.remove()
      await scratch.converted.remove()
    }
  }
}

/** Says the layout of the scales where it is one of the registry, and of all weights. */
function describedLayout(
  metadata: Record<string, string>,
  weights: readonly PlannedWeight[]
): Record<string, string> {
  const all = new Set(weights.map(({ layout }) => layout))
  const rest = Object.entries(metadata).filter(([key]) => key !== scaleLayoutKey)
  const said = layouts.filter((layout) => all.size === 1 && all.has(layout))
  return Object.fromEntries([...rest, ...said.map(({ name }) => [scaleLayoutKey, name] as const)])
}

/** Throws a UserError when a tensor has a dtype that the new file cannot have. */
function requireDtypes(checkpoint: Checkpoint, copied: readonly TensorEntry[]): void {
  const strange = copied.filter(({ dtype }) => !isSafetensorsDtype(dtype))
  if (strange.length === 0) return
  const dtypes = [...new Set(strange.map(({ dtype }) => dtype))].join(', ')
  throw new UserError(
    'usage',
    `${checkpoint.path} has ${strange.length} tensors of ${dtypes}, such as "${strange[0]!.name}", which a .safetensors file cannot hold; --only-converted leaves all other tensors out.`
  )
}

const tensorsOf = ({ codes, scales, tensorScale }: WeightTensors) => [
  codes,
  ...(scales ? [scales] : []),
  ...(tensorScale ? [tensorScale] : [])
]

const isThere = (tensor: TensorEntry | undefined): tensor is TensorEntry => tensor !== undefined

function planWeights(checkpoint: Checkpoint, request: ConversionRequest): PlannedWeight[] {
  const { to, requantise, keep, named } = request
  if (requantise && !to) {
    throw new UserError('usage', '--requantise needs --to, the convention to convert to.')
  }
  const { weights, unsure } = findWeights(checkpoint, checkpoint.path, named)
  // They would be copied as if they were no weights.
  if (unsure[0]) throw new UserError('usage', `${checkpoint.path}: ${unsureText(unsure[0])}`)
  const planned = weights.map((weight): PlannedWeight => {
    const target = to ?? weight.convention
    const layout = request.layout ?? ownScaleLayout(target)
    const anew = requantise && !sameFormat(weight.convention, target)
    if (!anew) {
      requireSameFormat(weight, target, readTensorScales(weight, checkpoint.read))
    }
    const parts = [weight.codes, weight.scales, weight.tensorScale].filter(isThere)
    const source = weightSource(weight)
    return {
      source,
      from: weight.convention.name,
      to: target,
      layout,
      anew,
      replaced: parts.map(({ name }) => name),
      tensors: weightTensors(source, target, layout)
    }
  })
  if (requantise && to) {
    const layout = request.layout ?? ownScaleLayout(to)
    for (const tensor of checkpoint.tensors.values()) {
      if (keep.some((word) => tensor.name.includes(word))) continue
      const source = floatSource(tensor, to.scaleBlockSize)
      if (!source) continue
      const tensors = weightTensors(source, to, layout)
      const [from, replaced] = [tensor.dtype, [tensor.name]]
      planned.push({ source, from, to, layout, anew: true, replaced, tensors })
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
  { rule }: ConversionRequest,
  positions: ReadonlyMap<string, number>,
  file: NewFile
): { steps: Step[]; compares: number[][] } {
  const steps: Step[] = []
  const compares = weights.map(({ source, to, layout, anew, tensors }) => {
    const target = { weight: writtenWeight(source, to, layout, tensors, positions), file }
    if (anew || !('blocks' in source.stored)) {
      return quantizeSteps(source, target, rule, checkpoint, steps)
    }
    return repackSteps(source.stored.blocks, source, target, checkpoint, steps)
  })
  for (const tensor of copied) {
    const place = file.placeOf({ ...tensor, start: positions.get(tensor.name)! })
    copySteps(tensor, place, checkpoint, steps)
  }
  return { steps, compares }
}

/** What decides every byte of the file. */
function identityOf(
  checkpoint: Checkpoint,
  { layout, rule, requantise, named }: ConversionRequest,
  head: Uint8Array
): string {
  const said = [
    named.convention?.name,
    named.scaleLayout && layoutText(named.scaleLayout),
    named.own && JSON.stringify(named.own)
  ]
  const own = layout ? layoutText(layout) : ''
  const rest = { files: checkpoint.files(), layout: own, rule, requantise, said }
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
