/**
 * What `auto` stands for: the kernels of a device in the order in which a person would want them for one problem. Those that
 * compute it exactly come first, among them the one that is expected to be fastest (cost.ts).
 */
import type { CapabilityLevel, FeatureId, Kernel } from '../contract/devices'
import type { KernelChoice } from '../contract/kernelCost'
import { matricesOf } from '../batch'
import { counted } from '../units'
import { plainOperation } from '../contract/operation'
import { predictTime, refusalOf, type Prediction, type Problem } from './cost'
import type { DeviceFacts } from './deviceFacts'

export interface Candidate {
  kernel: Kernel
  level: CapabilityLevel
  instruction: string
  /** Where the kernel can do it: how. */
  how: string
  prediction: Prediction
}

export interface Ranking {
  /** Best first. */
  ranked: Candidate[]
  /** Each with a sentence why it cannot, or is not to. */
  left: { kernel: Kernel; reason: string }[]
}

/** Smaller is wanted more; levels that are not here are never chosen: they check kernels, or cannot do it. */
const exactness: Partial<Record<CapabilityLevel, number>> = { native: 0, exact: 0, approximate: 1 }

export function rankKernels(
  kernels: readonly Kernel[],
  facts: DeviceFacts,
  problem: Problem
): Ranking {
  const ranking: Ranking = { ranked: [], left: [] }
  for (const kernel of kernels) {
    const found = kernel.capabilities.find(({ format }) => format === problem.format)
    const reason = whyNotChosen(kernel, found, facts, problem)
    if (reason !== undefined || !found) {
      ranking.left.push({ kernel, reason: reason ?? '' })
      continue
    }
    const { level, instruction, reason: how } = found
    const prediction = predictTime(kernel, instruction, facts, problem)
    ranking.ranked.push({ kernel, level, instruction, how, prediction })
  }
  // What is left alike stays in the device's order, which is best first.
  ranking.ranked.sort(
    (a, b) =>
      exactness[a.level]! - exactness[b.level]! || timeOf(a) - timeOf(b) || ownTime(a) - ownTime(b)
  )
  return ranking
}

/** A kernel whose time cannot be told comes behind those whose time can. Finite, so that two of them are equal. */
const timeOf = ({ prediction }: Candidate) =>
  'ns' in prediction ? prediction.ns : Number.MAX_SAFE_INTEGER

/** Tells apart two that memory limits to the same time. */
const ownTime = ({ prediction }: Candidate) => ('ns' in prediction ? prediction.summedNs : 0)

function whyNotChosen(
  kernel: Kernel,
  found: Kernel['capabilities'][number] | undefined,
  facts: DeviceFacts,
  problem: Problem
): string | undefined {
  if (kernel.baseline) return 'a baseline: it computes something else'
  if (!found) return `it does not know ${problem.format}`
  if (found.level === 'unavailable') return found.reason
  if (found.level === 'emulated') return 'its instruction is emulated: it checks a kernel'
  return whyNotTaken(kernel, problem) ?? refusalOf(kernel, problem, facts)
}

/** Why a kernel cannot do what is asked beside the format, in a sentence; undefined: it can. */
export function whyNotTaken(
  kernel: Kernel,
  asked: Pick<Problem, 'output' | 'groups'> & Partial<Problem>
): string | undefined {
  const { output, bOrder, accumulate, batchA, batchB, groups } = { ...plainOperation, ...asked }
  if (!kernel.outputs.includes(output))
    return `${kernel.id} does not write ${output}; it writes ${kernel.outputs.join(', ')}.`
  const wanted: [FeatureId, string, boolean][] = [
    ['b-kn', 'B as (K, N)', bOrder === 'kn'],
    ['accumulator', 'an accumulator', accumulate],
    ['batch', 'a batch', matricesOf(batchA) > 1 || matricesOf(batchB) > 1],
    ['grouped', 'groups', groups !== undefined]
  ]
  for (const [id, words, isAsked] of wanted) {
    if (!isAsked) continue
    const feature = kernel.features.find((entry) => entry.id === id)
    if (!feature || feature.level === 'none')
      return `${kernel.id} does not take ${words}. ${feature?.reason ?? ''}`.trimEnd()
  }
  return undefined
}

/** What is kept of a ranking and shown to a person. */
export function choiceOf(
  { ranked, left }: Ranking,
  { format }: Pick<Problem, 'format'>
): KernelChoice {
  const best = ranked[0]
  const candidates = [
    ...ranked.map(({ kernel, level, prediction }) => ({
      kernel: kernel.id,
      level,
      ...('ns' in prediction
        ? { predictedNs: prediction.ns, reason: '' }
        : { reason: prediction.reason })
    })),
    ...left.map(({ kernel, reason }) => ({ kernel: kernel.id, level: 'unavailable', reason }))
  ]
  if (!best) return { kernel: '', why: `no kernel here computes ${format} as asked`, candidates }
  const predictedNs = 'ns' in best.prediction ? best.prediction.ns : undefined
  return {
    kernel: best.kernel.id,
    why: whyBest(best, ranked),
    ...(predictedNs !== undefined && { predictedNs }),
    candidates
  }
}

/** Whether it stays so beside kernels without a cost, as Python's are. */
export function isSettled({ kernel, candidates }: KernelChoice): boolean {
  const chosen = candidates.find((one) => one.kernel === kernel)
  return chosen?.predictedNs !== undefined && exactness[chosen.level as CapabilityLevel] === 0
}

function whyBest(best: Candidate, ranked: readonly Candidate[]): string {
  const standing = exactness[best.level]!
  const word = standing === 0 ? 'exact' : 'approximate'
  const alike = ranked.filter(({ level }) => exactness[level] === standing)
  const next = alike[1]
  const faster = ranked.find(
    (one) => exactness[one.level]! > standing && timeOf(one) < timeOf(best)
  )
  const other = faster ? `; ${faster.kernel.id} is faster and ${faster.level}` : ''
  if (!next) return `the only ${word} kernel here${other}`
  const among = (of: readonly Candidate[]) => `of ${counted(of.length, `${word} kernel`)}`
  if ('reason' in best.prediction)
    return `the first ${among(alike)}: no time can be told, ${best.prediction.reason}${other}`
  const beside =
    'ns' in next.prediction
      ? `${timeText(next.prediction.ns)} with ${next.kernel.id}`
      : `none can be told of ${next.kernel.id}`
  // Those that the cost model says nothing of, as Python's, were not compared.
  const told = alike.filter(({ prediction }) => 'ns' in prediction)
  return `the fastest ${among(told)} by the cost model: ${timeText(best.prediction.ns)}, ${beside}${other}`
}

/** '124 us' */
const timeText = (ns: number): string => `${Number((ns / 1e3).toPrecision(3))} us`
