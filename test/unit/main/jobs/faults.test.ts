import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Run, RunOutcome, RunSummary } from '@shared/contract/run'
import { pythonHas } from '../../../support/python'
import { runBlockscope, startBlockscope, type RunningProgram } from '../../../support/runBlockscope'
import { runInProcess } from '../../../support/runInProcess'

let store: string
beforeEach(async () => {
  store = await mkdtemp(join(tmpdir(), 'blockscope-faults-'))
})
afterEach(() => rm(store, { recursive: true, force: true }))

const points = ['sweep', '--formats', 'mxfp8,nvfp4', '-M', '256', '-N', '256', '-K', '256,512']
/** Long enough to be at work when a test ends it. */
const sweep = (folder: string) => [
  ...points,
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
    const run = await read(folder)
    expect(run.status).toBe('done')
    expect(run.steps).toHaveLength(4)
    const lost = run.steps.filter((step) => step.disposition === 'error')
    expect(lost.length).toBeLessThanOrEqual(1)
    // Between two steps it has none to lose.
    expect(stderr).toMatch(
      lost.length > 0
        ? /is lost; the next one starts a new engine/
        : /Nothing is lost; a new engine is started/
    )
    expect(code).toBe(lost.length > 0 ? 1 : 0)
    const measured = run.steps.filter((step) => step.measurement)
    expect(measured.length).toBeGreaterThanOrEqual(3)
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
    ) as { id: string; status: string; outcome: RunOutcome }[]
    expect(list[0]).toMatchObject({ status: 'interrupted' })
    const { verdict, planned, passed, undone } = list[0]!.outcome
    expect(verdict).toBe('incomplete')
    expect(passed).toBeGreaterThanOrEqual(1)
    expect(passed + undone).toBe(planned)
    // The engine sees that its parent is gone and ends too.
    await vi.waitFor(() => expect(engines.filter(isAlive)).toEqual([]), { interval: 100 })
  })

  it('a run that was cut off is resumed: what was measured stays, only the rest is done', async () => {
    const args = sweep('x').slice(0, -2)
    const program = startBlockscope([...args, '--store', store])
    // A row is printed once its first round is stored.
    await program.printed(/passed/)
    program.signal('SIGKILL')
    await program.done
    const runs = async () =>
      JSON.parse(
        (await runBlockscope(['runs', 'list', '--store', store, '--json'])).stdout
      ) as RunSummary[]
    const shown = async (id: string) =>
      JSON.parse(
        (await runInProcess(['runs', 'show', id, '--store', store, '--json'])).stdout
      ) as Run
    const [cut] = await runs()
    // What is stored of a run that was cut off is more than its run.json.
    const before = await shown(cut!.id)
    const { code, stderr } = await runBlockscope(['runs', 'resume', cut!.id, '--store', store])
    expect(stderr).not.toMatch(/unhandled/i)
    expect(code).toBe(0)
    const [resumed] = await runs()
    const after = await shown(resumed!.id)
    expect(after.status).toBe('done')
    expect(after.command).toBe(`blockscope runs resume ${cut!.id}`)
    expect(after.events[0]!.message).toContain(`Resumes ${cut!.id}`)
    expect(after.steps).toHaveLength(4)
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

  it('a reader that goes away in mid-sweep does not end it', async () => {
    const folder = join(store, 'run')
    const few = ['--reps', '5', '--rounds', '2', '--out-dir', folder]
    const child = spawn(process.execPath, ['out/node/blockscope.js', ...points, ...few])
    await once(child.stdout, 'data')
    child.stdout.destroy()
    const [code] = (await once(child, 'close')) as [number]
    expect(await read(folder)).toMatchObject({ status: 'done' })
    expect(code).toBe(0)
  })

  it('runs cancel ends it from another process, and keeps what is done', async () => {
    const program = startBlockscope([...sweep('x').slice(0, -2), '--store', store])
    await program.printed(/passed/)
    const cancelled = await runInProcess(['runs', 'cancel', 'latest', '--store', store])
    expect(cancelled).toMatchObject({ code: 0, stdout: expect.stringContaining('is cancelled; ') })
    expect((await program.done).code).toBe(1)
    const again = await runInProcess(['runs', 'cancel', 'latest', '--store', store])
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('it is cancelled') })
    const resumed = await runInProcess(['runs', 'rm', 'latest', '--store', store])
    expect(resumed.code).toBe(0)
  })

  it('a killed run can be removed and resumed under another host name', async () => {
    const program = startBlockscope([...sweep('x').slice(0, -2), '--store', store])
    await program.printed(/passed/)
    program.signal('SIGKILL')
    await program.done
    const [id] = (await readdir(store)).filter((name) => /^\d/.test(name))
    const path = join(store, id!, 'owner.json')
    const owner = JSON.parse(await readFile(path, 'utf8')) as object
    await writeFile(path, JSON.stringify({ ...owner, host: 'a-new-container' }))
    const shown = await runInProcess(['runs', 'show', 'latest', '--store', store])
    expect(shown.stdout).toContain('interrupted')
    const cancelled = await runInProcess(['runs', 'cancel', id!, '--store', store])
    expect(cancelled.stdout).toContain('is interrupted; ')
    expect((await runInProcess(['runs', 'rm', id!, '--store', store])).code).toBe(0)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s to the whole group, as a terminal, timeout and Slurm send it, cancels: no step is told as failed',
    async (name) => {
      const folder = join(store, 'run')
      const program = startBlockscope(sweep(folder), {}, { ownGroup: true })
      await program.printed(/passed/)
      program.signalGroup(name)
      await expectCancelled(folder, program)
    }
  )

  it.skipIf(!pythonHas('numpy')).each(['SIGINT', 'SIGTERM'] as const)(
    '%s to the whole group while a kernel in Python is at work cancels it',
    async (name) => {
      const folder = join(store, 'run')
      const begun = join(store, 'begun')
      const provider = join(store, 'slow.py')
      const plain = await readFile('resources/providers/templates/numpy.py', 'utf8')
      const wait = `        open(${JSON.stringify(begun)}, "w").close()\n        import time; time.sleep(600)\n`
      await writeFile(provider, plain.replace('        operands.c[...] =', `${wait}$&`))
      const words = ['sweep', '--formats', 'nvfp4', '-M', '64', '-N', '64', '-K', '64']
      const program = startBlockscope(
        [
          ...words,
          '--provider',
          provider,
          '--kernels',
          'my-kernel',
          '--device',
          'cpu',
          '--out-dir',
          folder
        ],
        {},
        { ownGroup: true }
      )
      await expect.poll(() => existsSync(begun)).toBe(true)
      program.signalGroup(name)
      await expectCancelled(folder, program)
    }
  )

  async function expectCancelled(folder: string, program: RunningProgram): Promise<void> {
    const { code, stderr } = await program.done
    expect(stderr).toContain('what is done is kept')
    expect(code).toBe(1)
    const run = await read(folder)
    expect(run.status).toBe('cancelled')
    expect(run.steps.map(({ disposition }) => disposition)).not.toContain('error')
  }

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
