/** What a device is asked when it is examined, and what the answers say. */
import { defaults } from '../contract/defaults'
import { isEmulation, type Device, type Kernel, type Target } from '../contract/devices'
import type { DeviceReport, Twin } from '../contract/deviceReport'
import type { SweepSpecInput, ValidateSpecInput } from '../contract/jobs'
import type { Run } from '../contract/run'
import { blockFormats } from '../formats/blockFormat'
import { counted } from '../units'
import { isFailed, outcomeOf } from './outcome'

/** The kernel that emulates another's instruction, which is all that differs, has its id with this behind it. */
const emulated = '-emulated'

interface Pair {
  kernel: Kernel
  emulation: Kernel
  /** What the instruction of the device itself computes. */
  formats: string[]
}

/** Kernels with an instruction of the device's own, beside the same source with that instruction emulated. */
export function pairsOf({ kernels }: Device): Pair[] {
  return kernels.filter(isEmulation).flatMap((emulation) => {
    const kernel = kernels.find(({ id }) => id + emulated === emulation.id)
    const formats = (kernel?.capabilities ?? [])
      .filter(({ level }) => level === 'native')
      .map(({ format }) => format)
      .filter((format) =>
        emulation.capabilities.some((one) => one.format === format && one.level === 'emulated')
      )
    return kernel && formats.length > 0 ? [{ kernel, emulation, formats }] : []
  })
}

/** Whether a kernel here computes anything on it. */
export const canCompute = ({ kernels }: Device): boolean =>
  kernels.some((kernel) => kernel.capabilities.some(({ level }) => level !== 'unavailable'))

/** One tile of each kernel and its twin; float32, so that a bit of difference is seen. */
export const pairSpec = (
  device: Device,
  { kernel, emulation, formats }: Pair
): ValidateSpecInput => ({
  ...{ kind: 'validate', device: device.id, formats, output: 'f32', m: 128, n: 128, k: 512 },
  kernels: [kernel.id, emulation.id]
})

/** Every kernel in every named format, at a shape that takes seconds. */
export const validationSpec = (device: Device): ValidateSpecInput => ({
  ...{ kind: 'validate', device: device.id, m: 256, n: 256, k: 512 },
  formats: blockFormats.map(({ id }) => id)
})

/** A short look at speed. */
export const sweepSpec = (device: Device): SweepSpecInput => {
  const extent = device.kind === 'cpu' ? 256 : 2048
  return {
    ...{ kind: 'sweep', device: device.id, preset: 'quick', rounds: 1 },
    formats: [...defaults.formats],
    ...{ mValues: [extent], nValues: [extent], kValues: [extent / 2, extent] }
  }
}

/** How a kernel and its twin agree, by what a validation of both found. */
export function twinsOf({ kernel, emulation, formats }: Pair, run: Run): Twin[] {
  return formats.map((format) => {
    const stepOf = (id: string) =>
      run.steps.find((step) => step.kernel === id && step.format === format)
    const [own, other] = [stepOf(kernel.id), stepOf(emulation.id)]
    const [digest, expected] = [own, other].map((step) => step?.validation?.outputDigest)
    const agrees = digest !== undefined && digest === expected
    const named = { kernel: kernel.id, emulation: emulation.id, format, agrees }
    if (agrees) return { ...named, reason: '' }
    const failed = [own, other].find((step) => step && isFailed(step))
    const reason = failed
      ? `${failed.kernel}: ${failed.reason || failed.disposition}`
      : digest === undefined || expected === undefined
        ? 'One of them was not run.'
        : `Both pass; C differs: normwise error ${[own, other].map((step) => step!.validation!.normwise.toExponential(2)).join(' against ')}.`
    return { ...named, reason }
  })
}

/** 'native mma-block-scale: 7 of 7 formats agree with the emulation, bit for bit', and what does not. */
export function twinLines(twins: readonly Twin[]): string[] {
  const kernels = [...new Set(twins.map(({ kernel }) => kernel))]
  return kernels.flatMap((kernel) => {
    const own = twins.filter((twin) => twin.kernel === kernel)
    const agreeing = own.filter(({ agrees }) => agrees).length
    return [
      `native ${kernel}: ${agreeing} of ${counted(own.length, 'format')} agree with the emulation, bit for bit`,
      ...own.filter(({ agrees }) => !agrees).map(({ format, reason }) => `  ${format}: ${reason}`)
    ]
  })
}

/** The fastest of each format's kernels at the largest product of a sweep. */
export function fastestLines(sweep: Run): string[] {
  const timed = sweep.steps.filter((step) => step.measurement && step.disposition === 'passed')
  const largest = Math.max(...timed.map(({ k }) => k))
  const formats = [...new Set(timed.map(({ format }) => format))]
  return formats.map((format) => {
    const best = timed
      .filter((step) => step.format === format && step.k === largest)
      .toSorted((one, other) => other.measurement!.tflops - one.measurement!.tflops)[0]!
    const rate = Number(best.measurement!.tflops.toPrecision(3))
    return `${format} ${best.kernel} ${rate} TFLOP/s at ${best.m} x ${best.n} x ${best.k}`
  })
}

/** Whether all that was looked at is as it should be. */
export function isSound({ twins, validation, sweep }: DeviceReport): boolean {
  const runs = [validation, sweep].filter((run) => run !== undefined)
  return (
    twins.every(({ agrees }) => agrees) &&
    runs.every((run) => ['passed', 'reference'].includes(outcomeOf(run).verdict))
  )
}

/** A report, and whether it is of this machine. */
export interface KeptReport {
  name: string
  isHere: boolean
  report: DeviceReport
}

/** A target with what reports say of it: run here, or by someone, whose file is named. */
export function provenBy(target: Target, kept: readonly KeptReport[]): Target {
  const proofs = kept
    .map((one) => ({ ...one, formats: formatsThatPass(target, one.report) }))
    .filter(({ formats }) => formats > 0)
  const best = proofs.find(({ isHere }) => isHere) ?? proofs[0]
  if (!best) return target
  const { device, createdAt, twins } = best.report
  const agreement = twins.length > 0 ? ` ${twinLines(twins).join('; ')}.` : ''
  const note = `${counted(best.formats, 'format')} passed on ${device.name}, ${createdAt.slice(0, 10)} (${best.name}).${agreement}`
  return { ...target, state: best.isHere ? 'run-here' : 'run', note }
}

/** How many formats passed there with kernels that are the target's own. */
function formatsThatPass(
  { devices, kernels }: Target,
  { device, validation }: DeviceReport
): number {
  if (!devices?.some((name) => device.architecture.startsWith(name))) return 0
  const passed = (validation?.steps ?? []).filter(
    ({ kernel, disposition }) => disposition === 'passed' && kernels?.includes(kernel)
  )
  return new Set(passed.map(({ format }) => format)).size
}
