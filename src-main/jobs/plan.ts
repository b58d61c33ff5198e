/** What a job will do, step by step, before any of it is done. */
import type { Detection, Device, Kernel } from '@shared/contract/devices'
import type { JobSpec, SweepSpec, ValidateSpec } from '@shared/contract/jobs'
import { UserError } from '@shared/errors'
import { blockFormats, checkShape, findBlockFormat } from '@shared/formats/blockFormat'
import { presets } from '@shared/measurement/presets'
import { workOf } from '@shared/measurement/work'
import { readOperandsFile, type OperandsFile } from './operandsFile'

export interface PlannedStep {
  index: number
  format: string
  kernel: Kernel
  /** 'native', 'exact', 'approximate'; 'unavailable' steps are recorded as not supported, with the reason. */
  level: string
  reason: string
  m: number
  n: number
  k: number
}

export interface JobPlan {
  spec: JobSpec
  device: Device
  steps: PlannedStep[]
  secondsExpected: number
  notes: string[]
  operandsFile?: OperandsFile
}

/** Throws a UserError for an unknown device, format or kernel, or a shape that a format cannot take. */
export async function planJob(spec: JobSpec, detection: Detection): Promise<JobPlan> {
  const device = findDevice(spec.device, detection)
  const operandsFile =
    spec.kind === 'validate' && spec.operandsFile
      ? await readOperandsFile(spec.operandsFile)
      : undefined
  const formats = operandsFile ? [operandsFile.format] : expandFormats(spec.formats)
  for (const kernel of spec.kernels) checkKernelName(kernel, device)
  const shapes = operandsFile ? [operandsFile] : shapesOf(spec, device)
  const steps: PlannedStep[] = []
  for (const format of formats) {
    for (const { m, n, k } of shapes) {
      checkShape(findBlockFormat(format), m, n, k)
      for (const choice of kernelsFor(format, spec, device)) {
        steps.push({ index: steps.length, format, ...choice, m, n, k })
      }
    }
  }
  checkMemory(device, steps, spec)
  return {
    spec,
    device,
    steps,
    secondsExpected: expectedSeconds(spec, device, steps),
    notes: notesOn(spec),
    operandsFile
  }
}

function findDevice(wanted: string, detection: Detection): Device {
  const { devices, libraries } = detection
  if (wanted === 'auto') {
    const usable = devices.filter((device) => device.kernels.length > 0)
    const best = usable.find((device) => device.kind !== 'cpu') ?? usable[0]
    if (!best) throw new UserError('unavailable', 'No device was found, not even a CPU.')
    return best
  }
  const device = devices.find((candidate) => candidate.id === wanted)
  // A GPU that the driver lists and cannot read comes without kernels, with the reason.
  if (device && device.kernels.length === 0) {
    const { problem } = device.properties
    throw new UserError(
      'unavailable',
      `${device.id} cannot be used. ${String(problem ?? '')}`.trimEnd()
    )
  }
  if (device) return device
  const known = devices.map((candidate) => candidate.id).join(', ')
  if (!/^(cpu|cuda:\d+|hip:\d+)$/.test(wanted)) {
    throw new UserError('usage', `"${wanted}" is no device. Devices here: ${known}.`)
  }
  const driver = libraries.find((library) => !library.found && /driver/i.test(library.name))
  const why =
    wanted.startsWith('cuda') && driver ? ` ${driver.reason} ${driver.remedy}`.trimEnd() : ''
  throw new UserError(
    'unavailable',
    `There is no device ${wanted} here.${why} Devices here: ${known}.`
  )
}

function expandFormats(names: readonly string[]): string[] {
  const all = names.flatMap((name) =>
    name === 'all' ? blockFormats.map((format) => format.id) : [findBlockFormat(name).id]
  )
  return [...new Set(all)]
}

function checkKernelName(id: string, device: Device): void {
  if (device.kernels.some((kernel) => kernel.id === id)) return
  const known = device.kernels.map((kernel) => kernel.id).join(', ')
  throw new UserError('usage', `${device.id} has no kernel "${id}". Its kernels: ${known}.`)
}

function shapesOf(
  spec: ValidateSpec | SweepSpec,
  device: Device
): { m: number; n: number; k: number }[] {
  const usual = device.kind === 'cpu' ? 1024 : 8192
  const m = spec.m ?? usual
  const n = spec.n ?? usual
  if (spec.kind === 'validate') return [{ m, n, k: spec.k ?? usual }]
  return [...new Set(spec.kValues)].map((k) => ({ m, n, k }))
}

type Choice = Pick<PlannedStep, 'kernel' | 'level' | 'reason'>

/**
 * The kernels a format is run with: those named, else all that can do it. A CPU's kernels are one algorithm for
 * different instruction sets, so a sweep takes the first (best) of them.
 */
function kernelsFor(format: string, spec: JobSpec, device: Device): Choice[] {
  const choices = device.kernels.map((kernel) => {
    const capability = kernel.capabilities.find((entry) => entry.format === format)
    return {
      kernel,
      level: capability?.level ?? 'unavailable',
      reason: capability?.reason ?? `${kernel.id} does not know ${format}.`
    }
  })
  const named = spec.kernels.length > 0
  const asked = named
    ? choices.filter((choice) => spec.kernels.includes(choice.kernel.id))
    : choices
  const able = asked.filter((choice) => choice.level !== 'unavailable')
  // Nothing can do it: one step says so for each kernel that was asked.
  if (able.length === 0) return asked
  if (named) return able
  if (spec.kind === 'validate') return able.filter((choice) => !choice.kernel.baseline)
  return device.kind === 'cpu' ? able.slice(0, 1) : able
}

/** Refuses what cannot fit before hours are spent on it. */
function checkMemory(device: Device, steps: PlannedStep[], spec: JobSpec): void {
  const available = device.properties['memoryBytes']
  if (typeof available !== 'number') return
  for (const { m, n, k } of steps) {
    // One code per byte for A and B, C, and its float64 reference.
    const needed = m * k + n * k + m * n * (8 + (spec.output === 'f32' ? 4 : 2))
    if (needed > available) {
      const gib = (bytes: number) => (bytes / 2 ** 30).toFixed(1)
      throw new UserError(
        'usage',
        `M=${m} N=${n} K=${k} needs at least ${gib(needed)} GiB, and ${device.id} has ` +
          `${gib(available)} GiB. Choose a smaller shape.`
      )
    }
  }
}

/** Rough, from a plain guess of throughput; the running job corrects it as it goes. */
function expectedSeconds(spec: JobSpec, device: Device, steps: PlannedStep[]): number {
  const gflops = device.kind === 'cpu' ? 100 : 200_000
  const oracleGflops = device.kind === 'cpu' ? 20 : 10_000
  let seconds = 0
  for (const step of steps) {
    const work = workOf(step.format, step.m, step.n, step.k, spec.output, step.kernel.scaleLayout)
    const once = work.flops / 1e9 / gflops
    seconds +=
      (work.flops / 1e9 / oracleGflops) * (1 / Math.max(1, step.kernel.capabilities.length)) +
      4 * once
    if (spec.kind === 'sweep') {
      const preset = presets[spec.preset]
      const timed = spec.reps
        ? spec.reps * once
        : Math.max(preset.minTimeNs / 1e9, preset.minSamples * once)
      seconds += (spec.rounds ?? preset.rounds) * (preset.laterWarmupNs / 1e9 + timed + 0.05)
    }
  }
  return seconds
}

function notesOn(spec: JobSpec): string[] {
  const notes: string[] = []
  if (spec.distribution === 'zeros') {
    notes.push('All operands are zero: power, and so clocks, are better than real data allows.')
  }
  return notes
}
