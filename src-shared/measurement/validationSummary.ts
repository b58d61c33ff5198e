/** What all steps of a validation say together, for the page and the report. */
import type { Run, Step } from '../contract/run'
import { errorFigure, percent } from '../units'
import { isFailed } from './outcome'
import { toleranceShareOf } from './validationFigures'

type Steps = Pick<Run, 'steps'>

export const judgedSteps = ({ steps }: Steps): Step[] =>
  steps.filter(({ validation, baseline }) => validation && !baseline)

/** Largest error / tolerance of all that was judged; undefined where nothing was. */
function largestShare(run: Steps): number | undefined {
  const shares = judgedSteps(run).flatMap(({ validation }) => toleranceShareOf(validation!) ?? [])
  return shares.length > 0 ? Math.max(...shares) : undefined
}

export function largestErrorText(run: Steps): string {
  const largest = largestShare(run)
  return largest === undefined ? '' : `Largest error ${errorFigure(largest)} of the tolerance.`
}

/** '51 % of the tolerance to spare'; '' where an error is beyond it or nothing was judged. */
export function headroomText(run: Steps): string {
  const largest = largestShare(run)
  return largest !== undefined && largest <= 1
    ? `${percent(1 - largest)} of the tolerance to spare`
    : ''
}

/** One scale of A, then one of B, raised by one exponent: it must change exactly its row or column. */
export function scaleCheckText(run: Steps): string {
  const states = judgedSteps(run).map(({ validation }) => {
    const both = [validation!.perturbationA.state, validation!.perturbationB.state]
    return both.includes('failed') ? 'failed' : both.includes('not-run') ? 'not run' : 'passed'
  })
  if (states.length === 0) return ''
  const count = (what: string) => states.filter((state) => state === what).length
  const ran = states.length - count('not run')
  const left = count('not run') > 0 ? `, not run for ${count('not run')}` : ''
  return `Scale check: ${count('passed')} of ${ran} passed${left}.`
}

/** A (kernel, format) may have many shapes: the one that failed, else the fastest, stands for them. */
export function standingStep(steps: readonly Step[]): Step | undefined {
  const rate = ({ measurement }: Step) => measurement?.tflops ?? -1
  return steps.find(isFailed) ?? [...steps].sort((a, b) => rate(b) - rate(a))[0]
}
