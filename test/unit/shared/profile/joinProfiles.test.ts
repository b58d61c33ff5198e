/** Several files as one profile: scopes, lanes, clocks and devices. */
import { describe, expect, it } from 'vitest'
import { lanesOf } from '@shared/profile/lanes/lanes'
import { sliceFacts } from '@shared/profile/lanes/sliceFacts'
import { joinProfiles } from '@shared/profile/read/joinProfiles'
import { nameParts } from '@shared/profile/read/nameParts'
import { openProfile } from '@shared/profile/read/openProfile'
import { nodeName, ownText, pathOf, textColumn } from '@shared/profile/tree/profileTree'

interface TraceMore {
  baseTimeNanoseconds?: number
  distributedInfo?: object
  deviceProperties?: object[]
}

/** A call at 10 us that launches a kernel at 20 us, both of correlation 1, with no arrow between them. */
function part(fileName: string, more: TraceMore, shiftUs = 0) {
  const events = [
    { ph: 'M', name: 'process_name', pid: 42, args: { name: 'python' } },
    {
      ...{ ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 42, tid: 42 },
      ...{ ts: 10 + shiftUs, dur: 2, args: { correlation: 1 } }
    },
    {
      ...{ ph: 'X', cat: 'kernel', name: 'gemm', pid: 0, tid: 7, ts: 20 + shiftUs, dur: 5 },
      args: { correlation: 1, device: 0, stream: 7, grid: [1, 1, 1] }
    }
  ]
  const bytes = new TextEncoder().encode(JSON.stringify({ ...more, traceEvents: events }))
  return { fileName, ...openProfile(bytes, fileName) }
}
const rank = (number: number, more: TraceMore = {}, shiftUs = 0) =>
  part(`r${number}.json`, { distributedInfo: { rank: number, world_size: 2 }, ...more }, shiftUs)

describe('traces of ranks opened together', () => {
  it('have a scope and lanes each, in the order of ranks; each event keeps its node and its launch', () => {
    const { tree, timeline } = joinProfiles([
      rank(1, { baseTimeNanoseconds: 1_700_000_000_000_000_000 }, 100),
      rank(0, { baseTimeNanoseconds: 1_700_000_000_000_000_000 })
    ])
    expect(timeline!.lanes.map((lane) => [lane.processLabel, lane.process, lane.name])).toEqual([
      ...[
        ['rank 0', 'python', '42'],
        ['rank 0', '0', '7']
      ],
      ...[
        ['rank 1', 'python', '42'],
        ['rank 1', '0', '7']
      ]
    ])
    const lanes = lanesOf(timeline!)
    const paths = Array.from(timeline!.node, (node) => pathOf(tree, node).slice(1).join(' > '))
    expect(paths).toEqual([
      'rank 0 > cudaLaunchKernel',
      'rank 0 > cudaLaunchKernel > gemm',
      'rank 1 > cudaLaunchKernel',
      'rank 1 > cudaLaunchKernel > gemm'
    ])
    // Both ranks count their correlations from 1.
    expect(sliceFacts(lanes, 3).launch?.slice).toBe(2)
    expect(sliceFacts(lanes, 1).launch?.slice).toBe(0)
    expect(sliceFacts(lanes, 0).launched.map(({ slice }) => slice)).toEqual([1])
  })

  it('stand on one clock where each says when it began, whichever way', () => {
    const later = 1_700_000_000_000_000_000 + 50_176
    const based = joinProfiles([
      rank(0, { baseTimeNanoseconds: 1_700_000_000_000_000_000 }),
      rank(1, { baseTimeNanoseconds: later })
    ])
    // A double tells times since 1970 apart by 256 ns; a difference of two of them is exact.
    expect([...based.timeline!.startNs]).toEqual([0, 10_000, 50_176, 60_176])
    expect(based.timeline!.baseTimeNs).toBe(1_700_000_000_000_000_000 + 10_000)
    expect(based.tree.warnings.join()).toMatch(/clocks are aligned by the time of day/)
    expect(based.tree.warnings.join()).toMatch(/not recorded at the same time/)
    const sinceEpochUs = 1_700_000_000_000_000
    const absolute = joinProfiles([rank(0, {}, sinceEpochUs), rank(1, {}, sinceEpochUs + 8)])
    expect(absolute.timeline!.startNs[2]).toBeCloseTo(8000, -3)
    expect(absolute.tree.warnings.join()).not.toMatch(/not recorded at the same time/)
  })

  it('of which one does not say when it began each begin at 0, and that is said', () => {
    const { tree, timeline } = joinProfiles([rank(0, { baseTimeNanoseconds: 5 }), rank(1, {}, 500)])
    expect([...timeline!.startNs]).toEqual([0, 10_000, 0, 10_000])
    expect(timeline!.baseTimeNs).toBeNull()
    expect(tree.warnings).toEqual([
      'The clocks are not aligned, for nothing says when rank 1 began: each starts at 0, and what stands below one another did not run at the same time.'
    ])
  })

  it('keep apart GPUs of one number that are not alike', () => {
    const gpu = (name: string, numSms: number) => ({
      deviceProperties: [{ id: 0, name, computeMajor: 9, computeMinor: 0, numSms }]
    })
    const { tree } = joinProfiles([rank(0, gpu('H200', 132)), rank(1, gpu('H20', 78))])
    expect(tree.devices.map(({ id, multiprocessors }) => [id, multiprocessors])).toEqual([
      ['0', 132],
      ['1', 78]
    ])
    const ids = Array.from({ length: tree.count }, (_, node) => node)
      .filter((node) => nodeName(tree, node) === 'gemm')
      .map((node) => ownText(tree, textColumn(tree, 'device_id'), node))
    expect(ids).toEqual(['0', '1'])
    const alike = joinProfiles([rank(0, gpu('H200', 132)), rank(1, gpu('H200', 132))])
    expect(alike.tree.devices).toHaveLength(1)
  })

  it('and profiles without times are in the tree alone, which is said', () => {
    const bytes = new TextEncoder().encode('a;b 3\n')
    const { tree, timeline } = joinProfiles([
      rank(0),
      { fileName: 'rank1.folded', ...openProfile(bytes, 'rank1.folded') }
    ])
    expect(timeline!.count).toBe(2)
    expect(tree.warnings).toContain(
      'Not in the timeline, for they hold sums without times: rank1.folded.'
    )
  })

  it('belong together where each says another rank or all names do; two of one rank may be before and after', () => {
    const told = (...ranks: (number | null)[]) =>
      nameParts(
        ranks.map((number, at) => ({
          fileName: `${at}.json`,
          rank: number === null ? null : { rank: number, worldSize: null }
        }))
      ).belongTogether
    expect([told(0, 1), told(0, 0), told(0, null), told(null, null)]).toEqual([
      ...[true, false, false, false]
    ])
    const named = (...names: string[]) => nameParts(names.map((fileName) => ({ fileName })))
    expect(named('rank-0/t.sqlite', 'rank-1/t.sqlite')).toMatchObject({
      belongTogether: true,
      names: ['rank 0', 'rank 1']
    })
    expect(named('a.hatchet', 'b.hatchet').belongTogether).toBe(false)
  })
})
