import { describe, expect, it } from 'vitest'
import {
  commandRange,
  rangeOf,
  rangeWithin
} from '../../../../../src-shared/profile/lanes/rangeText'

const lengthNs = 5e6

describe('A range in words', () => {
  it.each([
    ['1ms..3ms', 1e6, 3e6],
    ['3.642ms..3.754ms', 3.642e6, 3.754e6],
    ['500us..1ms', 500e3, 1e6],
    ['500µs..1ms', 500e3, 1e6],
    ['.5ms .. 1.ms', 0.5e6, 1e6],
    ['1ms..', 1e6, lengthNs],
    ['..800ns', 0, 800],
    ['0ns..2s', 0, 2e9]
  ])('%s', (text, startNs, endNs) => {
    expect(rangeOf(text, lengthNs)).toEqual({ startNs, endNs })
  })

  it.each([
    ['', /FROM\.\.TO/],
    ['..', /FROM\.\.TO/],
    ['1ms', /FROM\.\.TO/],
    ['1ms..2ms..3ms', /FROM\.\.TO/],
    ['1..2', /'1' is no time with a unit/],
    ['1ms..2 hours', /'2 hours' is no time/],
    ['-1ms..2ms', /'-1ms' is no time/],
    ['2ms..1ms', /ends before it begins/],
    ['9ms..', /ends before it begins/]
  ])('refuses "%s"', (text, message) => {
    expect(() => rangeOf(text, lengthNs)).toThrow(message)
  })

  it('that begins after the end of the trace is refused where there is one', () => {
    expect(rangeWithin('4ms..9ms', lengthNs)).toEqual({ startNs: 4e6, endNs: 9e6 })
    expect(() => rangeWithin('5ms..9ms', lengthNs)).toThrow(/the trace ends after 5 ms/)
  })

  it.each([
    [0, 800],
    [1234.5, 3_642_000],
    [999, 1e9],
    [1.5e9, 3.600_000_000_25e12]
  ])('is written as it is read: %d to %d ns', (startNs, endNs) => {
    expect(rangeOf(commandRange({ startNs, endNs }), 1e13)).toEqual({
      startNs: Math.round(startNs * 1000) / 1000,
      endNs: Math.round(endNs * 1000) / 1000
    })
  })
})
