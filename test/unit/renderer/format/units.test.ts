/** One way to write a number, on axes, in tables and in tooltips. */
import { describe, expect, it } from 'vitest'
import {
  band,
  bytesOf,
  counted,
  exactValue,
  precise,
  scaleFor,
  signedTick,
  tick,
  tickOfK,
  times,
  withMinus
} from '@shared/units'

describe('numbers', () => {
  it('of an axis are the ticks themselves, not rounded ones', () => {
    expect([0, 512, 1024, 2048, 8192, 1_048_576].map(tick)).toEqual([
      '0',
      '512',
      '1,024',
      '2,048',
      '8,192',
      '1,048,576'
    ])
    expect([0.125, 0.5, 2.5, 1e-7, 1e12].map(tick)).toEqual(['0.125', '0.5', '2.5', '1e-7', '1e12'])
    expect([512, 2048, 3000, 2 ** 20].map(tickOfK)).toEqual(['512', '2K', '3,000', '1M'])
  })

  it('that a format holds are exact and short', () => {
    expect(exactValue(2 ** -20)).toBe('2^-20')
    expect(exactValue(-(2 ** -127))).toBe('-2^-127')
    expect(exactValue(448)).toBe('448')
    expect(exactValue(NaN)).toBe('NaN')
    expect(precise(8_381_405.186)).toBe('8381405.2')
    expect(precise(9.5367431640625e-7)).toBe('9.5367432e-7')
  })

  it('have their noun in the right number', () => {
    expect([0, 1, 2, 2400].map((of) => counted(of, 'run'))).toEqual([
      '0 runs',
      '1 run',
      '2 runs',
      '2,400 runs'
    ])
    expect(counted(2, 'match', 'matches')).toBe('2 matches')
  })

  it('under TFLOP/s stay TFLOP/s however large', () => {
    expect(scaleFor('rate', 4500)).toMatchObject({ unit: 'TFLOP/s' })
    expect(scaleFor('rate', 0.3)).toMatchObject({ unit: 'GFLOP/s' })
  })

  it('of a comparison say how many times', () => {
    expect(times(3.5719)).toBe('3.57 ×')
    expect(times(undefined)).toBe('–')
  })
})

it('what is read has the minus that is as wide as a plus; a tick of differences has its sign', () => {
  expect(withMinus('-0.5')).toBe('−0.5')
  expect(withMinus('2^-20')).toBe('2^-20')
  expect([-0.25, 0, 0.25, 1024].map(signedTick)).toEqual(['−0.25', '0', '+0.25', '+1,024'])
})

it('a band has both of its ends, or none; bytes are of bytes', () => {
  expect(band(311.4, 342)).toBe('311–342')
  expect(band(NaN, 342)).toBe('–')
  expect(bytesOf(2 ** 20, 2 ** 30)).toBe('1.00 MiB of 1.00 GiB')
})
