import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Run, RunSummary } from '@shared/contract/run'
import { runBlockscope, startBlockscope } from '../../../support/runBlockscope'

let store: string
beforeEach(async () => {
  store = await mkdtemp(join(tmpdir(), 'blockscope-faults-'))
})
afterEach(() => rm(store, { recursive: true, force: true }))

const sweep = (folder: string) => [
  ...['sweep', '--formats', 'mxfp8,nvfp4', '-M', '256', '-N', '256', '-K', '256,512,1024,2048'],
  ...['--preset', 'quick', '--rounds', '2', '--out-dir', folder]
]
const read = async (folder: string) =>
  JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')) as Run
const childrenOf = (pid: number) =>
  execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .split('\n')
    .map(Number)
    .filter(Boolean)

describe('faults in mid-sweep', () => {
  it('kill -9 of the engine: it is said, the sweep goes on, finished steps are on disk', async () => {
    const folder = join(store, 'run')
    const program = startBlockscope(sweep(folder))
    await program.printed(/mxfp8 .* passed|nvfp4 .* passed/)
    const [engine] = childrenOf(program.pid)
    process.kill(engine!, 'SIGKILL')
    const { code, stderr } = await program.done
    expect(stderr).toMatch(/The engine was ended by SIGKILL/)
    expect(stderr).toMatch(/the next one starts a new engine/)
    const run = await read(folder)
    expect(run.status).toBe('done')
    expect(run.steps).toHaveLength(8)
    const lost = run.steps.filter((step) => step.disposition === 'error')
    expect(lost.length).toBeLessThanOrEqual(1)
    expect(code).toBe(lost.length > 0 ? 1 : 0)
    const measured = run.steps.filter((step) => step.measurement)
    expect(measured.length).toBeGreaterThanOrEqual(7)
    expect((await runBlockscope(['runs', 'list', '--store', store])).code).toBe(0)
  })

  it('kill -9 of the program: finished steps are in the run folder, and the run reads as interrupted', async () => {
    const args = sweep('x').slice(0, -2)
    const program = startBlockscope([...args, '--store', store])
    await program.printed(/passed/)
    const engines = childrenOf(program.pid)
    program.signal('SIGKILL')
    await program.done
    const list = JSON.parse(
      (await runBlockscope(['runs', 'list', '--store', store, '--json'])).stdout
    ) as { id: string; status: string; steps: number }[]
    expect(list[0]).toMatchObject({ status: 'interrupted' })
    expect(list[0]!.steps).toBeGreaterThanOrEqual(1)
    // The engine sees that its parent is gone and ends too.
    const ended = async () => {
      for (let i = 0; i < 50; i++) {
        if (engines.every((pid) => !isAlive(pid))) return true
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      return false
    }
    expect(await ended()).toBe(true)
  })

  it('a run that was cut off is resumed: what was measured stays, only the rest is done', async () => {
    const args = sweep('x').slice(0, -2)
    const program = startBlockscope([...args, '--store', store])
    await program.printed(/round 1 of 2|passed[\s\S]*passed[\s\S]*passed/)
    program.signal('SIGKILL')
    await program.done
    const runs = async () =>
      JSON.parse(
        (await runBlockscope(['runs', 'list', '--store', store, '--json'])).stdout
      ) as RunSummary[]
    const [cut] = await runs()
    const before = await read(join(store, cut!.id))
    const { code, stderr } = await runBlockscope(['runs', 'resume', cut!.id, '--store', store])
    expect(stderr).not.toMatch(/unhandled/i)
    expect(code).toBe(0)
    const [resumed] = await runs()
    const after = await read(join(store, resumed!.id))
    expect(after.status).toBe('done')
    expect(after.command).toBe(`blockscope runs resume ${cut!.id}`)
    expect(after.events[0]!.message).toContain(`Resumes ${cut!.id}`)
    expect(after.steps).toHaveLength(8)
    const finished = before.steps.filter((step) => step.measurement)
    expect(finished.length).toBeGreaterThan(0)
    for (const step of finished) {
      const same = after.steps.find((other) => other.index === step.index)!
      expect(same.validation).toEqual(step.validation)
      expect(same.measurement!.roundMediansNs).toHaveLength(2)
      expect(same.measurement!.roundMediansNs[0]).toBeCloseTo(
        step.measurement!.roundMediansNs[0]!,
        -1
      )
    }
    const again = await runBlockscope(['runs', 'resume', resumed!.id, '--store', store])
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('is complete') })
  })

  it('Ctrl-C cancels, keeps what is done and leaves no engine', async () => {
    const folder = join(store, 'run')
    const program = startBlockscope(sweep(folder))
    await program.printed(/passed/)
    program.signal('SIGINT')
    const { code, stderr } = await program.done
    expect(code).toBe(1)
    expect(stderr).toContain('what is done is kept')
    const run = await read(folder)
    expect(run.status).toBe('cancelled')
    expect(run.steps.some((step) => step.measurement)).toBe(true)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
