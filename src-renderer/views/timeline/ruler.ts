/** Ticks of a time axis: at round times, and said from a round time near them, so that they stay short at any zoom. */
import { exactTime } from '@shared/units'
import { lengthOf, type Span } from '../../canvas/span'

export interface Ruler {
  /** What the ticks count from; '' where that is the first slice. */
  base: string
  ticks: { ns: number; text: string }[]
}

const leastTickPx = 84

export function rulerOf(span: Span, width: number): Ruler {
  const length = lengthOf(span)
  if (!(length > 0) || width < 1) return { base: '', ticks: [] }
  const step = roundUp((length * leastTickPx) / width)
  const unit = 10 ** Math.ceil(Math.log10(length))
  const baseNs = span.end <= 10 * unit ? 0 : Math.floor(span.start / unit) * unit
  const sign = baseNs === 0 ? '' : '+'
  const ticks: Ruler['ticks'] = []
  // Counted in steps from the base: adding up steps would add up their rounding.
  const first = Math.ceil((span.start - baseNs) / step)
  for (let at = first; at * step + baseNs <= span.end; at++)
    ticks.push({ ns: at * step + baseNs, text: sign + exactTime(at * step, step) })
  return { base: baseNs === 0 ? '' : exactTime(baseNs, unit), ticks }
}

/** The next of 1, 2, 5, 10, ... */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5].find((factor) => factor * power >= value * (1 - 1e-9)) ?? 10) * power
}
