/** A failed element's block as a person reads it: codes in hex beside the values they stand for. */
import { findBlockFormat } from '@shared/formats/blockFormat'
import { decodeTable, type NumberFormat } from '@shared/formats/numberFormat'
import type { FailedElement } from '@shared/contract/run'
import { exactValue } from '@shared/units'
import { formatHash } from '../../ground/route'

export interface DecodedCode {
  code: string
  value: string
}

export interface DecodedBlock {
  /** Absent: A has no scales. */
  aScale?: DecodedCode
  bScale: DecodedCode
  a: DecodedCode[]
  b: DecodedCode[]
  /** First element along K. */
  start: number
}

function decoded(format: NumberFormat, code: number): DecodedCode {
  const value = decodeTable(format)[code] ?? NaN
  return {
    code: code
      .toString(16)
      .toUpperCase()
      .padStart(Math.ceil(format.storageBits / 4), '0'),
    value: exactValue(value)
  }
}

export function decodeBlock(format: string, failure: FailedElement): DecodedBlock {
  const { a, b, scale, scaleBlockSize } = findBlockFormat(format)
  return {
    ...(failure.aScale !== undefined && { aScale: decoded(scale, failure.aScale) }),
    bScale: decoded(scale, failure.bScale),
    a: failure.aCodes.map((code) => decoded(a, code)),
    b: failure.bCodes.map((code) => decoded(b, code)),
    start: failure.block * scaleBlockSize
  }
}

/** The scale of an element's block in the layout inspector. */
export function layoutLink(
  layout: string,
  rows: number,
  k: number,
  format: string,
  row: number,
  block: number
): string {
  const cols = Math.ceil(k / findBlockFormat(format).scaleBlockSize)
  return formatHash({
    view: 'layouts',
    params: {
      layout,
      format,
      rows: String(rows),
      cols: String(cols),
      row: String(row),
      col: String(block)
    }
  })
}
