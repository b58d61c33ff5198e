/** What `auto` chose beside every other kernel that a run timed at the same problem. */
import { autoKernel } from '../contract/devices'
import type { Run, Step } from '../contract/run'
import { percent } from '../units'
import { problemText } from './problemText'
import { pointOf } from './ratios'

export interface AutoChoice {
  /** 'mxfp4 16 x 8192 x 8192' */
  problem: string
  chosen: Step
  /** The fastest exact kernel, and the fastest of all; the chosen one among them. Undefined where none was timed. */
  bestExact: Step | undefined
  best: Step | undefined
  /** Time over theirs; undefined where the chosen one was not timed, or nothing beside it. */
  overExact: number | undefined
  overBest: number | undefined
}

export interface AutoVerdict {
  choices: AutoChoice[]
  /** What is not as it should be, a sentence each; a run that compares nothing is among them. */
  problems: string[]
}

const medianOf = ({ measurement }: Step): number | undefined => measurement?.timeNs.median

const isExact = ({ level }: Step): boolean => level === 'native' || level === 'exact'
/** What `auto` may choose: a baseline computes something else, and an emulation checks a kernel. */
const isRival = ({ baseline, level }: Step): boolean => !baseline && level !== 'emulated'

/** `mostBehind`: the share by which a choice may be slower than the best exact kernel; `timeOf`: what is compared, in ns. */
export function judgeAuto(
  { steps }: Pick<Run, 'steps'>,
  mostBehind: number,
  timeOf: (step: Step) => number | undefined = medianOf
): AutoVerdict {
  const choices = steps
    .filter(({ choice }) => choice)
    .map((chosen) => choiceBeside(chosen, steps, timeOf))
  const problems = choices.flatMap((choice) => problemOf(choice, mostBehind) ?? [])
  if (choices.length === 0)
    problems.push(`The run has no choice of ${autoKernel}: name it among its kernels.`)
  else if (choices.every(({ overBest }) => overBest === undefined))
    problems.push('No kernel was timed beside a choice: name others too.')
  return { choices, problems }
}

function choiceBeside(
  chosen: Step,
  steps: readonly Step[],
  timeOf: (step: Step) => number | undefined
): AutoChoice {
  const point = pointOf(chosen)
  const own = timeOf(chosen)
  const rivals = steps.filter(
    (step) => isRival(step) && timeOf(step) !== undefined && pointOf(step) === point
  )
  const fastest = (among: readonly Step[]) =>
    among.toSorted((one, other) => timeOf(one)! - timeOf(other)!)[0]
  const [bestExact, best] = [fastest(rivals.filter(isExact)), fastest(rivals)]
  const isAlone = rivals.every((step) => step === chosen)
  const over = (step: Step | undefined) =>
    step && own !== undefined && !isAlone ? own / timeOf(step)! : undefined
  const problem = problemText(chosen)
  return { problem, chosen, bestExact, best, overExact: over(bestExact), overBest: over(best) }
}

function problemOf(
  { problem, chosen, bestExact, best, overExact, overBest }: AutoChoice,
  mostBehind: number
): string | undefined {
  const name = `${problem}: ${chosen.kernel}`
  if (!chosen.measurement)
    return `${name} was chosen and has no time: ${(chosen.reason || chosen.disposition).replace(/\.$/, '')}.`
  if (bestExact && !isExact(chosen))
    return `${name} is ${chosen.level}, and ${bestExact.kernel} is exact.`
  const [over, beside] = bestExact ? [overExact, bestExact] : [overBest, best]
  if (over === undefined || over <= 1 + mostBehind) return undefined
  return `${name} takes ${percent(over - 1)} more than ${beside!.kernel}.`
}
