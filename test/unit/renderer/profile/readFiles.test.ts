/** What files become that are opened at once. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { pathOf } from '@shared/profile/tree/profileTree'
import { readFiles } from '../../../../src-renderer/workers/readFiles'
import { joined } from '@shared/profile/read/reader'
import { ProfileSession } from '../../../../src-renderer/workers/profileSession'
import { syntheticShard } from '../../../support/syntheticShard'
import { agents, calls, copies, kernels, markers } from '../../../support/gpuToolFiles'

const file = (name: string, content: string | Uint8Array<ArrayBuffer>, lastModified = 0) => ({
  name,
  file: new File([content], name, { lastModified })
})
const trace = (rank: number) =>
  JSON.stringify({
    distributedInfo: { rank, world_size: 2 },
    traceEvents: [{ ph: 'X', cat: 'kernel', name: 'gemm', pid: 0, tid: 7, ts: 1, dur: 2 }]
  })
const open = (...files: ReturnType<typeof file>[]) => readFiles({ files }, () => undefined)
const hatchet = (name: string) =>
  new Uint8Array(readFileSync(`test/fixtures/proton/synthetic/${name}.hatchet`))

describe('files that are opened at once', () => {
  it('are one profile where they are ranks of one training, its timeline too', async () => {
    const { profile, baseline } = await open(file('b.json', trace(1)), file('a.json', trace(0)))
    expect(baseline).toBeUndefined()
    expect(profile.files).toEqual(['b.json', 'a.json'])
    expect(profile.opened.timeline!.count).toBe(2)
    expect(pathOf(profile.opened.tree, 2)).toEqual(['ROOT', 'rank 0', 'gemm'])
  })

  it('are compared where they are two of anything else, the older as baseline', async () => {
    const { profile, baseline } = await open(
      file('before.hatchet', hatchet('modern_a'), 1),
      file('after.hatchet', hatchet('modern_c'), 2)
    )
    expect([profile.files, baseline!.files]).toEqual([['after.hatchet'], ['before.hatchet']])
    const same = await open(file('old.json', trace(0), 1), file('new.json', trace(0), 2))
    expect(same.baseline!.files).toEqual(['old.json'])
  })

  it('are one profile by file where they are more than two', async () => {
    const { profile } = await open(
      ...['modern_a', 'modern_c', 'cycles'].map((name) => file(`${name}.hatchet`, hatchet(name)))
    )
    expect(pathOf(profile.opened.tree, 1)).toEqual(['ROOT', 'modern_a.hatchet'])
  })

  it('are one profile where rocprofv3 wrote them for one process; progress is of all of their bytes', async () => {
    const parts = { agents, kernels, calls, markers, copies }
    const fractions: number[] = []
    const { profile } = await readFiles(
      { files: Object.entries(parts).map(([name, text]) => file(`5_${name}.csv`, text)) },
      (fraction) => fractions.push(fraction)
    )
    const paths = Array.from({ length: profile.opened.tree.count }, (_, node) =>
      pathOf(profile.opened.tree, node).slice(1).join(' > ')
    )
    expect(paths).toContain('step > hipLaunchKernel > gemm<float, "x">(float*)')
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b))
    expect(fractions.at(-1)).toBe(1)
  })

  it('are one capture where they are its shards: a level for each process, kernels of all', async () => {
    const shard = (pid: number) => {
      const form = { launches: 1000, kernels: 2, shapesOfKernel: 2, paths: 2, pid }
      const pieces = [...syntheticShard(form)]
      return file(`step/${pid}.shard`, new Uint8Array(joined(pieces)))
    }
    const fractions: number[] = []
    const files = [shard(7), shard(8)]
    const { profile, baseline } = await readFiles({ files, capture: 'step' }, (fraction) =>
      fractions.push(fraction)
    )
    expect(baseline).toBeUndefined()
    expect(profile.files).toEqual(['step'])
    expect(fractions.at(-1)).toBe(1)
    const session = new ProfileSession()
    expect(session.open(profile)).toMatchObject({ name: 'step', isCapture: true, hasTimes: true })
    expect(pathOf(profile.opened.tree, 1)).toEqual(['ROOT', 'train.py 7'])
    const kernels = session.kernels('shape')!
    expect(kernels.map(({ count }) => count)).toEqual([500, 500, 500, 500])
    expect(session.kernels('kernel')!.map(({ shapes, count }) => [shapes, count])).toEqual([
      [2, 1000],
      [2, 1000]
    ])
    const cut = file('step/9.shard', 'BSC')
    await expect(readFiles({ files: [cut], capture: 'step' }, () => {})).rejects.toThrow(
      /step\/9\.shard/
    )
  })

  it('capture.json alone: says what to open instead', async () => {
    const record = JSON.stringify({ formatVersion: 1, kind: 'capture', blockscope: '1' }, null, 2)
    await expect(open(file('capture.json', record))).rejects.toThrow(
      "it looks like a capture's capture.json; it says what was captured; open its folder, or the shards beside it"
    )
  })
})
