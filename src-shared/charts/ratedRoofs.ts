/** What the instructions of some lines reach at most, whatever clock each point ran at. */
import type { Roof } from '../contract/roofs'
import type { Step } from '../contract/run'
import { instructionWords } from '../measurement/instructions'
import { ratedPeak } from '../measurement/roofs'
import { digits } from '../units'
import { roofsAt, type Roofs } from './limits'
import type { SweepLine } from './sweepSeries'

export interface RatedRoof {
  /** 'bf16 roof 1,071' */
  name: string
  /** TFLOP/s times the factor. */
  value: number
}

/** Of a step's instruction: a data sheet's at the device's highest clock, whatever the clock of the step; else its own. */
export function ratedRoofOf(step: Step, roofs: Roofs): Roof | undefined {
  const own = roofsAt(step, roofs).compute
  return own?.basis === 'data sheet' ? (ratedPeak(roofs.device, own.of) ?? own) : own
}

/**
 * One for each instruction, lowest first: of a data sheet at the device's highest clock, else as it was measured. None where a
 * limit was entered.
 *
 * @param factor from TFLOP/s to the unit of the chart
 */
export function ratedRoofs(lines: readonly SweepLine[], roofs: Roofs, factor: number): RatedRoof[] {
  if (roofs.entered.compute !== undefined) return []
  const found = new Map<string, number>()
  for (const { step } of lines.flatMap(({ points }) => points)) {
    if (found.has(step.instruction)) continue
    const roof = ratedRoofOf(step, roofs)
    if (roof) found.set(step.instruction, (roof.rate / 1e12) * factor)
  }
  return [...found]
    .map(([of, value]) => ({ name: `${instructionWords(of)} roof ${digits(value)}`, value }))
    .sort((a, b) => a.value - b.value)
}
