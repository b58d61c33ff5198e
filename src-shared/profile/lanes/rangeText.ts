/** Ranges as a command line says them: '3.642ms..3.754ms', from the first slice. */
import { UserError } from '../../errors'
import type { Window } from './window'

const units: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 }

/**
 * @param text two times of which one may be left out: '1ms..', '..2.5s'
 * @throws UserError when it is none.
 */
export function rangeOf(text: string, lengthNs: number): Window {
  const [from, to, ...more] = text.split('..')
  if (from === undefined || to === undefined || more.length > 0 || from + to === '')
    throw problem(text, 'write it as FROM..TO, as 3.642ms..3.754ms')
  const startNs = from === '' ? 0 : timeOf(from, text)
  const endNs = to === '' ? lengthNs : timeOf(to, text)
  if (startNs >= endNs) throw problem(text, 'it ends before it begins')
  return { startNs, endNs }
}

/** The same, of a trace that lasts so long: a range that begins after its end is of nothing. */
export function rangeWithin(text: string, lengthNs: number): Window {
  const range = rangeOf(text, lengthNs)
  if (range.startNs >= lengthNs && lengthNs > 0)
    throw problem(text, `the trace ends after ${lengthNs / 1e6} ms`)
  return range
}

function timeOf(text: string, range: string): number {
  const [, digits, unit] = /^\s*(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|µs|ms|s)\s*$/.exec(text) ?? []
  if (digits === undefined)
    throw problem(range, `'${text}' is no time with a unit: ns, us, ms or s`)
  return Number(digits) * units[unit!]!
}

const problem = (text: string, why: string) => new UserError('usage', `--range ${text}: ${why}.`)

/** To the nanosecond, or to its thousandth where that is what a trace has. */
export function commandRange({ startNs, endNs }: Window): string {
  return `${timeText(startNs)}..${timeText(endNs)}`
}

function timeText(ns: number): string {
  const unit = ns >= 1e9 ? 's' : ns >= 1e6 ? 'ms' : ns >= 1e3 ? 'us' : 'ns'
  return `${Number((Math.round(ns * 1000) / 1000 / units[unit]!).toPrecision(15))}${unit}`
}
