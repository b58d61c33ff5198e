/**
 * The command lines of Triton's block-scaled tutorial (triton-lang/triton, python/tutorials/10-block-scaled-matmul.py, its
 * first docstring), pasted behind the program's name; small, so that they take seconds.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runInProcess } from '../../../support/runInProcess'

let store: string
beforeEach(() => (store = mkdtempSync(join(tmpdir(), 'blockscope-tutorial-'))))
afterEach(() => rmSync(store, { recursive: true, force: true }))

const small = () => [
  ...['-M', '64', '-N', '64', '--device', 'cpu', '--kernels', 'cpu-portable', '--store', store]
]
const pasted = (line: string, ...more: string[]) =>
  runInProcess([...line.split(' '), ...small(), ...more])
const kinds = () => readdirSync(store).filter((name) => /validate|sweep/.test(name))
const timed = (stdout: string) =>
  stdout.split('\n').filter((line) => /^\S+ +cpu-portable/.test(line))

describe('pasted behind blockscope', () => {
  it('--format nvfp4 validates it', async () => {
    const { code, stdout } = await pasted('--format nvfp4')
    expect(stdout).toMatch(/nvfp4 +cpu-portable .* passed/)
    expect(kinds()).toHaveLength(1)
    expect(code).toBe(0)
  })

  it.each([
    ['--format mxfp4 --K_range 512 8192 --bench', 16, [512, 8192]],
    ['--format mxfp8 --K_range 8192 16384 --K_step 2048 --bench', 5, [8192, 16384]]
  ])('%s validates, then sweeps', async (line, points, [first, last]) => {
    const { code, stdout } = await pasted(line, '--warmup', '1', '--reps', '2')
    expect(code).toBe(0)
    const [validated, swept] = stdout.split('Run folder: ').slice(0, 2)
    expect(validated).toMatch(/Passed: 1 of 1 passed/)
    const depths = new Set(timed(swept!).map((row) => Number(row.trim().split(/ +/)[4])))
    expect(depths.size).toBe(points)
    expect([Math.min(...depths), Math.max(...depths)]).toEqual([first, last])
    expect(kinds()).toHaveLength(2)
  })

  it('-K alone is validated and timed', async () => {
    const { code, stdout } = await pasted('--format mxfp8 -K 256 --bench', '--reps', '1')
    expect(code).toBe(0)
    expect(stdout).toMatch(/mxfp8 +cpu-portable +64 +64 +256 +passed/)
    expect(kinds()).toHaveLength(2)
  })
})

describe('what does not go together', () => {
  it.each([
    ['--format mxfp4 --K_range 512 1024', /--K-range .*--bench/],
    ['--format mxfp4 --reps 5', /--reps .*--bench/],
    ['--format mxfp4 --bench -K 64 --K_range 512 1024', /both say which K/],
    ['--bench --json', /a run of its own/]
  ])('%s is refused', async (line, sentence) => {
    const { code, stderr } = await pasted(line)
    expect(stderr).toMatch(sentence)
    expect(code).toBe(2)
    expect(kinds()).toHaveLength(0)
  })
})
