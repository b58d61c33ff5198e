/**
 * Whether a product could show that a kernel maps scales to elements wrongly. Tests have passed with the mapping damaged
 * (ninfer#238, vllm#50084), because their scales were alike or their tolerance wide.
 */
import { isScaled } from '../formats/numberFormat'
import { finishOf } from '../judge/finish'
import {
  readingOf,
  readingsOf,
  type JudgedOperands,
  type OperandReading,
  type Side
} from '../judge/operandReading'
import { compareSample, resultToJudge, spread } from '../judge/sampledProduct'
import type { DumpMatrix } from './dump'

/** Rows and columns of C that are looked at. */
const looked = 24

/** Whether two values would pass for one another. */
export type Passes = (found: number, exact: number, magnitude: number) => boolean

/**
 * Share of the looked-at elements of C, 0..1, that change by more than what passes when the scales of an operand are taken one
 * block further along K, or one row further down: of the two the one that shows less. Undefined for an operand of one scale.
 */
export function scalesShown(
  matrix: DumpMatrix,
  side: Side,
  passes: Passes | undefined
): number | undefined {
  const { operands, product } = matrix
  const damaged = damagedReadings(operands, side)
  if (damaged.length === 0) return undefined
  const result = resultToJudge(product, operands.n, operands.k)
  const look = { rows: spread(operands.m, looked), columns: spread(operands.n, looked) }
  const right = readingsOf(operands)
  const finish = finishOf(operands)
  const exact = compareSample(right, result, look, finish)
  const isAlike = passes ?? result.rounding.agrees
  const shares = damaged.map((reading) => {
    const wrong = compareSample({ ...right, [side]: reading }, result, look, finish)
    const changed = wrong.filter(
      (element, at) => !isAlike(element.exact, exact[at]!.exact, exact[at]!.magnitude)
    )
    return changed.length / wrong.length
  })
  return Math.min(...shares)
}

function damagedReadings(operands: JudgedOperands, side: Side): OperandReading[] {
  if (!isScaled(operands.format[side])) return []
  const reading = readingOf(operands, side)
  const { rows, k, block } = reading
  const blocks = k / block
  const moved = (byRows: number, byBlocks: number): OperandReading => ({
    ...reading,
    scaleAt: (row, at) => ((row + byRows) % rows) * blocks + ((at + byBlocks) % blocks)
  })
  return [...(blocks > 1 ? [moved(0, 1)] : []), ...(rows > 1 ? [moved(1, 0)] : [])]
}
