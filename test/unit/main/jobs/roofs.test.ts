import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Device } from '@shared/contract/devices'
import type { Run } from '@shared/contract/run'
import { computeRoof, memoryRoof, roofsOfRun, shareOf } from '@shared/measurement/roofs'
import { Engine } from '../../../../src-main/engine/engine'
import { forkedEngineHost } from '../../../../src-main/engine/engineHost'
import { measuresRoofs, roofsOfDevice } from '../../../../src-main/jobs/roofs'
import { MachineMemory } from '../../../../src-main/store/machineMemory'
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

  it('are those of before where measuring fails, without the reads, which are of a run itself', async () => {
    const host = forkedEngineHost(resolve('out/node/engine.js'))
    const engine = new Engine(host, { kernelSources: [], cacheDirectory: '' })
    const memory = new MachineMemory(join(folder, 'gone.json'))
    // No machine has so many GPUs.
    const device: Device = {
      ...{ id: 'cuda:99', kind: 'cuda', name: 'Gone', architecture: 'sm_90' },
      ...{ properties: {}, kernels: [] }
    }
    const known = some.map((roof) => ({ ...roof, reads: [{ bytes: 1, ns: 1 }] }))
    await memory.keepRoofs(device, known)
    const { signal } = new AbortController()
    const roofsBefore = (m: number) =>
      roofsOfDevice(engine, memory, { device, steps: [{ m }] }, signal)
    expect(await roofsBefore(1)).toEqual(some)
    expect(await roofsBefore(65)).toEqual(known)
    engine.close()
  })
})
