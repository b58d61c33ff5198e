import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Run } from '@shared/contract/run'
import { computeRoof, memoryRoof, roofsOfRun, shareOf } from '@shared/measurement/roofs'
import { measuresRoofs } from '../../../../src-main/jobs/roofs'
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

describe('the roofs of a GPU', () => {
  const some = [
    { kind: 'memory' as const, of: 'dram', rate: 4e12, basis: 'measured' as const, source: '' }
  ]

  it('are measured once per machine, and in every run in which reading is what counts', () => {
    const many = { m: 65 }
    const groups = { layout: 'offsets' as const, rows: [3, 64], alignment: 1, maxRows: 0 }
    const measures = (steps: Parameters<typeof measuresRoofs>[2], known = some, isCpu = false) =>
      measuresRoofs(isCpu, known, steps)
    expect(measures([many], [])).toBe(true)
    expect(measures([many])).toBe(false)
    expect(measures([many, { m: 64 }])).toBe(true)
    expect(measures([{ m: 67, groups }])).toBe(true)
    expect(measures([{ m: 1 }], some, true)).toBe(false)
    expect(measures([{ m: 1 }], [], true)).toBe(true)
  })
})
