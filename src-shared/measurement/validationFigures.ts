/** What a validation says in words and in single figures, for every place that shows one. */
import { findingSentences } from '../judge/findingWords'
import type { OutputType } from '../contract/jobs'
import type { Counted, Step, Validation } from '../contract/run'
import { percent } from '../units'

/** kStatedTail of native/core/statedError.h. */
export const statedTail = 32

type Rule = Pick<Validation, 'atol' | 'rtol' | 'rule' | 'statedError'>

/** The rule by which an element passed, in one sentence. */
export function ruleOf({ atol, rtol, rule, statedError }: Rule): string {
  const within = `|got - ref| <= ${atol} + ${rtol} |ref|`
  return rule === 'assert-close'
    ? `An element passes when ${within}, and by nothing else (assert-close).`
    : `An element passes when ${within}, when a number that near rounds to it in the output type, or when its error is ` +
        'below 2^-24 max(8, sqrt(K)) of |A| |B| (cancellation).' +
        (statedError === undefined
          ? ''
          : ` The kernel states a norm-wise error of ${statedError.toExponential(1)} before C is rounded: C as a whole keeps to it, and an element may be off by ${statedTail} times its rows' share of it.`)
}

/** Elements that no tolerance let pass, only an allowance; undefined in runs that did not count them. */
export function passedByAllowance(validation: Validation): number | undefined {
  const { withinRounding, withinCancellation } = validation
  if (withinRounding === undefined || withinCancellation === undefined) return undefined
  return withinRounding + withinCancellation
}

/** Of a baseline none: it computes something else, and near a zero any difference is a great many units in the last place. */
export const ulpsAboveRounding = ({
  baseline,
  validation
}: Pick<Step, 'baseline' | 'validation'>): number | undefined =>
  baseline ? undefined : validation?.maxUlpsAboveRounding

/** What an approximate kernel makes of what it states: 'error 1.3e-4 of 1.5e-4 stated'; undefined where it states none. */
export function statedText(
  validation: Pick<Validation, 'statedError' | 'errorBeforeRounding'> | undefined
): string | undefined {
  const { statedError, errorBeforeRounding } = validation ?? {}
  if (statedError === undefined || errorBeforeRounding === undefined) return undefined
  return `error ${errorBeforeRounding.toExponential(1)} of ${statedError.toExponential(1)} stated`
}

/**
 * Time of the kernel's own launches for one operation: the shortest of the runs that validation makes, without operands,
 * reference, perturbation and comparison. Undefined where it was not taken (runs of version 0.1.0).
 */
export function ownLaunchNs(
  validation: Pick<Validation, 'launchNs'> | undefined
): number | undefined {
  const known = (validation?.launchNs ?? []).filter((ns) => ns > 0)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** What a kernel counted, as shares: 'intervals proved: P = 128 99.8 %, P = 64 0.2 %'; undefined where it counted nothing. */
export function countedText(counted: Counted | undefined): string | undefined {
  const all = counted?.counts.reduce((sum, one) => sum + one, 0)
  if (!counted || !all) return undefined
  const told = counted.labels.flatMap((label, at) => {
    const share = counted.counts[at]! / all
    // A large share to a tenth too: what is left of it is told beside it.
    const text = share < 0.1 ? percent(share) : `${(100 * share).toFixed(1)} %`
    return share > 0 ? [`${label} ${text}`] : []
  })
  return `${counted.of}: ${told.join(', ')}`
}

/** Largest error / tolerance; of runs that did not keep it, the largest of the error map, which has it tile by tile. */
export function toleranceShareOf(
  validation: Pick<Validation, 'maxToleranceShare' | 'errorMap'>
): number | undefined {
  if (validation.maxToleranceShare !== undefined) return validation.maxToleranceShare
  return validation.errorMap.length > 0 ? Math.max(...validation.errorMap) : undefined
}

/** Half a unit in the last place over the value, at most: IEEE 754 binary16 and binary32, bfloat16, OCP FP8 v1.0. */
const unitRoundoff: Readonly<Record<OutputType, number>> = {
  f16: 2 ** -11,
  bf16: 2 ** -8,
  f32: 2 ** -24,
  e4m3: 2 ** -4,
  e5m2: 2 ** -3
}

/**
 * What rounding C to its type costs of the tolerance at most, as a share of it: u |ref| / (atol + rtol |ref|) nears u / rtol.
 * Undefined without a relative tolerance, where it has no bound.
 */
export function roundingShareOf(output: OutputType, rtol: number): number | undefined {
  return rtol > 0 ? unitRoundoff[output] / rtol : undefined
}

/** What a product of another program says of how it was made, sentence by sentence; empty where it was not looked at. */
export function mistakesOf({ disposition, validation }: Step): string[] {
  const { judgement } = validation ?? {}
  if (!judgement) return []
  return findingSentences(judgement.findings, disposition === 'passed')
}
