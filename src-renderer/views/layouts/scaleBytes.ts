/** Real scale bytes that were pasted or opened, read in both orders. */
import { decodeTable, type NumberFormat } from '@shared/formats/numberFormat'
import {
  paddedSize,
  scaleFinder,
  type FoundScale,
  type ScaleLayout,
  type ScaleShape
} from '@shared/layouts/layout'
import type { Checked } from '../../ground/fields'

export const mostBytes = 16 * 2 ** 20

/** '7f 80 0x81,82': hex digits in pairs; spaces, commas, 0x and new lines separate. */
export function parseHex(typed: string): Checked<Uint8Array> {
  const text = typed.replaceAll(/0x/gi, ' ').replaceAll(/[\s,;:]+/g, '')
  if (text === '') return {}
  const wrong = /[^0-9a-f]/i.exec(text)
  if (wrong) return { problem: `"${wrong[0]}" is no hex digit; write bytes as 7f 80 81.` }
  if (text.length % 2 === 1) {
    return { problem: `${text.length} hex digits do not make whole bytes; one is missing.` }
  }
  return {
    value: Uint8Array.from({ length: text.length / 2 }, (_, i) =>
      parseInt(text.slice(2 * i, 2 * i + 2), 16)
    )
  }
}

/** What the number of bytes says about the matrix, as a sentence; undefined when it fits both orders. */
export function sizeNote(
  bytes: number,
  layout: ScaleLayout,
  { rows, columns }: ScaleShape
): string | undefined {
  const packed = paddedSize(layout, rows, columns)
  const linear = rows * columns
  const needs = `${rows} x ${columns} scales take ${packed} bytes in ${layout.name} and ${linear} in linear order`
  if (bytes === packed && bytes === linear) return undefined
  if (bytes === packed) return `${bytes} bytes: as many as ${layout.name} takes with its padding.`
  if (bytes === linear) return `${bytes} bytes: as many as the linear order takes, no padding.`
  return `${bytes} bytes do not fit: ${needs}. Change the rows or K, or the layout.`
}

const hexBytes = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).toUpperCase().padStart(2, '0')
)
export const hexByte = (byte: number) => hexBytes[byte]!

/** A byte as a scale. What is told of it is worked out when it is asked for: a table shows a few of 65,536. */
export class DecodedByte {
  constructor(
    private readonly reading: Reading,
    readonly offset: number
  ) {}

  private get byte(): number {
    return this.reading.bytes[this.offset]!
  }

  get hex(): string {
    return hexByte(this.byte)
  }

  get value(): number {
    return this.reading.values[this.byte] ?? NaN
  }

  /** Which scale it is when the bytes are packed; undefined for padding or past the end. */
  get packed(): string | undefined {
    const { packedBytes, scaleAt } = this.reading
    if (this.offset >= packedBytes) return undefined
    const { row, column, padding } = scaleAt(this.offset)
    return padding ? undefined : `${row}, ${column}`
  }

  get linear(): string | undefined {
    const { rows, columns } = this.reading.shape
    const row = Math.floor(this.offset / columns)
    return row < rows ? `${row}, ${this.offset % columns}` : undefined
  }
}

/** What all bytes of a file share. */
interface Reading {
  bytes: Uint8Array
  values: Float64Array
  shape: ScaleShape
  packedBytes: number
  scaleAt: (offset: number) => FoundScale
}

/** The first `most` bytes. */
export function decodeBytes(
  bytes: Uint8Array,
  scale: NumberFormat,
  layout: ScaleLayout,
  shape: ScaleShape,
  most: number
): DecodedByte[] {
  const reading = {
    bytes,
    values: decodeTable(scale),
    shape,
    packedBytes: paddedSize(layout, shape.rows, shape.columns),
    scaleAt: scaleFinder(layout, shape)
  }
  const length = Math.min(bytes.length, most)
  return Array.from({ length }, (_, offset) => new DecodedByte(reading, offset))
}

/** 2^-3 for the powers of two that e8m0 holds; plain digits else. */
export function scaleText(value: number): string {
  const exponent = Math.log2(value)
  if (value > 0 && Number.isInteger(exponent)) return `2^${exponent}`
  return String(value)
}
