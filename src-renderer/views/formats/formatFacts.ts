/** Tables of the Formats view, as pure functions. */
import { encode, overflowRules, type OverflowRule } from '@shared/formats/encode'
import { decodeTable, limitsOf, type NumberFormat } from '@shared/formats/numberFormat'
import type { Column } from '../../components/tableColumns'
import { exactValue } from '@shared/units'

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
