/** Points of a gate judged, and the gate's own verdict: it passes when every point does, and never for want of one. */
import type { GatePoint, GateProblem, GateResult, GateSide, GateVerdict } from '../contract/gate'
import { gateVerdicts } from '../contract/gate'
import { estimateFromPairs, estimateFromSamples, verdictOn, type TimePair } from './gateVerdict'
import { median } from './statistics'

/** More change of the clock than this between two times that were not taken beside one another, and neither counts. */
const mostClockChange = 0.02

export interface GateRule {
  /** Of all points together. */
  confidence: number
  margin: number
}

/** Of one interval among so many: what may go wrong is divided among them (Bonferroni). */
export const confidenceOfEach = (confidence: number, points: number): number =>
  1 - (1 - confidence) / Math.max(1, points)

const observationsOf = ({ samplesNs }: GateSide): number[] => samplesNs.map(median)

/** `isPaired`: visits of the two stand beside one another, one by one. `confidence` is of this one interval. */
export function judgePoint(
  problem: GateProblem,
  base: GateSide,
  tested: GateSide,
  isPaired: boolean,
  confidence: number,
  margin: number
): GatePoint {
  const [before, after] = [observationsOf(base), observationsOf(tested)]
  const estimate = isPaired
    ? estimateFromPairs(
        before.map((ns, at): TimePair => [ns, after[at]!]),
        confidence
      )
    : estimateFromSamples(before, after, confidence)
  const sides = { base, new: tested }
  const clocks = !isPaired && clockChange(base, tested)
  if (clocks) return { ...problem, ...sides, estimate, verdict: 'insufficient', reason: clocks }
  return { ...problem, ...sides, estimate, ...verdictOn(estimate, margin) }
}

function clockChange(base: GateSide, tested: GateSide): string | undefined {
  const [then, now] = [base.meanMHz, tested.meanMHz]
  if (!(then > 0 && now > 0) || Math.abs(now / then - 1) <= mostClockChange) return undefined
  return `the clock was ${then.toFixed(0)} MHz then and ${now.toFixed(0)} MHz now: the times do not compare.`
}

/** A point that has no times to judge. */
export function failedPoint(
  problem: GateProblem,
  kernels: { base: string; new: string },
  reason: string
): GatePoint {
  const side = (kernel: string): GateSide => ({
    ...{ kernel, sourceHash: '', samplesNs: [], meanMHz: 0, badges: [] }
  })
  const estimate = { method: 'pairs', observations: 0, confidence: 0 } as const
  const sides = { base: side(kernels.base), new: side(kernels.new) }
  return { ...problem, ...sides, estimate, verdict: 'failed', reason }
}

export const isPassed = (verdict: GateVerdict): boolean =>
  verdict === 'same' || verdict === 'faster'

/** Whether all points pass, and how many there are of each; a gate that compared nothing has let nothing through. */
export function gateOutcome(points: readonly GatePoint[]): Pick<GateResult, 'passed' | 'sentence'> {
  if (points.length === 0) return { passed: false, sentence: 'nothing was compared' }
  const of = (verdict: GateVerdict) => points.filter((point) => point.verdict === verdict).length
  const counts = gateVerdicts
    .filter((verdict) => of(verdict) > 0)
    .map((verdict) => `${of(verdict)} ${verdict}`)
  const passed = points.filter(({ verdict }) => isPassed(verdict)).length
  return {
    passed: passed === points.length,
    sentence: `${passed} of ${points.length} passed: ${counts.join(', ')}`
  }
}
