/** What a job will do, step by step, before any of it is done. */
import { factsOf, type DeviceFacts } from '@shared/choice/deviceFacts'
import { choiceOf, rankKernels, whyNotTaken } from '@shared/choice/choose'
import { autoKernel, type Detection, type Device, type Kernel } from '@shared/contract/devices'
import type { KernelChoice } from '@shared/contract/kernelCost'
import { defaults } from '@shared/contract/defaults'
import type { JobSpec, SweepSpec, ValidateSpec } from '@shared/contract/jobs'
import { rowsOfAll, shapeKey, type Groups, type Shaped } from '@shared/contract/groups'
import { productOf, type Shapes } from '@shared/contract/shapes'
import { basename } from 'node:path'
import { UserError } from '@shared/errors'
import { broadcastBatch, matricesOf } from '@shared/batch'
import { extentsText } from '@shared/measurement/problemText'
import { outputBytes } from '@shared/measurement/work'
import { knownName } from '@shared/knownName'
import { checkRowsOfN, checkShape, findBlockFormat } from '@shared/formats/blockFormat'
import { expandFormats, formatNamed } from '@shared/formats/formatSets'
import type { MachineMemory } from '../store/machineMemory'
import { estimateJob, type Estimate } from './estimate'
import { arrayFileOnDisk, type ReadArrayFile } from './arrays/arrayFiles'
import { filesOf } from './pythonFile'
import { readGivenFiles, type GivenFiles } from './givenFiles'
import type { ResultFile } from './resultFile'

export interface PlannedStep {
  index: number
  format: string
  kernel: Kernel
  /** 'native', 'exact', 'approximate', 'emulated'; 'unavailable' steps are recorded as not supported, with the reason. */
  level: string
  reason: string
  /** Class of the instruction that multiplies; empty where it is not known. */
  instruction: string
  /** Where `auto` was asked for and this is what it stands for. */
  choice?: KernelChoice
  /** All rows of A: with groups, those of all segments. */
  m: number
  n: number
  k: number
  groups?: Groups | undefined
}

/** `resultFile`: C of another program, which is judged in place of a kernel's. */
export interface JobPlan extends GivenFiles {
  spec: JobSpec
  device: Device
  steps: PlannedStep[]
  estimate: Estimate
  notes: string[]
}

/** Throws a UserError for an unknown device, format or kernel, or a shape that a format cannot take. */
export async function planJob(
  asked: JobSpec,
  detection: Detection,
  memory: MachineMemory,
  read: ReadArrayFile = arrayFileOnDisk
): Promise<JobPlan> {
  const device = findDevice(asked.device, detection)
  for (const file of asked.providerFiles ?? []) checkProvider(file, device, detection)
  const { operandsFile, resultFile } =
    asked.kind === 'validate' ? await readGivenFiles(asked, read) : {}
  // What is done is what is recorded: names as they are spelt here, and what a file of operands brings.
  const spec: JobSpec = {
    ...asked,
    formats: operandsFile ? [operandsFile.format.id] : asked.formats.map(formatNamed),
    kernels: asked.kernels.map((kernel) => kernelNamed(kernel, device)),
    providers: asked.providers.map((provider) => providerNamed(provider, device)),
    ...(operandsFile && {
      m: operandsFile.m,
      n: operandsFile.n,
      k: operandsFile.k,
      ...operandsFile.operation,
      operandsAs: operandsFile.as
    }),
    ...(resultFile && { output: resultFile.output })
  }
  const formats = expandFormats(spec.formats)
  const shapes = operandsFile
    ? [{ ...operandsFile.operation, m: operandsFile.m, n: operandsFile.n, k: operandsFile.k }]
    : shapesOf(spec, device)
  const known = await memory.of(device)
  const facts = factsOf(device, known.roofs)
  const steps: PlannedStep[] = []
  for (const format of formats) {
    for (const { m, n, k, groups } of shapes) {
      const block = findBlockFormat(format)
      checkShape(block, m, n, k)
      if (spec.bOrder === 'kn') checkRowsOfN(block, n)
      const choices = resultFile
        ? [givenResult(resultFile)]
        : kernelsFor({ ...spec, format, m, n, k, groups }, device, facts)
      for (const choice of choices) {
        steps.push({ index: steps.length, format, ...choice, m, n, k, ...(groups && { groups }) })
      }
    }
  }
  checkMemory(device, steps, spec)
  const files = filesOf(steps.map(({ kernel }) => kernel))
  return {
    // Files that were offered and not asked for are recorded too: the command of the run repeats it.
    spec: files.length > 0 ? { ...spec, providerFiles: asked.providerFiles ?? files } : spec,
    device,
    steps,
    estimate: estimateJob(spec, steps, device.kind === 'cpu', known),
    notes: notesOn(spec),
    operandsFile,
    resultFile
  }
}

/** A file whose kernels are for another device would be left out in silence. */
function checkProvider(file: string, device: Device, { devices }: Detection): void {
  const isOfFile = (kernel: Kernel) => kernel.python?.file === file
  if (device.kernels.some(isOfFile)) return
  const others = devices.filter(({ kernels }) => kernels.some(isOfFile)).map(({ id }) => id)
  throw new UserError(
    'usage',
    `${basename(file)} has no kernel for ${device.id}; its kernels compute on ${others.join(', ')}: choose it with --device.`
  )
}

const givenResult = ({ kernel }: ResultFile): Choice => ({
  ...{ kernel, level: 'given', reason: kernel.summary, instruction: '' }
})

/** The device of this id, or the best. Throws a UserError when it is not there. */
export function findDevice(wanted: string, detection: Detection): Device {
  const { devices, libraries } = detection
  if (wanted === 'auto') {
    const usable = devices.filter((device) => device.kernels.length > 0)
    const best = usable.find((device) => device.kind !== 'cpu') ?? usable[0]
    if (!best) throw new UserError('unavailable', 'No device was found, not even a CPU.')
    return best
  }
  const device = devices.find((candidate) => candidate.id === wanted)
  if (device && device.kernels.length === 0)
    throw new UserError(
      'unavailable',
      `${device.id} cannot be used. ${problemOf(device)}`.trimEnd()
    )
  if (device) return device
  const known = devices.map((candidate) => candidate.id).join(', ')
  if (!/^(cpu|cuda:\d+|hip:\d+)$/.test(wanted)) {
    throw new UserError('usage', `"${wanted}" is no device. Devices here: ${known}.`)
  }
  const why = wanted === 'cpu' ? '' : ` ${whyNoGpu(libraries, kindOf(wanted))}`.trimEnd()
  throw new UserError(
    'unavailable',
    `There is no device ${wanted} here.${why} Devices here: ${known}.`
  )
}

/** Why a GPU that the driver lists cannot be read; it comes without kernels then. Empty where it can. */
export const problemOf = ({ properties }: Device): string => String(properties['problem'] ?? '')

const kindOf = (device: string) => (device.startsWith('hip') ? 'hip' : 'cuda')

/** What each kind of GPU is reached through. */
const runtimes = { cuda: 'CUDA driver', hip: 'HIP runtime' }

/** Why no GPU of a kind is here, and what to do; empty where its driver is. */
export function whyNoGpu(
  libraries: Detection['libraries'],
  kind: keyof typeof runtimes = 'cuda'
): string {
  const driver = libraries.find(({ found, name }) => !found && name === runtimes[kind])
  return driver ? `${driver.reason} ${driver.remedy}`.trimEnd() : ''
}

function providerNamed(name: string, device: Device): string {
  const known = new Set(device.kernels.map((kernel) => kernel.provider))
  return knownName(name, [...known], `provider of kernels of ${device.id}`, 'Providers')
}

function kernelNamed(id: string, device: Device): string {
  if (id.toLowerCase() === autoKernel) return autoKernel
  const known = device.kernels.map((kernel) => kernel.id)
  return knownName(id, known, `kernel of ${device.id}`, 'Its kernels')
}

/** Layers of one shape are timed once. */
function distinctShapes({ rows }: Shapes): Shaped[] {
  return [...new Map(rows.map((row) => [shapeKey(productOf(row)), productOf(row)])).values()]
}

function shapesOf(spec: ValidateSpec | SweepSpec, device: Device): Shaped[] {
  if (spec.shapes) return distinctShapes(spec.shapes)
  const usual = device.kind === 'cpu' ? defaults.extent.cpu : defaults.extent.gpu
  const { groups } = spec
  const ofGroups = groups && { m: rowsOfAll(groups), groups }
  if (spec.kind === 'validate')
    return [{ m: spec.m ?? usual, n: spec.n ?? usual, k: spec.k ?? usual, ...ofGroups }]
  const several = (values: readonly number[]) => new Set(values.length > 0 ? values : [usual])
  return [...several(groups ? [rowsOfAll(groups)] : spec.mValues)].flatMap((m) =>
    [...several(spec.nValues)].flatMap((n) =>
      [...several(spec.kValues)].map((k) => ({ m, n, k, ...ofGroups }))
    )
  )
}

type Choice = Pick<PlannedStep, 'kernel' | 'level' | 'reason' | 'instruction' | 'choice'>

/** What is asked of the kernels: a job's, for one format and shape. */
type Wanted = JobSpec & Shaped & { format: string }

/**
 * The kernels a format is run with: those named, else all that can do it with instructions of the device. A CPU's
 * kernels are one algorithm for different instruction sets, so a sweep takes the first (best) of them, and those of a
 * person's own.
 */
function kernelsFor(spec: Wanted, device: Device, facts: DeviceFacts): Choice[] {
  const { providers, format } = spec
  const offered = device.kernels.filter(
    ({ provider }) => providers.length === 0 || providers.includes(provider)
  )
  const choices = offered.map((kernel): Choice => {
    const { level, reason, instruction } = kernel.capabilities.find(
      (entry) => entry.format === format
    ) ?? { level: 'unavailable', reason: `${kernel.id} does not know ${format}.`, instruction: '' }
    const why = level === 'unavailable' ? reason : whyNotTaken(kernel, spec)
    return why === undefined
      ? { kernel, level, reason, instruction }
      : { kernel, level: 'unavailable', reason: why, instruction: '' }
  })
  if (spec.kernels.includes(autoKernel)) return withAuto(choices, spec, facts)
  const named = spec.kernels.length > 0
  const asked = named
    ? choices.filter((choice) => spec.kernels.includes(choice.kernel.id))
    : choices.filter(({ level }) => level !== 'emulated')
  const able = asked.filter((choice) => choice.level !== 'unavailable')
  // Nothing can do it: one step says so for each kernel that was asked.
  if (able.length === 0) return asked
  if (named) return able
  if (spec.kind === 'validate') return able.filter((choice) => !choice.kernel.baseline)
  if (device.kind !== 'cpu') return able
  const own = able.filter(({ kernel }) => !kernel.python)
  return [...own.slice(0, 1), ...able.filter(({ kernel }) => kernel.python)]
}

/** The kernels that are named beside `auto`, and the one that it stands for: once, and marked. */
function withAuto(choices: Choice[], spec: Wanted, facts: DeviceFacts): Choice[] {
  const kernels = choices.map(({ kernel }) => kernel)
  const choice = choiceOf(rankKernels(kernels, facts, spec), spec)
  const chosen = choices.flatMap((one) =>
    one.kernel.id === choice.kernel ? { ...one, choice } : []
  )
  const named = choices.filter(({ kernel }) => spec.kernels.includes(kernel.id))
  const others = named.filter(({ kernel }) => kernel.id !== choice.kernel)
  const able = others.filter(({ level }) => level !== 'unavailable')
  if (chosen.length + able.length > 0) return [...chosen, ...able]
  // Nothing can do it: each kernel of the device says why.
  return choices
}

/** Refuses what cannot fit before hours are spent on it. */
function checkMemory(device: Device, steps: PlannedStep[], spec: JobSpec): void {
  const available = device.properties['memoryBytes']
  if (typeof available !== 'number') return
  for (const { m, n, k, groups } of steps) {
    // One code per byte for A and B, C, its accumulator, and its float64 reference.
    const ofC = 8 + outputBytes[spec.output]! + (spec.accumulate ? 4 : 0)
    const matrices = matricesOf(broadcastBatch(spec.batchA, spec.batchB) ?? [])
    const needed =
      k * (m * matricesOf(spec.batchA) + n * (groups?.rows.length ?? matricesOf(spec.batchB))) +
      matrices * m * n * ofC
    if (needed > available) {
      const gib = (bytes: number) => (bytes / 2 ** 30).toFixed(1)
      throw new UserError(
        'usage',
        `${extentsText({ m, n, k, groups })} needs at least ${gib(needed)} GiB, and ${device.id} has ` +
          `${gib(available)} GiB. Choose a smaller shape.`
      )
    }
  }
}

function notesOn(spec: JobSpec): string[] {
  const notes: string[] = []
  if (spec.distribution === 'zeros') {
    notes.push('All operands are zero: power, and so clocks, are better than real data allows.')
  }
  return notes
}
