/** The fastest measured step of each format of a run, and what is no block-scaled product beside it. */
import type { Run, Step } from '@shared/contract/run'
import { shapeKey } from '@shared/contract/groups'
import { coloursOf } from '@shared/charts/sweepSeries'
import { formatSymbol, kernelKey, type Mark } from '@shared/measurement/marks'

export interface SpeedRow {
  step: Step
  mark: Mark
  /** Of the fastest in any format, references among them: 0 to 1. */
  share: number
  /** The fastest that computes something else, in the same format at the same shape. */
  reference: Step | undefined
}

export const speedOf = (step: Step): number => step.measurement?.tflops ?? 0

/** In the order in which the run has its formats. */
export function speedRows(run: Run): SpeedRow[] {
  const measured = run.steps.filter((step) => step.measurement)
  const colours = coloursOf([run])
  const fastest = (of: readonly Step[]) =>
    of.reduce<Step | undefined>(
      (best, step) => (best && speedOf(best) >= speedOf(step) ? best : step),
      undefined
    )
  const rows = [...new Set(measured.map(({ format }) => format))].flatMap((format) => {
    const own = measured.filter((step) => step.format === format)
    // What computes something else is fast at something else.
    const step = fastest(own.filter(({ baseline }) => !baseline))
    if (!step) return []
    const isBeside = (one: Step) => one.baseline && shapeKey(one) === shapeKey(step)
    return [{ step, reference: fastest(own.filter(isBeside)) }]
  })
  const most = Math.max(
    ...rows.flatMap(({ step, reference }) =>
      [step, reference].map((one) => (one ? speedOf(one) : 0))
    )
  )
  return rows.map(({ step, reference }) => ({
    step,
    reference,
    share: speedOf(step) / most,
    mark: { colour: colours.get(kernelKey(step))!, ...formatSymbol(step.format), hollow: false }
  }))
}
