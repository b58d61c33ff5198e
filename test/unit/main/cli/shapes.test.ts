/** Shapes of a model through the real engine: validated, timed, summed by use, and repeated from the command a run records. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { GateResult } from '@shared/contract/gate'
import type { Run } from '@shared/contract/run'
import { runInProcess } from '../../../support/runInProcess'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-shapes-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)
const small = ['--device', 'cpu', '--formats', 'mxfp4', '--kernels', 'cpu-portable']
const store = ['--store', at('store')]

/** Two layers of one shape, and one of another. */
const list = at('layers.csv')
writeFileSync(
  list,
  'name,m,n,k,groups,weight\nqkv,16,32,64,1,4\no,16,32,64,1,4\nexpert,2,16,64,8,4\n'
)
/** A model small enough to be run whole. */
const config = at('config.json')
writeFileSync(
  config,
  JSON.stringify({
    ...{ model_type: 'mixtral', hidden_size: 64, intermediate_size: 128, num_hidden_layers: 2 },
    ...{ num_attention_heads: 2, num_local_experts: 4, num_experts_per_tok: 2 }
  })
)

describe('blockscope shapes', () => {
  it('makes a list of a config.json, which is read back the same', async () => {
    const printed = await runInProcess(['shapes', config, '--tokens', '1,8', '--json'])
    const { shapes } = JSON.parse(printed.stdout) as { shapes: object[] }
    expect(shapes).toHaveLength(8)
    expect(shapes[7]).toEqual({
      ...{ name: 'expert down', m: 4, n: 64, k: 128, groups: 4, weight: 2, tokens: 8 }
    })
    const csv = await runInProcess(['shapes', config, '--tokens', '1,8', '--out', at('made.csv')])
    expect(csv.stdout).toMatch(/^expert down +8 +4 +64 +128 +4 +8$/m)
    const again = await runInProcess(['shapes', at('made.csv'), '--json'])
    expect(JSON.parse(again.stdout)).toEqual({ shapes })
    const taken = await runInProcess(['shapes', config, '--out', at('made.csv')])
    expect(taken.stderr).toContain('exists; choose another name, or replace it with --force')
    expect((await runInProcess(['shapes', config, '--out', at('made.txt')])).code).toBe(2)
  })

  it('are timed once for each shape, and summed by use', async () => {
    const words = ['sweep', '--shapes', list, ...small, ...store, '--reps', '3']
    const { code, stdout } = await runInProcess(words)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^mxfp4 +qkv, o +8 +cpu-portable +16 +32 +64 /m)
    expect(stdout).toMatch(/^mxfp4 +expert +32 +cpu-portable +2 +16 +64 /m)
    expect(stdout).toMatch(
      /^mxfp4: the linear layers take [\d.]+ \S+ a step; tuning \w+, \d+(\.\d)? % of it, buys at most /m
    )
    expect(stdout).toMatch(/─ qkv, o$/m)
    const csv = await runInProcess([
      'runs',
      'export',
      'latest',
      '--as',
      'csv',
      '--output',
      '-',
      ...store
    ])
    expect(csv.stdout).toMatch(/,layers,uses\n.*,qkv; o,8\n.*,expert,32\n$/)
    const html = at('r.html')
    await runInProcess(['runs', 'export', 'latest', '--as', 'html', '--output', html, ...store])
    expect(readFileSync(html, 'utf8')).toContain('the linear layers take')
    const compared = await runInProcess(['runs', 'compare', 'latest', 'latest', ...store])
    expect(compared.stdout.trimEnd().split('\n')).toHaveLength(2)
  })

  it('are recorded, so that the command of a run repeats it', async () => {
    const words = ['validate', '--shapes', config, '--tokens', '1,8', '--tp', '2', ...small]
    const first = await runInProcess([...words, ...store, '--json'])
    const run = JSON.parse(first.stdout) as Run
    expect(run.spec.shapes).toMatchObject({ source: config, tokens: [1, 8], tp: 2 })
    expect(run.command).toContain(`--shapes ${config} --tokens 1,8 --tp 2`)
    // Of the experts 2 x 1 and 2 x 8 pairs of token and expert.
    expect(new Set(run.steps.map(({ m, n, k }) => `${m} ${n} ${k}`))).toEqual(
      new Set([
        ...['1 96 64', '1 64 32', '1 128 64', '1 64 64'],
        ...['8 96 64', '8 64 32', '4 128 64', '4 64 64']
      ])
    )
  })

  it('are what a gate compares', async () => {
    const few = ['--pairs', '12', '--samples', '2', '--margin', '99', '--json']
    const words = ['gate', 'cpu-portable', 'cpu-portable', '--shapes', list]
    const { stdout } = await runInProcess([...words, ...small.slice(0, 4), ...few])
    const { points } = JSON.parse(stdout) as GateResult
    expect(points.map(({ m, n, k }) => [m, n, k])).toEqual([
      [16, 32, 64],
      [2, 16, 64]
    ])
  })

  it.each([
    [['--shapes', 'lama-70b'], '"lama-70b" is no model here. Did you mean llama-70b?'],
    [['--shapes', './none.json'], './none.json does not exist'],
    [
      ['--shapes', list, '--tp', '2'],
      'is a list of shapes: --tp and --group-layout are of a model.'
    ],
    [
      ['--shapes', 'llm-layers', '--tokens', '1,2'],
      'llm-layers has no shapes of 2 tokens; it has those of 1, 8, 16, 32, 64, 4096.'
    ],
    [['--shapes', list, '--tokens', '1'], 'does not say of how many tokens its shapes are.'],
    [['--shapes', 'gpt-oss-120b', '--tp', '7'], 'which 7 GPUs cannot share evenly.'],
    [
      ['--shapes', 'gpt-oss-120b', '--tokens', '1048577'],
      '--shapes: a number of at most 1048576 is expected, not 1048577.'
    ]
  ])('%j is refused in one sentence', async (words, sentence) => {
    const { code, stderr } = await runInProcess(['sweep', ...words, ...small, ...store])
    expect(stderr).toContain(sentence)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(code).toBe(2)
  })
})
