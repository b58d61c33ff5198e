import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Run } from '@shared/contract/run'
import { writeNvbenchGemm } from '../../../support/nvbenchGemm'
import { runInProcess } from '../../../support/runInProcess'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-nvbench-'))
const store = join(folder, 'store')
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const runs = (...args: string[]) => runInProcess(['runs', ...args, '--store', store])

/** Launches around a time, in seconds. */
const around = (time: number) => Array.from({ length: 40 }, (_, i) => time * (1 + (i % 5) * 1e-3))

async function imported(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runs('import', ...args, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return (JSON.parse(stdout) as { id: string }).id
}

describe("runs import of nvbench's JSON", () => {
  const point = (time: number, k: number) => ({ tile: 't', k, mean: time, samples: around(time) })
  const before = writeNvbenchGemm(folder, [point(20e-6, 256), point(40e-6, 512)], 'before.json')
  const after = writeNvbenchGemm(folder, [point(10e-6, 256), point(40e-6, 512)], 'after.json')

  it('shows, compares, keeps samples, and goes out and in again', async () => {
    const [a, b] = [await imported(before), await imported(after)]
    const shown = (await runs('show', a)).stdout
    expect(shown).toContain('blockscope runs import before.json')
    expect(shown).toMatch(/mxfp4 +gemm Tile=t +128 +128 +256 .* 20\.04 +20\.02 +20\.06 +40 /)
    expect(shown).toContain('Timed by nvbench 0.2.0: ./gemm_bench --jsonbin before.json.')
    const compared = (await runs('compare', a, b)).stdout
    expect(compared).toMatch(/^FAST +0\.5000x +mxfp4 gemm Tile=t 128 x 128 x 256/m)
    expect(compared).toMatch(/^SAME +1\.0000x .* x 512  /m)
    const lines = readFileSync(join(store, a, 'samples.jsonl'), 'utf8')
      .trim()
      .split('\n')
    expect(
      lines.map((line) => (JSON.parse(line) as { samplesNs: number[] }).samplesNs.length)
    ).toEqual([40, 40])
    const tree = await runInProcess(['view', join(store, a)])
    expect(tree.stdout).toContain('gemm Tile=t mxfp4 [M=128, N=128, K=256]')

    // A run's folder, with its samples.
    const copy = await imported(join(store, a))
    expect(
      readFileSync(join(store, copy, 'samples.jsonl'), 'utf8')
        .trim()
        .split('\n')
    ).toEqual(lines)

    const json = join(folder, 'again.json')
    expect((await runs('export', a, '--output', json)).code).toBe(0)
    const again = JSON.parse((await runs('show', await imported(json), '--json')).stdout) as Run
    expect(again).toMatchObject({
      command: 'blockscope runs import before.json',
      measuredBy: { program: 'nvbench', version: '0.2.0', file: 'before.json' }
    })
    for (const form of ['csv', 'markdown', 'html', 'nvbench', 'junit', 'trace', 'hatchet'])
      expect([form, (await runs('export', a, '--as', form, '--output', '-')).code]).toEqual([
        form,
        0
      ])
  })

  it('without its samples says so and has what the file says itself', async () => {
    const alone = join(folder, 'alone.json')
    writeFileSync(alone, readFileSync(before))
    rmSync(join(folder, 'before.json-bin'), { recursive: true })
    const { stdout } = await runs('show', await imported(alone))
    expect(stdout).toMatch(/20\.00 +- +- +40 .*mean in place of the median/)
    expect(stdout).toContain('The samples of 2 of 2 points are in files beside the JSON')
    expect((await runs('export', 'latest', '--as', 'csv', '--output', '-')).stdout).not.toContain(
      'NaN'
    )
  })

  it('takes axes by name and refuses what it cannot use', async () => {
    const id = await imported(after, '--axes', 'M=4096,format=nvfp4')
    expect((await runs('show', id)).stdout).toMatch(/nvfp4 +gemm Tile=t DType=mxfp4 M=128 +4096 /)
    const wrong = await runs('import', after, '--axes', 'Q=1')
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('write M, N, K, format')
    const noNvbench = await runs('import', 'test/fixtures/runs/h200-8192/run.json', '--device', '0')
    expect([noNvbench.code, noNvbench.stderr]).toEqual([
      2,
      expect.stringContaining("--axes and --device are of nvbench's JSON; run.json is none.")
    ])
  })
})
