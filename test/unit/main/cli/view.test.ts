import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UserError } from '@shared/errors'
import { register } from '../../../../src-main/cli/view'
import { runCommand } from './runCommand'

const fixtures = 'test/fixtures/proton'

interface ViewerRun {
  command: string
  argv: string[]
  output: string
  exitCode: number
}

/** The invocations of proton-viewer 3.8.0 with what it printed. */
function viewerRuns(file: string): ViewerRun[] {
  const runs = readFileSync(`${fixtures}/${file}`, 'utf8')
    .split(/^\$ proton-viewer /m)
    .slice(1)
  return runs.map((text) => {
    const [command, ...rest] = text.split('\n')
    const [output, exitCode] = rest.join('\n').split(/\[rc=(\d)\]/)
    return {
      command: command!,
      argv: words(command!).map(fixturePath),
      output: output!,
      exitCode: Number(exitCode)
    }
  })
}

/** 'time (ns)' was one argument, quoted. */
function words(command: string): string[] {
  return command
    .replace('time (ns)', 'time_ns')
    .split(' ')
    .map((word) => (word === 'time_ns' ? 'time (ns)' : word))
}

function fixturePath(word: string): string {
  const found = ['upstream', 'synthetic']
    .map((folder) => `${fixtures}/${folder}/${word}`)
    .find(existsSync)
  return found ?? word
}

const runs = ['viewer_runs.txt', 'viewer_runs_synthetic.txt'].flatMap(viewerRuns)
// One profile that was not kept; its questions are asked of others.
const known = runs.filter((run) => !run.command.includes('/src/gen/t.hatchet'))

/**
 * The text, with rows of the sorted list that have the same value in the order of their names: numpy sorts those as its
 * processor-dependent sort leaves them.
 */
function inOrder(text: string): string[] {
  const [tree, list] = text.split(/^Sorted kernels by metric /m)
  const rows = list?.split('\n') ?? []
  const value = (row: string) => row.slice(105)
  return [
    tree!,
    ...rows.map((row) => value(row)),
    ...rows.map((row) => `${value(row)} ${row}`).sort()
  ]
}

const modernA = 'test/fixtures/proton/synthetic/modern_a.hatchet'

describe('view --proton', () => {
  const right = known.filter((run) => run.exitCode === 0)
  it('knows the invocations', () => expect(right.length).toBeGreaterThan(45))

  it.each(right)('$command', async ({ argv, output }) => {
    const { stdout } = await runCommand(register, ['view', '--proton', ...argv])
    // The viewer warns on the same stream about a third metric.
    expect(inOrder(stdout)).toEqual(inOrder(output.replace(/^.*SyntaxWarning.*\n.*\n/, '')))
  })
})

describe('view, where proton-viewer ends in a traceback', () => {
  const sentences: [string, string][] = [
    ['-m nosuch cuda.json', "Metric 'nosuch' is not found. The profile has: "],
    ['-m time/foo cuda.json', "Metric 'time/foo': 'foo' is not a unit of time"],
    [
      '-m tflop16/s cuda.json',
      "Metric 'tflop16/s': no flops16 recorded in this profile. It has flops8: ask for tflop8/s."
    ],
    ['-m time/us -i zzz modern_a.hatchet', "No name matches 'zzz' in this profile of 6 nodes."],
    ['-m time/us -t 1e9 modern_a.hatchet', 'The filter leaves no node in this profile of 6 nodes.']
  ]
  it.each(sentences)('%s: one sentence', async (command, sentence) => {
    const run = runCommand(register, ['view', ...words(command).map(fixturePath)])
    await expect(run).rejects.toThrow(UserError)
    await expect(run).rejects.toThrow(sentence)
  })

  it('covers every error of the recorded runs', () => {
    const errors = known.filter((run) => run.exitCode !== 0).map((run) => run.command)
    const both = '-m time/ns -i a -e b cuda.json'
    const answered = [both, '-m time/ns', '-m device_id cuda.json', '-m TIME/MS cuda.json']
    expect(errors.sort()).toEqual([...sentences.map(([command]) => command), ...answered].sort())
  })

  it('includes and excludes at once, but not as proton-viewer', async () => {
    const both = words('-m time/us -i matmul -e layer1 modern_a.hatchet').map(fixturePath)
    const only = words('-m time/us -i matmul modern_a.hatchet').map(fixturePath)
    const [{ stdout }, { stdout: more }] = [
      await runCommand(register, ['view', ...both]),
      await runCommand(register, ['view', ...only])
    ]
    expect(stdout.length).toBeLessThan(more.length)
    await expect(runCommand(register, ['view', '--proton', ...both])).rejects.toThrow(
      'takes --include or --exclude, not both'
    )
  })

  it('asks for a file where none is named', async () => {
    await expect(runCommand(register, ['view', '-m', 'time/ns'])).rejects.toThrow(
      /missing required argument 'files'/
    )
  })

  it('shows text properties and takes units in any case', async () => {
    const ids = await runCommand(register, ['view', '-m', 'device_id', fixturePath('cuda.json')])
    expect(ids.stdout).toContain('        1  ├─ foo0\n')
    const time = await runCommand(register, ['view', '-m', 'TIME/MS', fixturePath('cuda.json')])
    expect(time.stdout).toContain('  0.614  ROOT\n')
  })
})

describe('view, where proton-viewer prints a wrong nan', () => {
  it('rolls flops and bytes up where ROOT does not name them', async () => {
    const argv = [
      'view',
      '-m',
      'tflop8/s,gbyte/s,flops8/%,bytes/%,util',
      fixturePath('modern_a.hatchet')
    ]
    const { stdout } = await runCommand(register, argv)
    expect(stdout).toBe(
      [
        'tflop8/s  gbyte/s  flops8/%  bytes/%   util  name',
        '1666.667  454.167   100.000  100.000  0.778  ROOT',
        '1666.667  491.667    50.000   54.128  0.778  ├─ layer0',
        '2000.000  500.000    50.000   45.872  0.934  │  ├─ mxfp4_matmul <grid:64>',
        '       -  450.000         -    8.257  0.092  │  └─ quantize',
        '1666.667  416.667    50.000   45.872  0.778  └─ layer1',
        '1666.667  416.667    50.000   45.872  0.778     └─ mxfp4_matmul <grid:64>',
        '',
        '- tflop8/s: no flops8 recorded on this node (quantize)',
        '- flops8/%: no flops8 recorded on this node (quantize)',
        ''
      ].join('\n')
    )
  })

  it('says how much time launch metadata held', async () => {
    const { stdout } = await runCommand(register, [
      'view',
      '-m',
      'time/us',
      fixturePath('triton.json')
    ])
    expect(stdout).toContain('  1.664  ROOT')
    expect(stdout).toContain(
      'Launch metadata held 4.064 us, not counted here; "Metadata" or --metadata counts it.'
    )
    const all = await runCommand(register, [
      'view',
      '--metadata',
      '-m',
      'time/us',
      fixturePath('triton.json')
    ])
    expect(all.stdout).toContain('  5.728  ROOT')
  })
})

describe('view', () => {
  const h200 = 'test/fixtures/h200/triton_mxfp8_h200.hatchet'

  it('joins part files into phases', async () => {
    const part = (n: number) => `${fixtures}/generated/v3.8.0/phased.part_${n}.hatchet`
    const { stdout } = await runCommand(register, [
      'view',
      '-m',
      'bytes',
      part(2),
      part(0),
      part(1)
    ])
    expect(stdout).toContain('├─ phase 0')
    expect(stdout).toContain('└─ phase 2')
    expect(stdout).toMatch(/^768030 {2}ROOT$/m)
  })

  it('groups by what an expression captures', async () => {
    const { stdout } = await runCommand(register, [
      'view',
      h200,
      '--group',
      'K=(\\d+)',
      '-m',
      'time/ms',
      '-d',
      '2'
    ])
    expect(stdout).toMatch(/^ 12\.466 {2}├─ 1024$/m)
  })

  it('shows the hot path', async () => {
    const { stdout } = await runCommand(register, ['view', h200, '--hot-path', '-m', 'time/ms'])
    expect(stdout.split('\n').filter((line) => /ms|ROOT|K=/.test(line))).toHaveLength(4)
  })

  it('prints JSON with the reasons of what is missing', async () => {
    const { stdout } = await runCommand(register, [
      'view',
      h200,
      '--json',
      '-m',
      'time/ms,util',
      '-d',
      '1'
    ])
    const times = [...readFileSync(h200, 'utf8').matchAll(/"time \(ns\)": (\d+)/g)]
    const totalNs = times.reduce((sum, [, ns]) => sum + Number(ns), 0)
    expect(JSON.parse(stdout)).toEqual({
      metrics: ['time/ms', 'util'],
      rows: [
        {
          name: 'ROOT',
          depth: 0,
          metrics: { 'time/ms': totalNs / 1e6, util: null },
          missing: { util: expect.stringContaining('no peak applies') as string }
        }
      ]
    })
  })

  it("divides in Proton's order under --proton, on which the last digit depends", async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'view-')), 'two.hatchet')
    const launched = { 'time (ns)': 160159, count: 2 }
    const frame = (name: string) => ({ name, type: 'function' })
    const kernel = { frame: frame('kernel'), metrics: launched, children: [] }
    const root = { frame: frame('ROOT'), metrics: { 'time (ns)': 0, count: 0 }, children: [kernel] }
    writeFileSync(file, JSON.stringify([root, {}]))
    // 160159 * 1e-9 / 2 / 1e-6 in float64, as proton-viewer 3.8.0 computes it.
    const { stdout } = await runCommand(register, ['view', file, '--proton', '-m', 'avg_time/us'])
    expect(stdout).toContain('80.080 kernel')
  })

  it('takes 0 as a threshold: nodes without a value go', async () => {
    const rows = async (...words: string[]) =>
      (await runCommand(register, ['view', modernA, '-m', 'tflop8/s', ...words, '--json'])).stdout
    const all = JSON.parse(await rows()) as { rows: { metrics: object }[] }
    const kept = JSON.parse(await rows('-t', '0')) as typeof all
    const valued = all.rows.filter(({ metrics }) => Object.values(metrics)[0] !== null)
    expect(kept.rows).toEqual(valued)
    expect(kept.rows.length).toBeLessThan(all.rows.length)
  })

  it('refuses with --proton what proton-viewer has not, and two arrangements at once', async () => {
    const refused = (...words: string[]) =>
      expect(runCommand(register, ['view', modernA, ...words])).rejects
    await refused('--proton', '-m', 'time', '--flat').toThrow(
      '--proton and --flat exclude each other'
    )
    await refused('--proton', '-m', 'time', '--no-demangle').toThrow(
      '--proton and --no-demangle exclude each other'
    )
    await refused('--flat', '--group', 'K').toThrow('--flat and --group exclude each other')
    await refused('--diff-profile', modernA, '-m', 'time/us,count').toThrow('of one metric')
  })

  it('takes a path query', async () => {
    const argv = ['view', h200, '-m', 'time/ms', '-i', 'K=2048 > /cublas/']
    const { stdout } = await runCommand(register, argv)
    expect(stdout).toContain('cublas_bf16')
    expect(stdout).not.toContain('K=1024')
    expect(stdout).not.toContain('block_scaled')
  })

  it.each(['--flat', '--inverted'])('compares %s profiles as the app does', async (arrangement) => {
    const of = (name: string) => `${fixtures}/synthetic/${name}.hatchet`
    const argv = [
      'view',
      of('modern_c'),
      '-m',
      'time/ms',
      '--diff-profile',
      of('modern_a'),
      '--json'
    ]
    interface Row {
      name: string
      depth: number
      values: (number | null)[]
    }
    const rows = async (...more: string[]) =>
      (JSON.parse((await runCommand(register, [...argv, ...more])).stdout) as { rows: Row[] }).rows
    const plain = await rows()
    const arranged = await rows(arrangement)
    expect(arranged[0]).toEqual(plain[0])
    const kernels = arranged.filter(({ depth }) => depth === 1).map(({ name }) => name)
    expect(new Set(kernels).size).toBe(kernels.length)
    expect(kernels).toContain('dequant')
    expect(Math.max(...arranged.map(({ depth }) => depth))).toBe(arrangement === '--flat' ? 1 : 2)
  })
})
