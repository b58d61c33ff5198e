import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runInProcess } from '../../../support/runInProcess'

it('--timings says where all of the time went, on stderr', async () => {
  const store = mkdtempSync(join(tmpdir(), 'blockscope-timings-'))
  try {
    const words = ['sweep', '--device', 'cpu', '--formats', 'mxfp4', '-M', '32', '-N', '32']
    const more = ['-K', '64', '--reps', '2', '--store', store]
    const { code, stderr } = await runInProcess([...words, ...more, '--timings'])
    expect(code).toBe(0)
    const [, whole] = /Where ([\d.]+) s went:/.exec(stderr)!
    const parts = [...stderr.matchAll(/^ +(-?[\d.]+) s +(?:\d+ x)? +(\S.*)$/gm)]
    const named = parts.map(([, , what]) => what!)
    expect(named.some((what) => what.startsWith('measure'))).toBe(true)
    expect(named.at(-1)).toMatch(/^beside the engine/)
    const sum = parts.reduce((all, [, seconds]) => all + Number(seconds), 0)
    expect(Math.abs(sum - Number(whole))).toBeLessThan(0.02)
    const plain = await runInProcess([...words, ...more])
    expect(plain.stderr).not.toContain('Where')
  } finally {
    rmSync(store, { recursive: true, force: true })
  }
})

it('a sweep makes the operands of a problem once a round, and once more for the look at drift', async () => {
  const store = mkdtempSync(join(tmpdir(), 'blockscope-timings-'))
  try {
    const words = ['sweep', '--device', 'cpu', '--formats', 'mxfp4,mxfp8', '-K', '64,96,128']
    const more = ['-M', '256', '-N', '256', '--kernels', 'cpu-avx2,cpu-portable', '--reps', '2']
    const { code, stderr } = await runInProcess([...words, ...more, '--timings', '--store', store])
    expect(code).toBe(0)
    const opens = [...stderr.matchAll(/(\d+) x +open/g)].map(([, count]) => Number(count))
    expect(Math.max(...opens)).toBe(7)
  } finally {
    rmSync(store, { recursive: true, force: true })
  }
})
