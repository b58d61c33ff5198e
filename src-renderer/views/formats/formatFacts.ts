/** Tables of the Formats view, as pure functions. */
import { operandBytes, type BlockFormat } from '@shared/formats/blockFormat'
import { encode, overflowRules, type OverflowRule } from '@shared/formats/encode'
import { decodeTable, limitsOf, type NumberFormat } from '@shared/formats/numberFormat'
import type { Column } from '../../components/tableColumns'
import { count, exactValue } from '../../format/units'

export interface SizeRow {
  format: BlockFormat
  bitsA: number
  bitsB: number
  /** Undefined when K is no multiple of the block size. */
  elements: number | undefined
  scales: number | undefined
}

export function sizeRows(
  formats: readonly BlockFormat[],
  m: number,
  n: number,
  k: number
): SizeRow[] {
  return formats.map((format) => {
    const fits = k % format.scaleBlockSize === 0
    const bytes = fits ? operandBytes(format, m, n, k) : undefined
    return {
      format,
      bitsA: format.a.storageBits + 8 / format.scaleBlockSize,
      bitsB: format.b.storageBits + 8 / format.scaleBlockSize,
      elements: bytes?.elements,
      scales: bytes?.scales
    }
  })
}

const bytesText = (value: number | undefined) =>
  value === undefined ? 'K does not divide' : count(value)

export const sizeColumns: readonly Column<SizeRow>[] = [
  { id: 'format', title: 'Format', value: ({ format }) => format.id, width: 'minmax(130px, 1fr)' },
  { id: 'a', title: 'A', value: ({ format }) => format.a.name, width: '64px' },
  { id: 'b', title: 'B', value: ({ format }) => format.b.name, width: '64px' },
  {
    id: 'scale',
    title: 'Scale',
    value: ({ format }) => `${format.scale.name} per ${format.scaleBlockSize}`
  },
  {
    id: 'bitsA',
    title: 'A, scaled',
    unit: 'bit',
    value: ({ bitsA }) => bitsA,
    numeric: true
  },
  {
    id: 'bitsB',
    title: 'B, scaled',
    unit: 'bit',
    value: ({ bitsB }) => bitsB,
    numeric: true
  },
  {
    id: 'elements',
    title: 'Elements',
    unit: 'B',
    value: ({ elements }) => elements,
    text: ({ elements }) => bytesText(elements),
    numeric: true
  },
  {
    id: 'scales',
    title: 'Scales',
    unit: 'B',
    value: ({ scales }) => scales,
    text: ({ scales }) => bytesText(scales),
    numeric: true
  },
  {
    id: 'total',
    title: 'Both',
    unit: 'B',
    value: (row) => (row.elements === undefined ? undefined : row.elements + row.scales!),
    text: (row) => (row.elements === undefined ? '–' : count(row.elements + row.scales!)),
    numeric: true
  }
]

const specialWords = { none: 'none', nan: 'NaN', ieee: 'Inf and NaN' } as const

export const rangeColumns: readonly Column<NumberFormat>[] = [
  { id: 'name', title: 'Format', value: ({ name }) => name, width: '80px' },
  {
    id: 'bits',
    title: 'Sign / exponent / mantissa',
    value: ({ signBits, exponentBits, mantissaBits }) =>
      `${signBits} / ${exponentBits} / ${mantissaBits}`
  },
  { id: 'bias', title: 'Bias', value: ({ bias }) => bias, numeric: true },
  ...(['largest', 'smallestNormal', 'subnormalStep'] as const).map((field) => ({
    id: field,
    title: {
      largest: 'Largest',
      smallestNormal: 'Smallest normal',
      subnormalStep: 'Step below it'
    }[field],
    value: (format: NumberFormat) => limitsOf(format)[field],
    text: (format: NumberFormat) => exactValue(limitsOf(format)[field]),
    numeric: true
  })),
  { id: 'special', title: 'Special values', value: ({ special }) => specialWords[special] }
]

export interface CodeRow {
  code: number
  bits: string
  value: number
}

export function codeRows(format: NumberFormat): CodeRow[] {
  const { signBits, exponentBits, mantissaBits } = format
  const digits = signBits + exponentBits + mantissaBits
  return Array.from(decodeTable(format), (value, code) => {
    const text = code.toString(2).padStart(digits, '0')
    const parts = [
      text.slice(0, signBits),
      text.slice(signBits, signBits + exponentBits),
      text.slice(signBits + exponentBits)
    ]
    return { code, bits: parts.filter(Boolean).join(' '), value }
  })
}

export const hexCode = (code: number) => `0x${code.toString(16).toUpperCase().padStart(2, '0')}`

export const codeColumns: readonly Column<CodeRow>[] = [
  { id: 'code', title: 'Code', value: ({ code }) => code, text: ({ code }) => hexCode(code) },
  { id: 'bits', title: 'Bits', value: ({ bits }) => bits },
  {
    id: 'value',
    title: 'Value',
    value: ({ value }) => value,
    text: ({ value }) => exactValue(value),
    numeric: true
  }
]

export interface Encoded {
  rule: OverflowRule
  code: number
  value: number
}

/** The code nearest to a number under each overflow rule. */
export function encodedBy(format: NumberFormat, value: number): Encoded[] {
  return overflowRules.map((rule) => {
    const code = encode(format, value, rule)
    return { rule, code, value: decodeTable(format)[code]! }
  })
}
