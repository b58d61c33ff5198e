/** The stretch that a picture shows: pure arithmetic. */
import { describe, expect, it } from 'vitest'
import {
  fitted,
  lengthOf,
  limited,
  moved,
  pixelOf,
  showing,
  valueAt,
  zoomed,
  type SpanLimits
} from '../../../../src-renderer/canvas/span'

const limits: SpanLimits = { whole: { start: 0, end: 1 }, least: 1e-9 }

describe('a span', () => {
  it('keeps what is under the pointer where it is', () => {
    let span = { start: 0, end: 1 }
    const before = valueAt(300, span, 1000)
    for (let turn = 0; turn < 60; turn++) span = zoomed(span, 0.3, 1.3, limits)
    expect(lengthOf(span)).toBeLessThan(1e-6)
    expect(valueAt(300, span, 1000)).toBeCloseTo(before, 12)
  })

  it('never shows more than there is nor less than the least', () => {
    expect(zoomed({ start: 0.2, end: 0.4 }, 0.5, 0.01, limits)).toEqual({ start: 0, end: 1 })
    const deep = zoomed({ start: 0.2, end: 0.4 }, 0.5, 1e30, limits)
    expect(lengthOf(deep)).toBeCloseTo(1e-9, 15)
    expect(limited({ start: -0.5, end: 0.1 }, limits)).toEqual({ start: 0, end: 0.6 })
    expect(moved({ start: 0.5, end: 0.9 }, 10, limits).end).toBe(1)
    expect(moved({ start: 0.5, end: 0.9 }, -10, limits).start).toBe(0)
  })

  it('goes from hours to a nanosecond', () => {
    const day: SpanLimits = { whole: { start: 0, end: 86_400e9 }, least: 1 }
    let span = day.whole
    for (let turn = 0; turn < 200; turn++) span = zoomed(span, 0.75, 2, day)
    expect(lengthOf(span)).toBeCloseTo(1, 2)
    expect(span.start).toBeCloseTo(64_800e9, -1)
  })

  it('moves only when what is looked for is out of sight, and zooms when it would be too thin', () => {
    const span = { start: 0.2, end: 0.4 }
    expect(showing(span, { start: 0.25, end: 0.3 }, limits)).toBe(span)
    const right = showing(span, { start: 0.6, end: 0.65 }, limits)
    expect(lengthOf(right)).toBeCloseTo(0.2)
    expect(right.end).toBeGreaterThan(0.65)
    const thin = showing(span, { start: 0.3, end: 0.3 + 1e-7 }, limits)
    expect(pixelOf(0.3 + 1e-7, thin, 1000) - pixelOf(0.3, thin, 1000)).toBeCloseTo(100, 0)
    // What holds the whole picture is in sight.
    expect(showing(span, { start: 0, end: 1 }, limits)).toBe(span)
  })

  it('fits a stretch with room on both sides', () => {
    const span = fitted({ start: 0.4, end: 0.5 }, limits)
    expect(span.start).toBeLessThan(0.4)
    expect(span.end).toBeGreaterThan(0.5)
    expect(fitted({ start: 0, end: 1 }, limits)).toEqual({ start: 0, end: 1 })
  })
})
