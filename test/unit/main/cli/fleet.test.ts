/** Fleets without a scheduler: on this host, one task at a time by name, and from a thousand shards. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { takeTask, taskOf } from '../../../../src-main/fleet/fleetTask'
import { ranges } from '../../../../src-main/fleet/slurm'
import { runBlockscope } from '../../../support/runBlockscope'
import { runInProcess } from '../../../support/runInProcess'

const work = mkdtempSync(join(tmpdir(), 'blockscope-fleet-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

const small = [
  ...['--formats', 'mxfp4', '--kernels', 'cpu-portable', '--device', 'cpu', '-M', '16', '-N', '16'],
  ...['--reps', '3', '--warmup', '1', '--rounds', '1']
]
function planOf(name: string, plan: unknown): string {
  const path = join(work, `${name}.json`)
  writeFileSync(path, typeof plan === 'string' ? plan : JSON.stringify(plan))
  return path
}
const store = join(work, 'store')

describe('fleet', () => {
  it('does all tasks of a plan on this host, goes on where it was, and makes one run', async () => {
    const plan = planOf('plan', {
      name: 'two-k',
      sweeps: [
        [...small, '-K', '64'],
        [...small, '-K', '128']
      ]
    })
    const fleet = join(work, 'fleet')
    const one = await runBlockscope(['fleet', 'run', plan, '--dir', fleet])
    expect(one.stdout).toContain('2 tasks on the CPU, 0 failed')
    expect(one.code).toBe(0)
    const again = await runInProcess(['fleet', 'run', plan, '--dir', fleet])
    expect(again.stdout).toContain('2 tasks on the CPU, 0 failed')
    expect(readdirSync(join(fleet, 'tasks', '0001'))).toHaveLength(1)
    const collected = await runInProcess(['fleet', 'collect', fleet, '--store', store])
    expect(collected.stdout).toMatch(/^\S+: 2 tasks on /)
    const shown = await runInProcess(['runs', 'show', 'latest', '--store', store, '--json'])
    const run = JSON.parse(shown.stdout) as { steps: { k: number }[]; spec: { kValues: number[] } }
    expect(run.steps.map(({ k }) => k)).toEqual([64, 128])
    expect(run.spec.kValues).toEqual([64, 128])
    const compared = await runInProcess(['fleet', 'compare', 'latest', '--store', store])
    expect(compared.stdout).toContain('No point of this run was measured in more than one place.')
    const done = await runInProcess(['fleet', 'task', fleet], { SLURM_ARRAY_TASK_ID: '1' })
    expect(done.stdout).toContain('Task 1 is done.')
    const other = planOf('other', { sweeps: [[...small, '-K', '64']] })
    expect(await runInProcess(['fleet', 'run', other, '--dir', fleet])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('holds a fleet of another plan')
    })
  })

  it('makes a run for each model, of all its numbers of tokens, and sums their layers', async () => {
    const modelOf = (name: string, hidden: number) => {
      const path = join(work, `${name}.json`)
      const fields = {
        ...{ model_type: 'llama', hidden_size: hidden, intermediate_size: 64, head_dim: 32 },
        ...{ num_attention_heads: 1, num_key_value_heads: 1, num_hidden_layers: 2 }
      }
      writeFileSync(path, JSON.stringify(fields))
      return path
    }
    const [one, other] = [modelOf('one', 32), modelOf('other', 64)]
    const own = small.filter(
      (word, at) => !/^-[MN]$/.test(small[at - 1] ?? '') && !/^-[MN]$/.test(word)
    )
    const sweeps = [
      [...own, '--shapes', one, '--tokens', '4'],
      [...own, '--shapes', one, '--tokens', '2'],
      [...own, '--shapes', other, '--tokens', '4']
    ]
    const [fleet, into] = [join(work, 'models'), join(work, 'models-store')]
    await runInProcess([
      'fleet',
      'run',
      planOf('models', { name: 'models', sweeps }),
      '--dir',
      fleet
    ])
    const { stdout } = await runInProcess(['fleet', 'collect', fleet, '--store', into, '--json'])
    const collected = JSON.parse(stdout) as { run: string; shape: string; shards: number }[]
    expect(collected.map(({ shape, shards }) => [shape, shards])).toEqual([
      ['one.json, 2–4 tokens', 2],
      ['other.json, 4 tokens', 1]
    ])
    const { stdout: shown } = await runInProcess([
      'runs',
      'show',
      collected[0]!.run,
      '--store',
      into
    ])
    expect(shown).toMatch(/at 2 tokens: the linear layers take/)
    expect(shown).toMatch(/at 4 tokens: the linear layers take/)
  })

  it('gives a GPU first what it has not done: copies are on different ones', () => {
    const left = [0, 1, 2, 3]
    const gpus = [new Set<number>(), new Set<number>()]
    // The first GPU is faster: its second task is the other sweep, not its own again.
    expect([0, 1, 0, 1].map((gpu) => takeTask(left, 2, gpus[gpu]!))).toEqual([0, 1, 3, 2])
    expect(takeTask(left, 2, gpus[0]!)).toBeUndefined()
    expect(takeTask([4], 2, gpus[0]!)).toBe(4)
  })

  // Of copies of the run that the first test made.
  it('collects a thousand shards as one run, each of them once', async () => {
    const fleet = join(work, 'thousand')
    mkdirSync(join(fleet, 'tasks'), { recursive: true })
    const plan = { name: 'thousand', sweeps: [['-K', '512']], copies: 1000 }
    writeFileSync(join(fleet, 'plan.json'), JSON.stringify(plan))
    const made = join(work, 'fleet', 'tasks', '0000')
    const text = readFileSync(join(made, readdirSync(made)[0]!, 'run.json'), 'utf8')
    const samples = `{"step":0,"round":0,"samplesNs":[1,2,3],"samplesMHz":[]}\n`
    for (let task = 0; task < 1000; task++) {
      const run = join(fleet, 'tasks', String(task).padStart(4, '0'), '20261120-120000-sweep-mxfp8')
      mkdirSync(run, { recursive: true })
      writeFileSync(join(run, 'run.json'), text)
      writeFileSync(join(run, 'samples.jsonl'), samples)
    }
    const own = join(work, 'thousand-store')
    const { code, stdout } = await runInProcess([
      'fleet',
      'collect',
      fleet,
      '--store',
      own,
      '--json'
    ])
    expect(code).toBe(0)
    const [{ run: id }] = JSON.parse(stdout) as [{ run: string }]
    const run = JSON.parse(readFileSync(join(own, id, 'run.json'), 'utf8')) as {
      steps: { places: { run: string }[]; measurement: { timeNs: { samples: number } } }[]
    }
    expect(new Set(run.steps[0]!.places.map((place) => place.run)).size).toBe(1000)
    expect(run.steps[0]!.measurement.timeNs.samples).toBe(3000)
  })

  it('takes the task from a flag, an array of Slurm, srun or torchrun', () => {
    expect(taskOf(3, { RANK: '1' })).toBe(3)
    expect(taskOf(undefined, { SLURM_ARRAY_TASK_ID: '7', SLURM_PROCID: '0' })).toBe(7)
    expect(taskOf(undefined, { SLURM_PROCID: '2', RANK: '5' })).toBe(2)
    expect(taskOf(undefined, { RANK: '5' })).toBe(5)
    expect(() => taskOf(undefined, { RANK: 'x' })).toThrow(/Which task\? Name one with --task/)
  })

  it.each([
    [[0, 1, 2, 3], '0-3'],
    [[4], '4'],
    [[0, 2, 3, 9], '0,2-3,9']
  ])('names tasks %j as %s', (tasks, text) => expect(ranges(tasks)).toBe(text))

  it.each([
    ['{', /is no plan: /],
    [{ sweeps: [] }, /Name at least one sweep/],
    [{ sweeps: [['-K', '64']], copies: 0 }, /is no plan: .*copies/],
    [{ sweeps: [['-K', '64']], copies: 1001 }, /has 1001 tasks; 1000 are submitted at once/],
    [{ sweeps: [['-K', '64']], name: '../x' }, /is no plan: .*name/],
    [{ sweeps: [['-K', '64', '--store', 'x']] }, /sweep 0: --store is the fleet's to say/],
    [
      {
        sweeps: [
          ['-K', '64'],
          ['--formatz', 'x']
        ]
      },
      /sweep 1: unknown option '--formatz'/
    ],
    [{ sweeps: [['-K', '64', '--K-range', '1', '2']] }, /sweep 0: .*-K/],
    [{ sweeps: [['-K', '64', '--formats', 'mxfp5']] }, /sweep 0: .*mxfp5/]
  ])('refuses the plan %j in one sentence', async (plan, sentence) => {
    const path = planOf('bad', plan)
    const { code, stderr } = await runInProcess([
      'fleet',
      'submit',
      path,
      '--dir',
      join(work, 'bad')
    ])
    expect(stderr).toMatch(sentence)
    expect(code).toBe(2)
    expect(existsSync(join(work, 'bad'))).toBe(false)
  })

  it('leaves a shard of another version as it is, says so, and goes without it or does the task anew', async () => {
    const sweeps = [64, 96].map((k) => [...small, '-K', String(k)])
    const fleet = join(work, 'newer')
    const run = () => runInProcess(['fleet', 'run', planOf('newer', { sweeps }), '--dir', fleet])
    await run()
    const folder = join(fleet, 'tasks', '0000')
    const path = join(folder, readdirSync(folder)[0]!, 'run.json')
    const newer = readFileSync(path, 'utf8').replace(/"formatVersion": \d+/, '"formatVersion": 99')
    writeFileSync(path, newer)
    const { stdout, stderr } = await runInProcess(['fleet', 'status', fleet])
    expect(stdout + stderr).toMatch(
      /^Task 0 has a run that cannot be read, and stays as it is: .* was written by a newer blockscope \(run format 99; .*$/m
    )
    const own = ['--store', join(work, 'newer-store')]
    const refused = await runInProcess(['fleet', 'collect', fleet, ...own])
    expect(refused.stderr).toMatch(/^blockscope: 1 of 2 tasks are not done; .*\n$/)
    expect(refused.code).toBe(1)
    const partial = await runInProcess(['fleet', 'collect', fleet, ...own, '--partial'])
    expect(partial.stdout).toMatch(/^\S+: 1 task on /)
    expect((await run()).stdout).toContain('2 tasks on the CPU, 0 failed')
    expect(readFileSync(path, 'utf8')).toBe(newer)
    const whole = await runInProcess(['fleet', 'collect', fleet, ...own])
    expect(whole.stdout).toMatch(/^\S+: 2 tasks on /)
  })

  it('says what is no fleet, and which task is none', async () => {
    expect(await runInProcess(['fleet', 'status', work])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('holds no fleet: there is no tasks')
    })
    const task = await runInProcess(['fleet', 'task', join(work, 'fleet'), '--task', '2'])
    expect(task.stderr).toContain("Task 2 is none of this plan's: they are 0 to 1.")
    expect(task.code).toBe(2)
  })
})
