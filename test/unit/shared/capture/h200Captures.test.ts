/** Pieces of captures of an H200: launches that counters measured, Python frames; and a record that comes very late. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { accountSentences } from '@shared/capture/accountSentences'
import { CaptureReader, type CapturedActivity } from '@shared/capture/captureReader'
import { countersOf } from '@shared/capture/counterTable'
import { allKernelFacts } from '@shared/capture/kernelTable'
import { KernelTally } from '@shared/capture/kernelTally'
import { ask } from '@shared/profile/ask/ask'
import { shownNameTest } from '@shared/profile/ask/shownNameTest'
import { CaptureProfile } from '@shared/profile/read/captureProfile'
import { nodeName } from '@shared/profile/tree/profileTree'
import { writeHatchet } from '@shared/profile/write/writeHatchet'
import { syntheticShard } from '../../../support/syntheticShard'

const shard = readFileSync('test/fixtures/captures/h200-counters.shard')
const dramRead = 'dram__bytes_read.sum'

function opened(timeline: boolean) {
  const profile = new CaptureProfile({ severalProcesses: false, timeline })
  profile.reader.open('h200.shard')
  profile.reader.write(shard)
  profile.reader.close()
  return { accounts: profile.reader.accounts, ...profile.finish() }
}

describe('launches that counters measured, on an H200', () => {
  it('are counted as such: in no time, not lost, not unfinished', () => {
    const { accounts } = opened(false)
    expect(accounts[0]).toMatchObject({
      ...{ expectedKernels: 87, lostKernels: 0, surplusKernels: 0, unfinished: 0 },
      read: { kernels: 82, measured: 5, withoutTime: 0, withoutLaunch: 0 }
    })
    expect(accountSentences(accounts)).toEqual([
      'work.py 6820: 5 launches were measured by counters, run once for each of their passes, and have no time.'
    ])
  })

  it('have rows of their kernels, whose times are those of the other launches', () => {
    const tally = new KernelTally()
    const reader = new CaptureReader(tally)
    reader.open('h200.shard')
    reader.write(shard)
    reader.close()
    tally.sums.counters = countersOf(tally.processes)
    const rows = allKernelFacts(tally.sums)
    expect(rows.map(({ count, measured }) => [count, measured])).toEqual([
      ...[20, 20, 2, 40].map((count) => [count, 1]),
      // Of PyTorch's zeros, launched once.
      [0, 1]
    ])
    expect(rows[0]!.medianNs).toBeGreaterThan(80_000)
    expect(rows[4]).toMatchObject({ medianNs: NaN, minNs: NaN, totalNs: 0 })
    expect(rows[0]!.counters![dramRead]).toBe(84_883_456)
    const clamp = shownNameTest('at::native::vectorized_elementwise_kernel<8')
    expect(rows.map(({ kernel }) => clamp(kernel))).toEqual([false, true, false, false, false])
  })

  it('stand in the tree with what was measured, which nothing sums; not in what Proton would write', () => {
    const { tree } = opened(true)
    const answer = ask(tree, { metrics: ['time/us', dramRead] })
    const [time, bytes] = answer.columns
    const rows = Array.from(answer.rows, (node) => ({
      name: nodeName(tree, node),
      values: [time!.values[node], bytes!.values[node]]
    }))
    const named = (text: string) => rows.filter(({ name }) => name.includes(text))
    expect(named('FillFunctor')).toEqual([expect.objectContaining({ values: [NaN, 0] })])
    expect(named('nvjet').map(({ values }) => values[1])).toEqual([84_883_456])
    expect(rows[0]!.values[1]).toBeNaN()
    const flat = ask(tree, { metrics: [dramRead], arrangement: 'flat' })
    expect(Array.from(flat.rows, (node) => flat.columns[0]!.values[node])).toContain(134_222_464)
    const written = writeHatchet(opened(false).tree)
    expect(written).not.toMatch(/FillFunctor|dram__/)
  })
})

it('a record that comes when the launches have been forgotten has its path all the same', () => {
  const seen: CapturedActivity[] = []
  const reader = new CaptureReader({ measured: (activity) => void seen.push({ ...activity }) })
  reader.open('late.shard')
  const form = { launches: 200_000, kernels: 3, shapesOfKernel: 1, paths: 4, measured: true }
  for (const piece of syntheticShard(form)) reader.write(piece)
  reader.close()
  expect(seen).toEqual([
    expect.objectContaining({ correlation: 1, path: 2, shape: 1, startNs: NaN, durationNs: NaN })
  ])
  expect(reader.accounts[0]).toMatchObject({
    lostKernels: 0,
    read: { kernels: 199_999, measured: 1, withoutLaunch: 0 }
  })
})

it('a piece of what --python recorded on an H200 has its frames above the range', () => {
  const profile = new CaptureProfile({ severalProcesses: false, timeline: false })
  profile.reader.open('python.shard')
  profile.reader.write(readFileSync('test/fixtures/captures/h200-python.shard'))
  profile.reader.close()
  const { tree } = profile.finish()
  expect(profile.reader.accounts[0]).toMatchObject({
    ...{ expectedKernels: 250, lostKernels: 0, python: { version: '3.12.3', calls: 250 } },
    read: { kernels: 250, withoutLaunch: 0 }
  })
  const product = [...Array(tree.count).keys()].find((node) =>
    nodeName(tree, node).includes('nvjet')
  )!
  const path: string[] = []
  for (let node = product; node > 0; node = tree.parent[node]!) path.unshift(nodeName(tree, node))
  expect(path).toEqual([
    ...[72, 56, 42, 28].map((line) => expect.stringContaining(`work.py:${line}@`)),
    'measured',
    'nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT'
  ])
})
