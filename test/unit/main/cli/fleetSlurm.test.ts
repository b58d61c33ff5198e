/** Fifty tasks through a real Slurm, some of them killed, some of their files torn: nothing is lost, and all is merged once. */
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as later } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { patience } from '../../../support/patience'
import { runBlockscope, type Finished } from '../../../support/runBlockscope'
import { runInProcess } from '../../../support/runInProcess'
import { startSlurm, whyNoSlurm, type Slurm } from '../../../support/slurm'

const reason = whyNoSlurm()
if (reason) console.log(`Fleets through Slurm are not tested: ${reason}.`)

const tasks = 50
/** What the test does to tasks: ends their processes, and tears their files. */
const [toKill, toTear] = [4, 3]

interface Standing {
  task: number
  state: string
  queue: string
  run?: { id: string }
}

describe.skipIf(reason)('a fleet under Slurm', () => {
  const work = mkdtempSync(join(tmpdir(), 'blockscope-fleet-'))
  let slurm: Slurm
  let fleet: string
  let store: string
  beforeEach(async () => {
    // A second try finds nothing of the first: no folder, no store, no daemon and no task of theirs.
    const folder = mkdtempSync(join(work, 'try-'))
    ;[fleet, store] = [join(folder, 'fleet'), join(folder, 'store')]
    slurm = await startSlurm()
  })
  afterEach(() => slurm.stop())
  afterAll(() => rmSync(work, { recursive: true, force: true }))

  const foreseen = (done: Finished) => {
    expect(done.stderr).not.toMatch(/fault of blockscope/)
    return done
  }
  const blockscope = async (...words: string[]) => foreseen(await runBlockscope(words, slurm.env))
  /** Asked every three seconds, beside tasks that want the cores: by the program's own door. */
  async function standing(): Promise<Standing[]> {
    const words = ['fleet', 'status', fleet, '--json']
    const { stdout } = foreseen(await runInProcess(words, slurm.env))
    return JSON.parse(stdout) as Standing[]
  }
  const tasksThat = (rows: Standing[], is: (row: Standing) => boolean) =>
    rows.filter(is).map(({ task }) => task)

  /** Ends tasks with SIGKILL as soon as each has begun its run; those that were quicker are left. */
  async function killSome(): Promise<void> {
    const tried = new Set<string>()
    await vi.waitFor(
      () => {
        for (const task of readdirSync(join(fleet, 'tasks'))) {
          if (tried.size >= toKill || tried.has(task)) continue
          const runs = join(fleet, 'tasks', task)
          for (const run of readdirSync(runs)) {
            try {
              const owner = readFileSync(join(runs, run, 'owner.json'), 'utf8')
              process.kill((JSON.parse(owner) as { pid: number }).pid, 'SIGKILL')
              tried.add(task)
            } catch {
              // It has ended, or has not begun.
            }
          }
        }
        if (tried.size < toKill) throw new Error('too few were caught')
      },
      { interval: 5 }
    )
  }
  /** As long as it takes, while something of it changes. */
  async function untilQueueIsEmpty(): Promise<Standing[]> {
    for (let seen = '', since = Date.now(); ; await later(3000)) {
      const rows = await standing()
      if (rows.every(({ queue }) => !queue)) return rows
      const now = JSON.stringify(rows)
      if (now !== seen) [seen, since] = [now, Date.now()]
      if (Date.now() - since > patience) throw new Error(`Tasks wait; Slurm:\n${slurm.standing()}`)
    }
  }

  it('finishes every task, submits those that died alone, and collects one run', async () => {
    const plan = join(work, 'plan.json')
    const sweep = ['--formats', 'mxfp4', '--kernels', 'cpu-portable', '--device', 'cpu']
    const size = [
      '-M',
      '16',
      '-N',
      '16',
      '-K',
      '64',
      '--reps',
      '3',
      '--warmup',
      '1',
      '--rounds',
      '1'
    ]
    writeFileSync(
      plan,
      JSON.stringify({ name: 'fifty', sweeps: [[...sweep, ...size]], copies: tasks })
    )
    const words = ['fleet', 'submit', plan, '--dir', fleet, '--partition', 'cpu', '--gpus', '0']
    const submitted = await blockscope(...words)
    expect(submitted.stdout).toMatch(/^Job \d+: 50 of 50 tasks/)
    expect(await blockscope(...words)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('holds a fleet already')
    })
    await killSome()
    const ended = await untilQueueIsEmpty()
    const killed = tasksThat(ended, ({ state }) => state !== 'done')
    expect(killed.length).toBeGreaterThan(0)

    const torn = tasksThat(ended, ({ state }) => state === 'done').slice(0, toTear)
    for (const task of torn) {
      const runs = join(fleet, 'tasks', String(task).padStart(4, '0'))
      truncateSync(join(runs, ended[task]!.run!.id, 'run.json'), 200)
    }
    const left = [...killed, ...torn].sort((one, other) => one - other)
    const early = await blockscope('fleet', 'collect', fleet, '--store', store)
    expect(early).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/ of 50 tasks are not done/)
    })

    const again = await blockscope('fleet', 'resubmit', fleet, '--gpus', '0', '--json')
    expect((JSON.parse(again.stdout) as { tasks: number[] }).tasks).toEqual(left)
    const whole = await untilQueueIsEmpty()
    expect(tasksThat(whole, ({ state }) => state !== 'done')).toEqual([])
    expect((await blockscope('fleet', 'resubmit', fleet)).stdout).toContain('Every task is done')

    const collect = () => blockscope('fleet', 'collect', fleet, '--store', store, '--json')
    const [found] = JSON.parse((await collect()).stdout) as Record<string, unknown>[]
    expect(found).toMatchObject({ shards: tasks, isKnown: false })
    const [twice] = JSON.parse((await collect()).stdout) as Record<string, unknown>[]
    expect(twice).toMatchObject({ run: found!['run'], isKnown: true })

    const shown = await blockscope('runs', 'show', 'latest', '--store', store, '--json')
    const run = JSON.parse(shown.stdout) as {
      label: string
      steps: { places: { run: string }[]; measurement: { timeNs: { samples: number } } }[]
    }
    expect(run.label).toBe('fifty')
    expect(run.steps).toHaveLength(1)
    const [{ places, measurement }] = run.steps as [(typeof run.steps)[number]]
    expect(new Set(places.map((place) => place.run)).size).toBe(tasks)
    expect(measurement.timeNs.samples).toBe(3 * tasks)
    const compared = await blockscope('fleet', 'compare', 'latest', '--store', store)
    expect(compared.stdout).toMatch(/mxfp4 cpu-portable 16 x 16 x 64 +50 /)
  })

  it('says what Slurm refuses, and keeps the fleet for another try', async () => {
    const plan = join(work, 'refused.json')
    writeFileSync(plan, JSON.stringify({ sweeps: [['-K', '64', '--device', 'cpu']] }))
    const refused = join(work, 'refused')
    const { code, stderr } = await blockscope(
      ...['fleet', 'submit', plan, '--dir', refused, '--gpus', '0', '--partition', 'none']
    )
    expect(stderr).toMatch(
      /^blockscope: Slurm refused: .*partition.*"fleet resubmit \S+" submits it/s
    )
    expect(code).toBe(1)
    expect((await blockscope('fleet', 'status', refused)).stdout).toMatch(/^1 task: 1 not begun/)
  })
})
