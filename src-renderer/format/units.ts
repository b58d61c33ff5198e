/** Numbers for people: three significant digits, a unit beside the number, never inside it. */

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
  { unit: 'TFLOP/s', factor: 1 },
  { unit: 'PFLOP/s', factor: 1e-3 }
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
  return value.toLocaleString('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals
  })
}

export function count(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 0 })
}

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
  return m === n && n === k ? `${m}³` : `${m} × ${n} × ${k}`
}
