import { describe, expect, it } from 'vitest'
import { FoundSlices } from '@shared/profile/lanes/findSlices'
import { deviceGaps, longestGap, nextGap } from '@shared/profile/lanes/gaps'
import { groupsBy } from '@shared/profile/lanes/groups'
import {
  endOf,
  lanesOf,
  nameOf,
  placeInRow,
  rowOfSlice,
  startOf,
  workRows,
  type Lanes
} from '@shared/profile/lanes/lanes'
import { rangeSums, workLanes } from '@shared/profile/lanes/rangeSums'
import { AllRowSums } from '@shared/profile/lanes/rowSums'
import { sliceFacts } from '@shared/profile/lanes/sliceFacts'
import { sortByStart } from '@shared/profile/lanes/sortByStart'
import { besides, nearestIn, sliceAt } from '@shared/profile/lanes/walk'
import { kernelNames, laneOf, timelineOf, type GivenSlice } from './generatedTimeline'
import { given, lanes, random, sums, timeline, windows } from './twoStreams'

/** The same by looking at every slice. */
function overlapNs(slice: GivenSlice, startNs: number, endNs: number): number {
  const start = slice.startNs - lanes.originNs
  return Math.max(0, Math.min(start + slice.durationNs, endNs) - Math.max(start, startNs))
}

describe('lanes', () => {
  it('have every slice once, in rows in which none overlaps the next', () => {
    const seen = new Set<number>()
    for (const { slices } of lanes.rows) {
      for (let at = 0; at < slices.length; at++) {
        seen.add(slices[at]!)
        if (at > 0)
          expect(startOf(lanes, slices[at]!)).toBeGreaterThanOrEqual(endOf(lanes, slices[at - 1]!))
      }
    }
    expect(seen.size).toBe(timeline.count)
    expect(lanes.tooDeep).toBe(0)
    expect(lanes.originNs).toBe(Math.min(...given.map(({ startNs }) => startNs)))
    expect(lanes.rows.map(({ lane }) => lane)).toEqual([0, 1])
  })

  it('sort as a comparison does, also where slices start together', () => {
    const count = 50_000
    const starts = Float64Array.from({ length: count }, () => Math.floor(random() * 9000) * 1e9)
    const durations = Float64Array.from({ length: count }, () => Math.floor(random() * 3))
    const slices = Int32Array.from({ length: count }, (_, at) => at)
    const wanted = [...slices].sort(
      (a, b) => starts[a]! - starts[b]! || durations[b]! - durations[a]! || a - b
    )
    sortByStart(slices, starts, durations)
    expect([...slices]).toEqual(wanted)
  })

  it('of calls have a row to each level; annotations of a stream stand above its work', () => {
    const slice = (name: string, lane: number, startNs: number, endNs: number, category = 'x') => ({
      ...{ name, lane, startNs, category },
      durationNs: endNs - startNs
    })
    const nested = lanesOf(
      timelineOf(
        [laneOf('thread 1'), laneOf('stream 7', 'python', '0')],
        [
          slice('outer', 0, 0, 100),
          slice('first', 0, 0, 40),
          slice('deep', 0, 10, 20),
          slice('second', 0, 40, 100),
          slice('note', 1, 5, 90, 'gpu_user_annotation'),
          slice('a', 1, 10, 30, 'kernel'),
          slice('b', 1, 30, 60, 'kernel'),
          slice('beside b', 1, 40, 70, 'kernel')
        ]
      )
    )
    const names = nested.rows.map(({ slices }) => [...slices].map((one) => nameOf(nested, one)))
    expect(names).toEqual([
      ['outer'],
      ['first', 'second'],
      ['deep'],
      ['note'],
      ['a', 'b'],
      ['beside b']
    ])
    expect(nested.lanes.map(({ kind }) => kind)).toEqual(['thread', 'stream'])
    expect(workRows(nested, nested.lanes[1]!)).toEqual([4, 5])
    // Kernels that overlap are busy once.
    const all = new AllRowSums(
      nested,
      groupsBy(nested.timeline, ['all'], () => 0)
    )
    const [stream] = rangeSums(all, { startNs: 0, endNs: 100 }, [1]).lanes
    expect(stream).toMatchObject({ busyNs: 60, count: 3 })
    // Of calls each has its own time.
    const calls = rangeSums(all, { startNs: 0, endNs: 100 }, [0])
    const own = Object.fromEntries(calls.names.map(({ name, ns }) => [name, ns]))
    expect(own).toEqual({ outer: 0, first: 30, deep: 10, second: 60 })
    expect(calls.ns).toBe(100)
  })

  it('find each slice again', () => {
    for (let slice = 0; slice < timeline.count; slice += 37) {
      const row = rowOfSlice(lanes, slice)
      expect(lanes.rows[row]!.slices[placeInRow(lanes, row, slice)]).toBe(slice)
    }
  })
})

describe('sums of a range', () => {
  it.each(windows)('are those of a look at every slice, %j', ({ startNs, endNs }) => {
    const found = rangeSums(sums, { startNs, endNs }, workLanes(lanes))
    for (const { name, ns, count, group } of found.names) {
      const touching = given.filter(
        (slice) => slice.name === name && overlapNs(slice, startNs, endNs) > 0
      )
      const total = touching.reduce((sum, slice) => sum + overlapNs(slice, startNs, endNs), 0)
      expect(ns).toBeCloseTo(total, 2)
      expect(count).toBe(touching.length)
      expect(kernelNames[group]).toBe(name)
    }
    for (const { lane, busyNs } of found.lanes) {
      const total = given
        .filter((slice) => slice.lane === lane)
        .reduce((sum, slice) => sum + overlapNs(slice, startNs, endNs), 0)
      expect(busyNs).toBeCloseTo(total, 2)
    }
  })

  it('have the longest gap of a stream, and what ends it', () => {
    const small = lanesOf(
      timelineOf(
        [laneOf('stream 7')],
        [
          { name: 'a', lane: 0, startNs: 100, durationNs: 50 },
          { name: 'b', lane: 0, startNs: 170, durationNs: 10 },
          { name: 'c', lane: 0, startNs: 300, durationNs: 10 }
        ]
      )
    )
    const at = (startNs: number, endNs: number) => longestGap(small, 0, { startNs, endNs })
    expect(at(0, 210)).toEqual({ startNs: 80, endNs: 200, next: 2 })
    expect(at(0, 80)).toEqual({ startNs: 50, endNs: 70, next: 1 })
    expect(at(0, 1000)).toEqual({ startNs: 210, endNs: 1000, next: -1 })
    expect(at(10, 40)).toBeNull()
  })
})

describe('gaps of a device', () => {
  it('are where no stream of it runs anything', () => {
    const gaps = deviceGaps(lanes)
    const ends = given.map(({ startNs, durationNs }) => startNs + durationNs - lanes.originNs)
    expect(gaps.startNs.length).toBeGreaterThan(20)
    gaps.startNs.forEach((startNs, at) => {
      const endNs = gaps.endNs[at]!
      expect(endNs - startNs).toBeGreaterThanOrEqual(5000)
      expect(given.every((slice) => overlapNs(slice, startNs, endNs) === 0)).toBe(true)
      expect(ends).toContain(startNs)
      expect(startOf(lanes, gaps.next[at]!)).toBe(endNs)
    })
    const idle = gaps.endNs.reduce((sum, endNs, at) => sum + endNs - gaps.startNs[at]!, 0)
    const edges = [...new Set([...ends, ...given.map((one) => one.startNs - lanes.originNs)])]
    edges.sort((a, b) => a - b)
    const wanted = edges.slice(1).reduce((sum, end, at) => {
      const start = edges[at]!
      const isIdle = given.every((slice) => overlapNs(slice, start, end) === 0)
      return sum + (isIdle && end - start >= 5000 ? end - start : 0)
    }, 0)
    expect(idle).toBe(wanted)
  })

  it('are walked through', () => {
    const gaps = deviceGaps(lanes)
    const [first, second] = gaps.startNs
    expect(nextGap(gaps, -1, 1)).toBe(0)
    expect(nextGap(gaps, first!, 1)).toBe(1)
    expect(nextGap(gaps, second!, -1)).toBe(0)
    expect(nextGap(gaps, first!, -1)).toBe(-1)
    expect(nextGap(gaps, lanes.lengthNs, 1)).toBe(-1)
  })
})

describe('a search', () => {
  const inTime = (of: Lanes, slices: number[]) =>
    slices.sort((a, b) => startOf(of, a) - startOf(of, b) || a - b)

  it('counts, and walks through the hits in time, round the end', () => {
    const found = new FoundSlices(lanes, 'soft')
    const wanted = inTime(
      lanes,
      given.flatMap(({ name }, slice) => (name === 'softmax' ? [slice] : []))
    )
    expect(found.count).toBe(wanted.length)
    const forth: number[] = []
    for (let at = -1; forth.length < wanted.length;) forth.push((at = found.next(at, 1)))
    expect(forth).toEqual(wanted)
    expect(found.next(wanted[wanted.length - 1]!, 1)).toBe(wanted[0])
    const back: number[] = []
    for (let at = -1; back.length < wanted.length;) back.push((at = found.next(at, -1)))
    expect(back.reverse()).toEqual(wanted)
    expect(wanted.map((slice) => found.placeOf(slice))).toEqual(wanted.map((_, at) => at + 1))
  })

  it('steps over what is rare, and finds names that start together', () => {
    const many = Array.from({ length: 3000 }, (_, at) => ({
      name: at % 1000 === 500 ? 'rare' : 'usual',
      lane: at % 2,
      startNs: Math.floor(at / 2) * 10,
      durationNs: 0
    }))
    const of = lanesOf(timelineOf([laneOf('a'), laneOf('b')], [...many, ...many]))
    const found = new FoundSlices(of, '/^rare$/')
    const wanted = inTime(of, [500, 1500, 2500, 3500, 4500, 5500])
    const forth: number[] = []
    for (let at = -1; forth.length < 6;) forth.push((at = found.next(at, 1)))
    expect(forth).toEqual(wanted)
    expect(new FoundSlices(of, 'absent').next(-1, 1)).toBe(-1)
  })
})

describe('from slice to slice', () => {
  it('under the pointer, beside and on other lanes', () => {
    const { slices } = lanes.rows[0]!
    const middle = slices[100]!
    const inside = (startOf(lanes, middle) + endOf(lanes, middle)) / 2
    expect(sliceAt(lanes, 0, inside, 0)).toBe(middle)
    expect(besides(lanes, 0, middle, 1)).toBe(slices[101])
    expect(besides(lanes, 0, slices[0]!, -1)).toBe(-1)
    const near = nearestIn(lanes, 1, middle)
    const distance = (slice: number) =>
      Math.max(0, startOf(lanes, slice) - inside, inside - endOf(lanes, slice))
    expect(distance(near)).toBe(Math.min(...[...lanes.rows[1]!.slices].map(distance)))
  })
})

describe('a slice', () => {
  const call = (lane: number, startNs: number, correlation: number) => ({
    name: 'cudaLaunchKernel',
    category: 'cuda_runtime',
    ...{ lane, startNs, correlation },
    durationNs: 5
  })
  const kernel = (lane: number, startNs: number, correlation: number) => ({
    name: 'gemm',
    facts: { grid: '8 x 4 x 1' },
    ...{ lane, startNs, correlation },
    durationNs: 50
  })
  /** Two ranks, in each of which ids begin at 1. */
  const ranks = timelineOf(
    [
      laneOf('thread', 'python', '10'),
      laneOf('stream 7', 'python', '0'),
      laneOf('thread', 'python', '20')
    ],
    [
      call(0, 0, 1),
      kernel(1, 20, 1),
      call(2, 100, 1),
      kernel(1, 130, 1),
      kernel(1, 200, 1),
      kernel(1, 300, 0)
    ]
  )

  it('says what launched it and what it launched, also where ids come twice', () => {
    const of = lanesOf(ranks)
    expect(sliceFacts(of, 1)).toMatchObject({
      launch: { slice: 0 },
      facts: { grid: '8 x 4 x 1' },
      startNs: 20
    })
    expect(sliceFacts(of, 3).launch?.slice).toBe(2)
    expect(sliceFacts(of, 0).launched.map(({ slice }) => slice)).toEqual([1])
    expect(sliceFacts(of, 2).launched.map(({ slice }) => slice)).toEqual([3, 4])
    expect(sliceFacts(of, 5)).toMatchObject({ launch: null, launched: [] })
  })

  it('takes the flows of the file before that', () => {
    const of = lanesOf({ ...ranks, flows: [{ from: 2, to: 5 }] })
    expect(sliceFacts(of, 5).launch?.slice).toBe(2)
    expect(sliceFacts(of, 2).launched.map(({ slice }) => slice)).toEqual([5])
  })
})
