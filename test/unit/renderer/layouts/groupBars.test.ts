import { expect, it } from 'vitest'
import { findLayout } from '@shared/layouts/registry'
import { groupBars } from '../../../../src-renderer/views/layouts/groupBars'

const layout = findLayout('nvidia_32_4_4')

it('draws each group where its own padding puts it, and where padding once would', () => {
  const { bars, bytes } = groupBars('4, 4', layout, 8)
  expect(bytes).toBe(2048)
  expect(bars).toMatchObject([
    { group: 0, left: 0, width: 0.5, once: undefined },
    { group: 1, left: 0.5, width: 0.5, firstByte: 1024, onceByte: 64, once: 64 / 2048 }
  ])
  // Groups of 1 and 7 rows end alike and are read from elsewhere.
  expect(groupBars('1, 7', layout, 8).bars[1]).toMatchObject({ firstByte: 1024, onceByte: 16 })
  expect(groupBars('2x128', layout, 8).bars.every(({ once }) => once === undefined)).toBe(true)
})

it('says what is no groups', () => {
  expect(groupBars('', layout, 8)).toEqual({ bars: [], bytes: 0 })
  for (const typed of ['x', '65x1', '4,-1'])
    expect(groupBars(typed, layout, 8).problem).toMatch(/^Rows of/)
  expect(groupBars('0, 0', layout, 8).problem).toBe('None of the groups has a row.')
})
