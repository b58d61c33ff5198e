/** The mistakes that kernels and their callers make, each as another reading of the same operands. */
import type { BlockFormat } from '../formats/blockFormat'
import {
  isScaled,
  numberFormats,
  type NumberFormat,
  type NumberFormatName
} from '../formats/numberFormat'
import {
  offsetFinder,
  paddedSize,
  sameOffsets,
  scaleFinder,
  type ScaleLayout,
  type ScaleShape
} from '../layouts/layout'
import { findLayout, layouts } from '../layouts/registry'
import {
  readingsOf,
  valuesOf,
  type JudgedOperands,
  type OperandReading,
  type Side
} from './operandReading'

export interface Mistake {
  /** 'scale-order', 'nibble-order': what kind it is, for programs. */
  kind: string
  /** Ends the sentence "C is what these operands give when ...". */
  when: string
  a: OperandReading
  b: OperandReading
  /** Where C[m, n] was written; absent: at m N + n. */
  writtenAt?(m: number, n: number): number
}

type Change = (reading: OperandReading) => OperandReading

/** Every mistake that can be made with these operands, and that changes how they are read. */
export function* mistakesWith(operands: JudgedOperands): Generator<Mistake> {
  const { a, b } = readingsOf(operands)
  const { format, m, k } = operands
  const isAScaled = isScaled(format.a)
  // Nothing can be wrong with scales that are not there.
  const ofScales =
    (change: (reading: OperandReading) => OperandReading | undefined) =>
    (reading: OperandReading, side: Side) =>
      isScaled(format[side]) ? change(reading) : undefined
  const onEach = function* (
    kind: string,
    change: (reading: OperandReading, side: Side) => OperandReading | undefined,
    when: (of: string) => string,
    isBothOne = true
  ): Generator<Mistake> {
    const [wrongA, wrongB] = [change(a, 'a'), change(b, 'b')]
    if (wrongA) yield { kind, when: when('A'), a: wrongA, b }
    if (wrongB) yield { kind, when: when('B'), a, b: wrongB }
    if (wrongA && wrongB && isBothOne)
      yield { kind, when: when('A and of B'), a: wrongA, b: wrongB }
  }

  if (isAScaled)
    yield {
      kind: 'scales-exchanged',
      when: 'the scales of A and of B are exchanged',
      a: { ...a, scales: b.scales },
      b: { ...b, scales: a.scales }
    }
  const linear = findLayout('linear')
  const orders: Mistake[] = []
  for (const layout of differentLayouts(a, b)) {
    orders.push(
      ...onEach(
        'scale-order',
        ofScales((reading) => misread(reading, linear, layout)),
        (of) => `the scales of ${of} lie linear and are read as ${layout.name}`
      ),
      ...onEach(
        'scale-order',
        ofScales((reading) => misread(reading, layout, linear)),
        (of) => `the scales of ${of} lie as ${layout.name} and are read as linear`
      ),
      ...onEach(
        'scale-order',
        ofScales((reading) => misread(reading, layout, linear, 0)),
        (of) => `the scales of ${of} lie as ${layout.name}, padded with 0, and are read as linear`
      )
    )
  }
  orders.push(
    ...onEach(
      'scale-order',
      ofScales((reading) => ({
        ...reading,
        scaleAt: (row, block) => block * reading.rows + row
      })),
      (of) => `the scales of ${of} are read column by column`
    )
  )
  yield* orders
  // Exchanged in A or in B gives one product, and in both the right one: pairs along K stay pairs.
  const fourBits = (['a', 'b'] as const).filter((side) => format[side].storageBits === 4)
  if (fourBits.length > 0) {
    const of = fourBits.length === 2 ? 'A or of B' : fourBits[0]!.toUpperCase()
    const swapped = fourBits[0] === 'a' ? { a: nibblesSwapped(a), b } : { a, b: nibblesSwapped(b) }
    const when = `the two 4-bit codes in each byte of ${of} are exchanged`
    yield { kind: 'nibble-order', when, ...swapped }
    // Both at once (sglang#23625).
    for (const order of orders)
      yield {
        ...{ kind: 'nibble-order', when: `${when}, and ${order.when}` },
        ...(fourBits[0] === 'a'
          ? { a: nibblesSwapped(order.a), b: order.b }
          : { a: order.a, b: nibblesSwapped(order.b) })
      }
  }
  for (const other of [16, 32, 64, 128]) {
    if (other === format.scaleBlockSize || k % other !== 0) continue
    yield* onEach(
      'block-size',
      ofScales((reading) => otherBlocks(reading, other, k / format.scaleBlockSize)),
      (of) => `one scale of ${of} is taken for ${other} elements, rows as they lie`
    )
    yield* onEach(
      'block-size',
      ofScales((reading) => otherBlocks(reading, other, k / other)),
      (of) => `one scale of ${of} is taken for ${other} elements, rows of K / ${other}`
    )
  }
  yield* onEach(
    'scales-ignored',
    ofScales(withoutScales),
    (of) => `the scales of ${of} are not applied`
  )
  yield* onEach('transposed', transposed(false), (of) => `${of} is read as its transpose`, false)
  yield* onEach(
    'transposed',
    ofScales(transposed(true)),
    (of) => `${of} and its scales are read as their transposes`,
    false
  )
  yield {
    kind: 'result-transposed',
    when: 'C is written column by column',
    ...{ a, b },
    writtenAt: (row, column) => column * m + row
  }
  for (const multiple of [256, 128, 64]) {
    if (k % multiple === 0 || k < multiple) continue
    const kEnd = k - (k % multiple)
    const cut: Change = (reading) => ({ ...reading, kEnd })
    const when = `the last ${k % multiple} of K are not multiplied (K is no multiple of ${multiple})`
    yield { kind: 'k-tail', when, a: cut(a), b: cut(b) }
  }
  yield* onEach(
    'number-format',
    (reading, side) => otherElements(reading, format[side]),
    (of) => `the elements of ${of} are decoded as ${elementsInstead(format)}`
  )
  yield* onEach(
    'number-format',
    ofScales((reading) => ({ ...reading, scale: valuesOf(otherScale(format)) })),
    (of) => `the scales of ${of} are decoded as ${otherScale(format).name}`
  )
  if (format.scale.name === 'e8m0') {
    yield* onEach(
      'scale-zero',
      ofScales((reading) => ({ ...reading, scale: valuesOf(format.scale).fill(0, 0, 1) })),
      (of) => `byte 0 in the scales of ${of} is taken for 0 instead of 2^-127`
    )
  }
}

/** All but the linear one, and of those that put every scale of these operands at the same byte the first. */
function differentLayouts(a: OperandReading, b: OperandReading): ScaleLayout[] {
  const shapes = [a, b].map(shapeOfScales)
  const different = [findLayout('linear')]
  for (const layout of layouts)
    if (!different.some((known) => shapes.every((shape) => sameOffsets(known, layout, shape))))
      different.push(layout)
  return different.slice(1)
}

const shapeOfScales = ({ rows, k, block }: OperandReading): ScaleShape => ({
  rows,
  columns: k / block
})

/**
 * Scales that lie in one layout, read as if they lay in another. `padding`: what stands where no scale lies; absent: unknown.
 * Undefined where that is asked for and nothing is padded.
 */
function misread(
  reading: OperandReading,
  lie: ScaleLayout,
  readAs: ScaleLayout,
  padding?: number
): OperandReading | undefined {
  const shape = shapeOfScales(reading)
  const count = shape.rows * shape.columns
  const size = paddedSize(lie, shape.rows, shape.columns)
  if (padding !== undefined && size === count) return undefined
  const find = scaleFinder(lie, shape)
  const offsetOf = offsetFinder(readAs, shape)
  return {
    ...reading,
    ...(padding !== undefined && { scales: Uint8Array.from([...reading.scales, padding]) }),
    scaleAt(row, block) {
      const offset = offsetOf(row, block)
      const found = find(offset)
      if (!found.padding) return found.row * shape.columns + found.column
      return padding === undefined || offset >= size ? undefined : count
    }
  }
}

const nibblesSwapped: Change = (reading) => ({
  ...reading,
  codeAt: (row, k) => reading.codeAt(row, k ^ 1)
})

function otherBlocks(reading: OperandReading, block: number, scalesInRow: number): OperandReading {
  return { ...reading, block, scaleAt: (row, at) => row * scalesInRow + at }
}

const withoutScales: Change = (reading) => ({ ...reading, scale: new Float64Array(256).fill(1) })

/** The memory of a (rows, K) operand read as (K, rows). */
function transposed(withScales: boolean): Change {
  return (reading) => ({
    ...reading,
    codeAt: (row, k) => k * reading.rows + row,
    ...(withScales && { scaleAt: (row, block) => block * reading.rows + row })
  })
}

const confused: Partial<Record<NumberFormatName, NumberFormatName>> = {
  e4m3: 'e5m2',
  e5m2: 'e4m3',
  e2m3: 'e3m2',
  e3m2: 'e2m3'
}

function otherElements(
  reading: OperandReading,
  { name }: NumberFormat
): OperandReading | undefined {
  const other = confused[name]
  return other && { ...reading, element: valuesOf(numberFormats[other]) }
}

function elementsInstead({ a, b }: BlockFormat): string {
  const names = [a, b].map(({ name }) => confused[name]).filter((name) => name !== undefined)
  return [...new Set(names)].join(' and ')
}

const otherScale = ({ scale }: BlockFormat) =>
  numberFormats[scale.name === 'e8m0' ? 'ue4m3' : 'e8m0']
