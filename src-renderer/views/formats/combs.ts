/**
 * Number formats as combs: one tick for each code on an axis of values. Pure data, in pixels of a line that is `width` wide;
 * CodeCombs.vue draws it.
 */
import {
  decodeTable,
  limitsOf,
  numberFormats,
  type NumberFormat,
  type NumberFormatName
} from '@shared/formats/numberFormat'

export type CombAxis = 'linear' | 'log'
/** log2 of the ends of the log axis: e5m2, the widest of the element formats, fits with its labels. */
const logSpan = [-18.5, 19] as const

export interface CombTick {
  x: number
  code: number
  kind: 'normal' | 'subnormal'
}

export interface Comb {
  name: NumberFormatName
  /** Who has it. */
  use: string
  bits: readonly BitKind[]
  /** Codes above zero that are finite. */
  positive: number
  octaves: number
  /** Codes in one octave of normal numbers. */
  perOctave: number
  ticks: readonly CombTick[]
  /** Pixels from the first to the last tick that is seen; undefined when none is. */
  from: number
  to: number
  /** log2 of the value at the lower end, and the value at the upper; undefined where the comb goes on beyond the axis. */
  smallestExponent: number | undefined
  largest: number | undefined
}

export type BitKind = 'sign' | 'exponent' | 'mantissa'

const uses: [NumberFormatName, string][] = [
  ['e2m1', 'MXFP4, NVFP4'],
  ['e2m3', 'MXFP6'],
  ['e3m2', 'MXFP6'],
  ['e4m3', 'MXFP8; NVFP4 scales'],
  ['e5m2', 'MXFP8'],
  ['e8m0', 'scale of MX']
]

/** bfloat16 beside them: 128 codes in an octave are too fine to draw. */
export const bfloat16 = {
  bits: bitKinds(1, 8, 7),
  /** 255 exponents of 128 codes, without zero. */
  positive: 255 * 128 - 1,
  octaves: Math.log2((2 - 2 ** -7) * 2 ** 127) + 133,
  perOctave: 128,
  /** log2 of the smallest and of the largest. */
  ends: [-133, 127]
} as const

function bitKinds(sign: number, exponent: number, mantissa: number): BitKind[] {
  return [
    ...Array<BitKind>(sign).fill('sign'),
    ...Array<BitKind>(exponent).fill('exponent'),
    ...Array<BitKind>(mantissa).fill('mantissa')
  ]
}

export const bitKindsOf = ({ signBits, exponentBits, mantissaBits }: NumberFormat) =>
  bitKinds(signBits, exponentBits, mantissaBits)

/** Where 2^exponent lies on the log axis. */
export function logX(exponent: number, width: number): number {
  const [first, last] = logSpan
  return ((exponent - first) / (last - first)) * width
}

export function powerTicks(width: number): { exponent: number; x: number }[] {
  const step = width < 420 ? 8 : 4
  const exponents = [-16, -12, -8, -4, 0, 4, 8, 12, 16].filter((one) => one % step === 0)
  return exponents.map((exponent) => ({ exponent, x: logX(exponent, width) }))
}

/**
 * The combs of all formats. Log: positive codes, each times 2^scaleExponent but e8m0, whose comb the scales themselves are.
 * Linear: positive and negative codes, each format from its own lowest to its own highest value.
 */
export function combs(axis: CombAxis, width: number, scaleExponent: number): Comb[] {
  return uses.map(([name, use]) => {
    const format = numberFormats[name]
    const { largest, smallestNormal } = limitsOf(format)
    const values = [...decodeTable(format)]
    const positive = values.filter((value) => value > 0 && Number.isFinite(value))
    const shift = name === 'e8m0' ? 0 : scaleExponent
    const place = (value: number) =>
      axis === 'log'
        ? logX(Math.log2(value) + shift, width)
        : (value / largest) * 0.46 * width + width / 2
    const ticks = values.flatMap((value, code): CombTick[] => {
      if (!Number.isFinite(value) || (axis === 'log' && value <= 0)) return []
      const x = place(value)
      const kind = Math.abs(value) < smallestNormal ? 'subnormal' : 'normal'
      return x < 0 || x > width ? [] : [{ x, code, kind }]
    })
    const smallest = Math.min(...positive)
    const xs = ticks.map(({ x }) => x)
    const ends = axis === 'log' ? [place(smallest), place(largest)] : [0, 0]
    return {
      name,
      use,
      bits: bitKindsOf(format),
      positive: positive.length,
      octaves: Math.log2(largest / smallest),
      perOctave: 2 ** format.mantissaBits,
      ticks,
      from: xs.length > 0 ? Math.min(...xs) : 0,
      to: xs.length > 0 ? Math.max(...xs) : 0,
      smallestExponent: ends[0]! < 0 ? undefined : Math.log2(smallest) + shift,
      largest: ends[1]! > width ? undefined : largest * 2 ** shift
    }
  })
}

export function nearestTick(comb: Comb, x: number): CombTick | undefined {
  let best: CombTick | undefined
  for (const tick of comb.ticks) {
    if (!best || Math.abs(tick.x - x) < Math.abs(best.x - x)) best = tick
  }
  return best
}

/** The tick `by` places further along the line; the ends stay. */
export function neighbourTick(comb: Comb, code: number, by: number): CombTick | undefined {
  const sorted = comb.ticks.toSorted((one, other) => one.x - other.x)
  const at = sorted.findIndex((tick) => tick.code === code)
  return sorted[Math.min(sorted.length - 1, Math.max(0, at + by))]
}

/** How a code becomes its value: '+', the power of two, the significand. */
export interface WorkedValue {
  bits: readonly { bit: string; kind: BitKind }[]
  sign: '+' | '−'
  /** Stored exponent less the bias; of a subnormal or zero 1 less the bias. */
  exponent: number
  stored: number
  bias: number
  /** 1 or 0: the bit before the point. */
  lead: 0 | 1
  mantissa: number
  /** The mantissa counts in parts of this. */
  of: number
  value: number
}

export function workedValue(format: NumberFormat, code: number): WorkedValue {
  const { signBits, exponentBits, mantissaBits, bias } = format
  const kinds = bitKindsOf(format)
  const text = code.toString(2).padStart(kinds.length, '0')
  const stored = (code >> mantissaBits) & (2 ** exponentBits - 1)
  // e8m0 has no mantissa and so no subnormals.
  const normal = stored > 0 || mantissaBits === 0
  return {
    bits: kinds.map((kind, at) => ({ kind, bit: text[at]! })),
    sign: signBits === 1 && text.startsWith('1') ? '−' : '+',
    exponent: (normal ? stored : 1) - bias,
    stored,
    bias,
    lead: normal ? 1 : 0,
    mantissa: code & (2 ** mantissaBits - 1),
    of: 2 ** mantissaBits,
    value: decodeTable(format)[code]!
  }
}
