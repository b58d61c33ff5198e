import { describe, expect, it } from 'vitest'
import { accountSentences } from '@shared/capture/accountSentences'
import { CaptureReader, type CaptureSink } from '@shared/capture/captureReader'
import { LaunchRing } from '@shared/capture/launchRing'
import { openProfile } from '@shared/profile/read/openProfile'
import { syntheticShard, type SyntheticShard } from '../../../support/syntheticShard'

const form: SyntheticShard = { launches: 9000, kernels: 3, shapesOfKernel: 2, paths: 4 }

function bytesOf(pieces: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(pieces)
}

function read(pieces: readonly Uint8Array[], sink: CaptureSink = {}) {
  const reader = new CaptureReader(sink)
  reader.open('test.shard')
  for (const piece of pieces) reader.write(piece)
  reader.close()
  return reader
}

describe('a shard', () => {
  const pieces = [...syntheticShard(form)]

  it('is joined whatever comes first: kernels ahead of their calls too', () => {
    const delays = new Set<number>()
    const sink: CaptureSink = {
      activity: ({ startNs, launchNs }) => delays.add(startNs - launchNs)
    }
    // Of each pair of blocks the kernels first.
    const [head, text, ...blocks] = pieces
    const swapped = [head!, text!]
    for (let at = 0; at < blocks.length; at += 2) swapped.push(blocks[at + 1]!, blocks[at]!)
    for (const order of [pieces, swapped]) {
      const { accounts } = read(order, sink)
      expect(accounts[0]).toMatchObject({
        lostKernels: 0,
        read: { kernels: 9000, withoutLaunch: 0 }
      })
    }
    expect([...delays]).toEqual([5000])
  })

  it('says what has no record and what has no call', () => {
    const withoutKernels = pieces.filter((_, at) => at !== 3)
    const [account] = read(withoutKernels).accounts
    expect(account).toMatchObject({ lostKernels: 2000, expectedKernels: 9000 })
    expect(accountSentences([account!])).toEqual([
      'train.py 4242: 2,000 of 9,000 kernels (22 %) have no record.'
    ])
    const withoutCalls = pieces.filter((_, at) => at !== 2)
    expect(read(withoutCalls).accounts[0]!.read).toMatchObject({
      kernels: 9000,
      withoutLaunch: 2000
    })
  })

  it('stops at damage and says where, and refuses another version', () => {
    const bytes = bytesOf(pieces)
    const damaged = bytes.slice()
    // The magic of the third block.
    damaged[pieces[0]!.length + pieces[1]!.length + pieces[2]!.length] = 0
    const { warnings, accounts } = read([damaged])
    expect(warnings).toEqual([expect.stringMatching(/^test\.shard is damaged/)])
    expect(accounts[0]!.read).toMatchObject({ launches: 2000, kernels: 0 })
    const newer = bytes.slice()
    newer[8] = 9
    expect(() => read([newer])).toThrow('test.shard is a shard of version 9')
    expect(() => read([bytes.subarray(0, 100)])).toThrow('ends after 100 bytes')
    expect(() => read([new Uint8Array(5000)])).toThrow('is no shard of a capture')
  })

  it('is opened by the table of readers, told by its content', () => {
    const { tree, timeline } = openProfile(bytesOf(pieces), 'unnamed')
    expect(tree.format).toBe('capture')
    expect(tree.warnings).toEqual([])
    // ROOT, ranges, and the kernels of each: launches go round both by turns.
    expect(tree.count).toBe(1 + 4 + 4 * 3)
    expect(timeline!.count).toBe(18_000)
    expect(timeline!.flows).toHaveLength(9000)
  })
})

describe('launches that wait', () => {
  it('are found while the ring grows, and given up at its bound, the oldest first', () => {
    const ring = new LaunchRing(4, 16)
    for (let id = 1; id <= 16; id++) {
      const slot = ring.add(id)
      ring.path[slot] = id * 10
    }
    for (let id = 1; id <= 16; id++) expect(ring.path[ring.find(id)]).toBe(id * 10)
    ring.add(17)
    expect(ring.find(1)).toBe(-1)
    expect(ring.find(17)).toBeGreaterThanOrEqual(0)
    expect(ring.match(ring.find(17))).toBe(false)
    expect(ring.match(ring.find(17))).toBe(true)
  })
})
