import { describe, expect, it } from 'vitest'
import { FoundSlices } from '@shared/profile/lanes/findSlices'
import { groupsBy } from '@shared/profile/lanes/groups'
import { endOf, lanesOf, placeInRow, startOf } from '@shared/profile/lanes/lanes'
import { overviewOf } from '@shared/profile/lanes/overview'
import { workLanes } from '@shared/profile/lanes/rangeSums'
import { AllRowSums } from '@shared/profile/lanes/rowSums'
import { sceneOf, type Scene } from '@shared/profile/lanes/scene'
import { kernelNames, laneOf, timelineOf } from './generatedTimeline'
import { given, lanes, sums, windows } from './twoStreams'

describe('a scene', () => {
  const boxesOf = (scene: Scene) =>
    Array.from({ length: scene.count }, (_, at) => ({
      row: scene.row[at]!,
      start: scene.start[at]!,
      end: scene.end[at]!,
      slice: scene.slice[at]!,
      several: scene.several[at]!,
      group: scene.group[at]!,
      fill: scene.fill[at]!,
      hit: scene.hit[at]!,
      name: scene.name[at]!
    }))
  const width = 800
  const rows = [0, 1]

  it.each(windows)('stands for every slice of its window once, %j', ({ startNs, endNs }) => {
    const scene = sceneOf(sums, { startNs, endNs, width, rows }, null)
    for (const row of rows) {
      const boxes = boxesOf(scene).filter((box) => box.row === row)
      const touching = [...lanes.rows[row]!.slices].filter(
        (slice) => startOf(lanes, slice) < endNs && endOf(lanes, slice) > startNs
      )
      const shown = boxes.reduce((sum, { several }) => sum + several, 0)
      // A bin at the right edge is drawn whole.
      expect(shown).toBeGreaterThanOrEqual(touching.length)
      const drawn = boxes.flatMap(({ slice, several }) => {
        const at = placeInRow(lanes, row, slice)
        return [...lanes.rows[row]!.slices.slice(at, at + several)]
      })
      expect(drawn.slice(0, touching.length)).toEqual(touching)
      // No more boxes than there are pixels for.
      expect(boxes.length).toBeLessThanOrEqual(width + 2)
      for (const box of boxes) {
        const pixels = ((box.end - box.start) / (endNs - startNs)) * width
        if (box.several === 1) expect(box.name >= 0).toBe(pixels >= 18)
      }
      boxes
        .slice(1)
        .forEach((box, at) => expect(box.start).toBeGreaterThanOrEqual(boxes[at]!.start))
    }
  })

  it('gives several the colour of the largest, and how full they are', () => {
    const tiny = lanesOf(
      timelineOf(
        [laneOf('stream 7')],
        [
          ...Array.from({ length: 100 }, (_, at) => ({
            name: at % 4 === 0 ? 'gemm' : 'norm',
            lane: 0,
            startNs: at * 10,
            durationNs: at % 4 === 0 ? 4 : 1
          })),
          { name: 'copy', lane: 0, startNs: 1e6, durationNs: 10 }
        ]
      )
    )
    const ofTiny = new AllRowSums(
      tiny,
      groupsBy(tiny.timeline, kernelNames, (name) => kernelNames.indexOf(name))
    )
    const [box, last] = boxesOf(
      sceneOf(ofTiny, { startNs: 0, endNs: 1e6 + 10, width: 100, rows: [0] }, null)
    )
    expect(box).toMatchObject({ several: 100, group: 0, name: -1 })
    expect(last).toMatchObject({ several: 1, group: 4, end: 1e6 + 10 })
    expect(box!.fill).toBeLessThan(128)
    const found = new FoundSlices(tiny, 'COPY')
    const hits = boxesOf(
      sceneOf(ofTiny, { startNs: 0, endNs: 1e6 + 10, width: 100, rows: [0] }, found)
    ).map(({ hit }) => hit)
    expect(hits).toEqual([0, 1])
  })

  it('tells a nanosecond apart an hour into a trace', () => {
    const hour = 3.6e12
    const long = lanesOf(
      timelineOf(
        [laneOf('stream 7')],
        [
          { name: 'first', lane: 0, startNs: 5e12, durationNs: 1 },
          { name: 'a', lane: 0, startNs: 5e12 + hour, durationNs: 1 },
          { name: 'b', lane: 0, startNs: 5e12 + hour + 1, durationNs: 1 }
        ]
      )
    )
    const ofLong = new AllRowSums(
      long,
      groupsBy(long.timeline, ['all'], () => 0)
    )
    const window = { startNs: hour, endNs: hour + 2 }
    const boxes = boxesOf(sceneOf(ofLong, { ...window, width: 200, rows: [0] }, null))
    expect(boxes.map(({ start, end }) => [start - hour, end - hour])).toEqual([
      [0, 1],
      [1, 2]
    ])
  })
})

describe('an overview', () => {
  it('has the time of every slice', () => {
    const width = 300
    const shares = overviewOf(sums, workLanes(lanes), width)
    const binNs = lanes.lengthNs / width
    for (const [group, name] of kernelNames.entries()) {
      let ns = 0
      for (let bin = 0; bin < width; bin++) ns += shares[bin * kernelNames.length + group]!
      const wanted = given
        .filter((slice) => slice.name === name)
        .reduce((sum, slice) => sum + slice.durationNs, 0)
      expect((ns * binNs * 2) / wanted).toBeCloseTo(1, 4)
    }
  })
})
