/** How many times as fast one kernel is as others, at the same format and shape. */
import { shapeKey, type Shaped } from '../contract/groups'
import type { Run, Step } from '../contract/run'
import { familyOf } from './marks'

/** What is compared has this in common. */
export const pointOf = (of: Pick<Step, 'format'> & Shaped): string => `${of.format} ${shapeKey(of)}`
/** The same step in another run. */
export const stepKey = (step: Step): string => `${step.kernel} ${pointOf(step)}`

export type StepRatio = (step: Step) => number | undefined
type StepRate = (step: Step) => number | undefined

const medianRate: StepRate = ({ measurement }) => measurement?.tflops

/** TFLOP/s back to back; undefined where that was not measured. */
export const sustainedRate: StepRate = ({ measurement }) =>
  measurement && measurement.sustainedNs > 0
    ? measurement.flops / measurement.sustainedNs / 1e3
    : undefined

/** Rate over the best rate among `peers` in the same place; undefined where none of them, or not the step, was measured. */
export function ratioToBest(
  peers: readonly Step[],
  placeOf: (step: Step) => string = pointOf,
  rateOf = medianRate
): StepRatio {
  const best = new Map<string, number>()
  for (const step of peers) {
    const rate = rateOf(step) ?? 0
    if (rate > (best.get(placeOf(step)) ?? 0)) best.set(placeOf(step), rate)
  }
  return (step) => {
    const rate = best.get(placeOf(step))
    const own = rateOf(step)
    return rate && own !== undefined && Number.isFinite(own) ? own / rate : undefined
  }
}

export interface Peer {
  /** Of a column: '× bf16'. */
  title: string
  /** Of a field in CSV. */
  field: string
  ratioOf: StepRatio
}

/**
 * What every run is compared with where it was timed in the same run: the baseline that multiplies bf16 dequantised
 * beforehand, and the best of cuBLASLt or hipBLASLt, whichever of its kernels that is.
 */
export function peersOf(
  { steps }: Pick<Run, 'steps'>,
  rateOf = medianRate
): (Peer & { isThere: boolean })[] {
  const peer = (title: string, field: string, isPeer: (step: Step) => boolean) => {
    const own = steps.filter((step) => rateOf(step) !== undefined && isPeer(step))
    return { title, field, ratioOf: ratioToBest(own, pointOf, rateOf), isThere: own.length > 0 }
  }
  return [
    peer('× bf16', 'ratio_to_bf16', (step) => step.baseline && step.instruction === 'bf16'),
    peer('× cuBLASLt', 'ratio_to_cublaslt', (step) => familyOf(step) === 'cublaslt'),
    peer('× hipBLASLt', 'ratio_to_hipblaslt', (step) => familyOf(step) === 'hipblaslt')
  ]
}
