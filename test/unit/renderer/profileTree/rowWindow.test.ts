import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  boxHeight,
  boxTop,
  elementsFor,
  rowsAt,
  tableTop,
  tallestBox,
  type Elements
} from '../../../../src-renderer/profileTree/rowWindow'

const view = 800

describe('Scrolling a table that is taller than its box', () => {
  it('is one to one where the table fits', () => {
    expect(boxHeight(5000)).toBe(5000)
    expect(tableTop(1234, 5000, view)).toBe(1234)
    expect(boxTop(1234, 5000, view)).toBe(1234)
  })

  it('reaches both ends of 34 million pixels, one to one beside them', () => {
    const total = 34_000_034
    const most = tallestBox - view
    expect(boxHeight(total)).toBe(tallestBox)
    expect([tableTop(0, total, view), tableTop(700, total, view)]).toEqual([0, 700])
    expect(tableTop(most, total, view)).toBe(total - view)
    expect(tableTop(most - 300, total, view)).toBe(total - view - 300)
  })

  it('has an inverse, and never goes back', () => {
    const total = 34_000_034
    const tops = fc.integer({ min: 0, max: total - view })
    fc.assert(
      fc.property(tops, tops, (one, other) => {
        expect(tableTop(boxTop(one, total, view), total, view)).toBeCloseTo(one, 2)
        if (one < other)
          expect(boxTop(one, total, view)).toBeLessThanOrEqual(boxTop(other, total, view))
      })
    )
  })
})

describe('Rows that are drawn', () => {
  it('are those in sight and a few beside them, never beyond the ends', () => {
    expect(rowsAt(0, 280, 28, 1000, 4)).toEqual({ first: 0, end: 14 })
    expect(rowsAt(2800, 280, 28, 1000, 4)).toEqual({ first: 96, end: 114 })
    expect(rowsAt(27_900, 280, 28, 1000, 4)).toEqual({ first: 992, end: 1000 })
    expect(rowsAt(500, 280, 28, 3, 4)).toEqual({ first: 3, end: 3 })
  })

  it('keep their elements, and those that are free are used again', () => {
    const none: Elements = { first: 0, end: 0, ids: [] }
    const at0 = elementsFor(none, { first: 0, end: 4 })
    expect(at0.ids).toEqual([0, 1, 2, 3])
    expect(elementsFor(at0, { first: 1, end: 5 }).ids).toEqual([1, 2, 3, 0])
    expect(elementsFor(at0, { first: 100, end: 104 }).ids).toEqual([0, 1, 2, 3])
    const later = elementsFor(at0, { first: 2, end: 6 })
    expect(later.ids).toEqual([2, 3, 0, 1])
    expect(elementsFor(later, { first: 1, end: 6 }).ids).toEqual([4, 2, 3, 0, 1])
  })

  it('never share an element', () => {
    const span = fc.record({ first: fc.nat(60), length: fc.nat(30) })
    fc.assert(
      fc.property(fc.array(span), (spans) => {
        let elements: Elements = { first: 0, end: 0, ids: [] }
        for (const { first, length } of spans) {
          const before = elements
          elements = elementsFor(before, { first, end: first + length })
          expect(new Set(elements.ids).size).toBe(length)
          for (let row = first; row < first + length; row++)
            if (row >= before.first && row < before.end)
              expect(elements.ids[row - first]).toBe(before.ids[row - before.first])
        }
      })
    )
  })
})
