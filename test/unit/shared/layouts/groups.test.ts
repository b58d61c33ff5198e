import { describe, expect, it } from 'vitest'
import { detectGroups } from '@shared/layouts/detectGroups'
import { detectionLines } from '@shared/layouts/detectWords'
import { groupedLayoutMap, groupScales } from '@shared/layouts/groups'
import { packScales } from '@shared/layouts/layout'
import { findLayout, layouts } from '@shared/layouts/registry'

const columns = 6
const nvidia = findLayout('nvidia_32_4_4')
/** Scales that tell their places. */
const linearOf = (groups: readonly number[]) =>
  Uint8Array.from(
    { length: groups.reduce((sum, rows) => sum + rows, 0) * columns },
    (_, at) => (at * 37 + Math.floor(at / 251)) % 256
  )

/** As a quantiser packs them, group by group. */
function packedOnTheirOwn(groups: readonly number[], linear: Uint8Array, layout = nvidia) {
  let row = 0
  return Uint8Array.from(
    groups.flatMap((rows) => {
      if (rows === 0) return []
      const own = linear.subarray(row * columns, (row + rows) * columns)
      row += rows
      return [...packScales(layout, { rows, columns }, own)]
    })
  )
}

describe('scales of groups', () => {
  it('begin where the padding of every group before them ends', () => {
    // 128 rows by 8 columns a tile: groups of 4 and 4 rows, and of 1 and 7, and one that fills a tile and more.
    const starts = (groups: number[]) =>
      groupScales(nvidia, groups, columns).map(({ firstByte, onceByte }) => [firstByte, onceByte])
    expect(starts([4, 4])).toEqual([
      [0, 0],
      [1024, 64]
    ])
    expect(starts([1, 7])).toEqual([
      [0, 0],
      [1024, 16]
    ])
    expect(starts([129, 0, 3])).toEqual([
      [0, 0],
      [2048, undefined],
      [2048, 1024 + 16]
    ])
    expect(
      groupScales(nvidia, [128, 128], columns).every((one) => one.firstByte === one.onceByte)
    ).toBe(true)
  })

  it.each(layouts.map(({ name }) => name))('are mapped as %s packs each of them', (name) => {
    const groups = [5, 0, 130, 1]
    const layout = findLayout(name)
    const linear = linearOf(groups)
    const packed = packedOnTheirOwn(groups, linear, layout)
    const map = groupedLayoutMap(layout, groups, columns)
    expect(map).toHaveLength(packed.length)
    expect([...map].filter((index) => index >= 0).toSorted((a, b) => a - b)).toEqual(
      Array.from(linear, (_, at) => at)
    )
    expect([...map].every((index, at) => index < 0 || packed[at] === linear[index])).toBe(true)
  })
})

describe('the detective', () => {
  const groups = [4, 0, 4, 130]
  const linear = linearOf(groups)

  it('knows a layout with each group padded on its own', () => {
    const packed = packedOnTheirOwn(groups, linear)
    const found = detectGroups(packed, linear, groups, columns)
    expect(found).toMatchObject({ verdict: 'layout', layout: 'nvidia_32_4_4', agreement: 1 })
    expect(found.firstDifference).toBeUndefined()
  })

  it('names groups that were padded once for all, and the first scale that lies elsewhere', () => {
    const shape = { rows: 138, columns }
    const once = packScales(nvidia, shape, linear)
    const found = detectGroups(once, linear, groups, columns)
    expect(found).toMatchObject({
      ...{ verdict: 'defect', layout: 'nvidia_32_4_4', defect: 'group-padding' },
      firstDifference: { row: 4, column: 0 }
    })
    expect(detectionLines(found, once.length, shape)[0]).toBe(
      'nvidia_32_4_4 with a mistake: the groups were padded once for all instead of each on its own.'
    )
  })

  it('names other mistakes, and the nearest where there is none', () => {
    const even = [128, 128]
    const scales = linearOf(even)
    const unpadded = detectGroups(scales, scales, even, columns)
    expect(unpadded).toMatchObject({ verdict: 'layout', layout: 'linear' })
    const spoilt = packedOnTheirOwn(groups, linear)
    spoilt[1024] = spoilt[1024]! ^ 1
    expect(detectGroups(spoilt, linear, groups, columns)).toMatchObject({
      ...{ verdict: 'nearest', layout: 'nvidia_32_4_4' },
      firstDifference: { offset: 1024, row: 4, column: 0 }
    })
    expect(() => detectGroups(spoilt, linear, [4, 4], columns)).toThrow(
      'groups of 8 rows x 6 need 48'
    )
  })
})
