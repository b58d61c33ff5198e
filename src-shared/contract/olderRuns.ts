/**
 * Runs of version 0.1.0, as they are read: baselines stand outside pass and fail, work is that of the kernel that did it,
 * and the instruction behind each step is known. Runs that say so themselves are left as they are.
 */
import { workOf, type Work } from '../measurement/work'

interface OlderStep {
  format: string
  kernel: string
  baseline: boolean
  disposition: string
  m: number
  n: number
  k: number
  instruction: string
  work?: Work | undefined
  measurement?:
    | (Work & { timeNs: { median: number }; gbytesPerSecond: number; [more: string]: unknown })
    | undefined
}

/** Instructions of the kernels that version 0.1.0 had on a GPU; its Triton ran on Hopper and before. */
const olderInstructions: [RegExp, string][] = [
  [/^simt$/, 'fp32'],
  [/^(mma|wgmma|cublaslt-bf16|triton|triton-fast-math)$/, 'bf16'],
  [/^(wgmma-fp8-p\d+|cublaslt-fp8|cublaslt-mxfp8)$/, 'fp8'],
  [/^cublaslt-nvfp4$/, 'fp4']
]

const olderOperandBits: Record<string, number> = { 'cublaslt-bf16': 16, 'cublaslt-fp8': 8 }

const judgedDispositions = ['passed', 'incorrect', 'not-verified']

/** The sweeps of version 0.1.0 had one M and one N. */
export function bringSpecUpToDate(spec: unknown): unknown {
  if (typeof spec !== 'object' || spec === null || !('kind' in spec)) return spec
  if (spec.kind === 'validate' && 'operandsFile' in spec) {
    const { operandsFile, ...rest } = spec
    return { ...rest, operandsFiles: [operandsFile] }
  }
  if (spec.kind !== 'sweep') return spec
  const { m, n, ...rest } = spec as { m?: unknown; n?: unknown }
  return {
    ...(m !== undefined && { mValues: [m] }),
    ...(n !== undefined && { nValues: [n] }),
    ...rest
  }
}

export function bringUpToDate<
  R extends { spec: { output: string }; steps: S[] },
  S extends OlderStep
>(run: R): R {
  for (const step of run.steps) {
    if (step.baseline && judgedDispositions.includes(step.disposition))
      step.disposition = 'baseline'
    if (step.work) continue
    step.instruction ||= olderInstructions.find(([kernel]) => kernel.test(step.kernel))?.[1] ?? ''
    const { format, m, n, k, measurement } = step
    const operandBits = olderOperandBits[step.kernel] ?? 0
    step.work =
      measurement && operandBits === 0
        ? {
            flops: measurement.flops,
            bytes: measurement.bytes,
            paddedBytes: measurement.paddedBytes
          }
        : workOf(format, m, n, k, run.spec, { scaleLayout: 'linear', operandBits })
    if (!measurement) continue
    const { bytes, paddedBytes } = step.work
    Object.assign(measurement, { bytes, paddedBytes })
    measurement.gbytesPerSecond = bytes / measurement.timeNs.median
  }
  return run
}
