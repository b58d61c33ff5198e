/** What becomes of a sum of products: C = output scale x (tensor scales x sum + accumulator), and how that is got wrong. */
import type { JudgedOperands } from './operandReading'

export interface Finish {
  /** Both scales per tensor. */
  factor: number
  outputScale: number
  /** The accumulator of an element; left out: nothing is added. */
  accumulatorAt?(row: number, column: number): number
}

export function finishOf(operands: JudgedOperands): Finish {
  const { n, accumulator, tensorScaleA = 1, tensorScaleB = 1, outputScale = 1 } = operands
  return {
    factor: tensorScaleA * tensorScaleB,
    outputScale,
    ...(accumulator && { accumulatorAt: (row, column) => accumulator[row * n + column]! })
  }
}

export interface WrongFinish {
  kind: 'tensor-scale' | 'accumulator' | 'output-scale'
  /** Ends the sentence "C is what these operands give when ...". */
  when: string
  finish: Finish
}

/** Every way in which the end of this operation can be wrong, other than by doing nothing wrong. */
export function* wrongFinishes(operands: JudgedOperands): Generator<WrongFinish> {
  const right = finishOf(operands)
  const { m, accumulator, tensorScaleA: a = 1, tensorScaleB: b = 1 } = operands
  const { factor, outputScale, accumulatorAt } = right
  const tensorScale = (when: string, wrong: number): WrongFinish => ({
    ...{ kind: 'tensor-scale', when },
    finish: { ...right, factor: wrong }
  })
  if (a !== 1) yield tensorScale('the tensor scale of A is missing', b)
  if (b !== 1) yield tensorScale('the tensor scale of B is missing', a)
  if (a !== 1 && b !== 1) yield tensorScale('both tensor scales are missing', 1)
  if (factor !== 1) {
    yield tensorScale('both tensor scales are applied twice', factor * factor)
    yield tensorScale('C is divided by both tensor scales', 1 / factor)
  }
  if (accumulator && accumulatorAt) {
    const added = (when: string, at: Finish['accumulatorAt']): WrongFinish => ({
      ...{ kind: 'accumulator', when },
      finish: { factor, outputScale, ...(at && { accumulatorAt: at }) }
    })
    yield added('the accumulator is left out', undefined)
    yield added('the accumulator is added twice', (row, column) => 2 * accumulatorAt(row, column))
    yield added('the accumulator is subtracted', (row, column) => -accumulatorAt(row, column))
    yield added(
      'the accumulator is read column by column',
      (row, column) => accumulator[column * m + row]!
    )
    if (factor !== 1)
      yield added(
        'the tensor scales are applied to the accumulator too',
        (row, column) => factor * accumulatorAt(row, column)
      )
    if (outputScale !== 1)
      yield added(
        'the accumulator is added after the output scale',
        (row, column) => accumulatorAt(row, column) / outputScale
      )
  }
  if (outputScale !== 1) {
    const scaled = (when: string, wrong: number): WrongFinish => ({
      ...{ kind: 'output-scale', when },
      finish: { ...right, outputScale: wrong }
    })
    yield scaled('the output scale is left out', 1)
    yield scaled('C is divided by the output scale', 1 / outputScale)
    yield scaled('the output scale is applied twice', outputScale * outputScale)
  }
}
