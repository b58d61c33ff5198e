import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Run } from '@shared/contract/run'
import { computeRoof, memoryRoof, roofsOfRun, shareOf } from '@shared/measurement/roofs'
import { runBlockscope } from '../../../support/runBlockscope'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'blockscope-roofs-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function sweep(): Promise<Run> {
  const flags = '--formats mxfp4,mxfp8 -M 128 -N 128 -K 256 --reps 20'.split(' ')
  const { stdout } = await runBlockscope(
    ['sweep', '--device', 'cpu', ...flags, '--store', join(folder, 'store'), '--json'],
    { XDG_CACHE_HOME: folder }
  )
  return JSON.parse(stdout) as Run
}

describe('the roofs of a CPU', () => {
  it('are measured once per machine, kept, and belong to the instruction of each kernel', async () => {
    const first = await sweep()
    expect(first.roofs!.map(({ of }) => of)).toContain('dram')
    for (const step of first.steps) {
      const roof = computeRoof(step, roofsOfRun(first))
      expect(roof).toMatchObject({ of: step.instruction, basis: 'measured' })
      expect(memoryRoof(step, roofsOfRun(first))!.of).toMatch(/^(dram|l\d)$/)
      const found = shareOf(step, roof, undefined)
      expect('share' in found && found.share).toBeLessThan(1)
    }
    const path = join(folder, 'blockscope', 'kernels', 'machine.json')
    const kept = JSON.parse(await readFile(path, 'utf8')) as { devices: object }
    expect(Object.keys(kept.devices)).toHaveLength(1)
    expect((await sweep()).roofs).toEqual(first.roofs)
    // Damaged: found out again.
    await writeFile(path, '{')
    expect((await sweep()).roofs).toHaveLength(first.roofs!.length)
  })
})
