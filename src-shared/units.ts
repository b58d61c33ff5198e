/**
 * Numbers for people, the same on axes, in tables and in tooltips: what was measured has three significant digits, what was
 * chosen (a shape, a tick, a count) every digit, and the unit stands beside the number, never inside it. Lint keeps other
 * ways to write a number out of the page.
 */

export interface Quantity {
  text: string
  unit: string
}

/** A unit that suits a whole column or axis: shown = value * factor. */
export interface Scale {
  unit: string
  factor: number
}

const missing: Quantity = { text: '–', unit: '' }

const timeScales: Scale[] = [
  { unit: 'ns', factor: 1 },
  { unit: 'µs', factor: 1e-3 },
  { unit: 'ms', factor: 1e-6 },
  { unit: 's', factor: 1e-9 }
]
const rateScales: Scale[] = [
  { unit: 'GFLOP/s', factor: 1e3 },
  { unit: 'TFLOP/s', factor: 1 }
]
const bandwidthScales: Scale[] = [
  { unit: 'MB/s', factor: 1e3 },
  { unit: 'GB/s', factor: 1 },
  { unit: 'TB/s', factor: 1e-3 }
]
const byteScales: Scale[] = [
  { unit: 'B', factor: 1 },
  { unit: 'KiB', factor: 2 ** -10 },
  { unit: 'MiB', factor: 2 ** -20 },
  { unit: 'GiB', factor: 2 ** -30 },
  { unit: 'TiB', factor: 2 ** -40 }
]

const families = {
  time: timeScales,
  rate: rateScales,
  bandwidth: bandwidthScales,
  bytes: byteScales
}
export type Family = keyof typeof families

/** The largest unit in which `largest` (ns, TFLOP/s, GB/s or bytes) is still at least 1. */
export function scaleFor(family: Family, largest: number): Scale {
  const scales = families[family]
  return scales.findLast((scale) => largest * scale.factor >= 1) ?? scales[0]!
}

export function quantity(family: Family, value: number | undefined): Quantity {
  if (value === undefined || !Number.isFinite(value)) return missing
  const scale = scaleFor(family, Math.abs(value))
  return { text: digits(value * scale.factor), unit: scale.unit }
}

/** '512 MiB of 1.00 GiB': how far a file is read. */
export const bytesOf = (done: number, total: number): string =>
  [done, total].map((bytes) => text(quantity('bytes', bytes))).join(' of ')

export function text(of: Quantity): string {
  return of.unit === '' ? of.text : `${of.text} ${of.unit}`
}

/** Three significant digits without an exponent, thousands separated: 0.123, 12.3, 1,980. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  const size = Math.abs(value)
  if (size === 0) return '0'
  if (size < 1e-3) return value.toExponential(2)
  const decimals = Math.min(5, Math.max(0, 2 - Math.floor(Math.log10(size))))
  return withDecimals(decimals).format(value)
}

/** '311–342'; '–' where the ends are not known. */
export const band = (low: number, high: number): string =>
  Number.isNaN(low + high) ? '–' : `${digits(low)}–${digits(high)}`

/**
 * A formatter for each number of digits. Kept: making one takes longer than all it formats in a frame; made when it is
 * used: longer than the page has to start.
 */
function formatters(options: (digits: number) => Intl.NumberFormatOptions) {
  const made: Intl.NumberFormat[] = []
  return (digits: number): Intl.NumberFormat =>
    (made[digits] ??= new Intl.NumberFormat('en-US', options(digits)))
}

const withDecimals = formatters((digits) => ({
  minimumFractionDigits: digits,
  maximumFractionDigits: digits
}))
const withDecimalsUpTo = formatters((digits) => ({ maximumFractionDigits: digits }))
const withDigitsUpTo = formatters((digits) => ({ maximumSignificantDigits: digits }))

export const count = (value: number): string => withDecimals(0).format(value)

/** '1 run', '12 runs', '1,024 rows'. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

/** A tick of an axis: the number itself, 1,024 and not 1,020; small and large ones with an exponent. */
export function tick(value: number): string {
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return shortExponent(value.toExponential(3))
  return withDigitsUpTo(Math.max(6, wholeDigits(size))).format(value)
}

/** A number with the minus that is as wide as a plus, where it is read and not typed: −0.5. */
export const withMinus = (text: string): string => text.replace(/^-/, '−')

/** A tick of an axis of differences: +0.25, −0.25, 0. */
export const signedTick = (value: number): string =>
  `${value > 0 ? '+' : ''}${withMinus(tick(value))}`

const wholeDigits = (size: number) => (size < 1 ? 1 : Math.floor(Math.log10(size)) + 1)
const shortExponent = (text: string) => text.replace(/\.?0*e/, 'e').replace('e+', 'e')

/** K on an axis: 512, 2K, 8K; 1 MiB of elements is 1M. */
export function tickOfK(value: number): string {
  if (value !== 0 && value % 2 ** 20 === 0) return `${value / 2 ** 20}M`
  if (value !== 0 && value % 1024 === 0) return `${value / 1024}K`
  return tick(value)
}

/**
 * A number that a format holds, exactly: powers of two far from 1 as 2^-20, else up to seven digits or an exponent.
 */
export function exactValue(value: number | undefined): string {
  if (value === undefined) return '–'
  const size = Math.abs(value)
  if (!Number.isFinite(value) || size === 0) return Object.is(value, -0) ? '-0' : String(value)
  if (size >= 1e-4 && size < 1e6) return String(Number(value.toPrecision(7)))
  const exponent = Math.log2(size)
  return Number.isInteger(exponent)
    ? `${value < 0 ? '-' : ''}2^${exponent}`
    : shortExponent(value.toExponential(4))
}

/** As many digits as float32 tells apart: for elements that are compared. */
export function precise(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  const size = Math.abs(value)
  return size !== 0 && (size < 1e-4 || size >= 1e8)
    ? shortExponent(value.toExponential(7))
    : String(Number(value.toPrecision(8)))
}

/** A power of ten on a logarithmic axis: 1, 10, 100, 1e3. */
export const powerOfTen = (value: number): string =>
  value < 1000 ? String(value) : value.toExponential(0).replace('+', '')

/** As a tolerance is typed: 1e-3. */
export const withExponent = (value: number): string => value.toExponential()

/** A metric of a profile: whole numbers in full, others with three digits. */
export function figure(value: number): string {
  if (Number.isNaN(value)) return '–'
  return Number.isInteger(value) ? count(value) : digits(value)
}

/** A name in so many characters, its end as long as its beginning: names of kernels differ at their ends. */
export function cutInTheMiddle(name: string, characters: number): string {
  if (name.length <= characters) return name
  if (characters < 2) return characters < 1 ? '' : '…'
  const kept = characters - 1
  const end = Math.floor(kept / 2)
  return `${name.slice(0, kept - end)}…${end > 0 ? name.slice(-end) : ''}`
}

/** A length of time as it is measured between two edges: five digits, 112.27 µs. */
export function timeSpan(ns: number): string {
  const scale = scaleFor('time', Math.abs(ns))
  const value = ns * scale.factor
  return `${withDigitsUpTo(5).format(value)} ${scale.unit}`
}

/** A round time, ns, with no more digits than a step of `step` ns needs: 3,600.000025 s, 25 µs. */
export function exactTime(ns: number, step = ns): string {
  const scale = scaleFor('time', Math.abs(ns))
  const decimals = Math.max(0, Math.ceil(-Math.log10((step || 1) * scale.factor) - 1e-9))
  const value = ns * scale.factor
  return `${withDecimalsUpTo(Math.min(12, decimals)).format(value)} ${scale.unit}`
}

/** Decibels, as signal over noise. */
export const decibels = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(2))

/** An error figure: 2.07e-4, 12.5; zero stays 0, NaN and infinities stay visible. */
export function errorFigure(value: number): string {
  if (value === 0) return '0'
  if (!Number.isFinite(value)) return String(value)
  const size = Math.abs(value)
  return size >= 0.01 && size < 1e5 ? digits(value) : value.toExponential(2)
}

export function percent(share: number): string {
  if (!Number.isFinite(share)) return '–'
  const value = share * 100
  if (value !== 0 && Math.abs(value) < 0.05) return value > 0 ? '< 0.1 %' : '> −0.1 %'
  return `${value !== 0 && Math.abs(value) < 10 ? value.toFixed(1) : value.toFixed(0)} %`
}

/** A change as a share of what was before, from the ratio of after to before: +18 %, −31 %, 0 %. */
export function signedPercent(ratio: number): string {
  if (!Number.isFinite(ratio)) return '–'
  const text = percent(Math.abs(ratio - 1))
  if (text === percent(0)) return text
  return `${ratio > 1 ? '+' : '−'}${text}`
}

/** A change with its sign: +0.137, −3.19, 0. */
export function signed(value: number): string {
  if (Number.isNaN(value) || value === 0) return figure(value)
  return `${value > 0 ? '+' : '−'}${figure(Math.abs(value))}`
}

export function ratio(value: number): string {
  return Number.isFinite(value) ? `${value.toFixed(3)}×` : '–'
}

/** How long something takes, for progress and plans: 23.1 ms, 0.4 s, 12 s, 3 min 20 s, 2 h 5 min. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return '–'
  if (seconds > 0 && seconds < 0.1) return `${digits(seconds * 1000)} ms`
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return join(Math.floor(whole / 60), 'min', whole % 60, 's')
  return join(Math.floor(whole / 3600), 'h', Math.floor((whole % 3600) / 60), 'min')
}

function join(high: number, highUnit: string, low: number, lowUnit: string): string {
  return low === 0 ? `${high} ${highUnit}` : `${high} ${highUnit} ${low} ${lowUnit}`
}

export function dateTime(iso: string): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return iso
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** 'just now', '5 min ago', '3 h ago', then the date. */
export function ago(iso: string, now = Date.now()): string {
  const seconds = (now - Date.parse(iso)) / 1000
  if (Number.isNaN(seconds)) return iso
  if (seconds < 60) return 'just now'
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return dateTime(iso).slice(0, 10)
}

export function shape(m: number, n: number, k: number): string {
  return m === n && n === k ? `${count(m)}³` : `${count(m)} × ${count(n)} × ${count(k)}`
}

/** How many times as fast: 3.57 ×. */
export const times = (value: number | undefined): string =>
  value === undefined || !Number.isFinite(value) ? '–' : `${digits(value)} ×`
