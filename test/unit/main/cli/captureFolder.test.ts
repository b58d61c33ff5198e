/** What reads a folder that `blockscope capture` wrote: exports, tables, the app. */
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { pageFor } from '../../../../src-main/cli/open'
import { filesOf } from '../../../../src-main/desktop/openFiles'
import { OpenedFiles } from '../../../../src-main/jobs/openedFiles'
import {
  capturesInOnePlace,
  everyWork,
  type HatchetNode,
  type Trace
} from '../../../support/captureCommand'
import { problemsOfTrace } from '../../../support/traceEventFormat'
import { runInProcess } from '../../../support/runInProcess'
import { runBlockscope } from '../../../support/runBlockscope'

describe.skipIf(process.platform !== 'linux')('a captured folder', () => {
  const { within, capture } = capturesInOnePlace()
  let whole: Awaited<ReturnType<typeof capture>>
  beforeAll(async () => {
    whole = await capture(everyWork)
  })

  it('is exported as the trace event format has it: ranges, calls, kernels, a graph, copies', async () => {
    const traced = within('whole.trace.json')
    expect((await runInProcess(['convert', whole.out, traced, '--force'])).code).toBe(0)
    const trace = JSON.parse(readFileSync(traced, 'utf8')) as Trace
    expect(problemsOfTrace(trace)).toEqual([])
    const count = (phase: string) => trace.traceEvents.filter(({ ph }) => ph === phase).length
    // 120 kernels, a copy, 96 calls that the driver took or refused, 3 ranges.
    expect(count('X')).toBe(120 + 1 + 96 + 3)
    expect([count('s'), count('f')]).toEqual([121, 121])
  })

  it('writes a .hatchet of kernels below their ranges, as Proton does', () => {
    const text = readFileSync(join(whole.out, 'profile.hatchet'), 'utf8')
    const [root, devices] = JSON.parse(text) as [HatchetNode, unknown]
    expect(text.startsWith('\n[\n')).toBe(true)
    expect(root.metrics).toEqual({ 'time (ns)': 0, count: 0 })
    const kernel = (name: string, count: number, ns: number): HatchetNode => ({
      frame: { name, type: 'function' },
      metrics: { 'time (ns)': count * ns, count, device_id: '0', device_type: 'CUDA' },
      children: []
    })
    const scope = (name: string, child: HatchetNode): HatchetNode => ({
      frame: { name, type: 'function' },
      metrics: {},
      children: [child]
    })
    expect(root.children).toEqual([
      scope('step', kernel('gemm', 50, 20_000)),
      kernel('relu', 30, 10_000),
      scope(
        'replay',
        scope('<captured_at>', scope('replay', scope('capture', kernel('node', 40, 2000))))
      )
    ])
    expect(devices).toMatchObject({ CUDA: { '0': { arch: '90', num_sms: 132 } } })
  })

  it.each([
    [['view', '-m', 'time/us,count'], /1000\.000 +50 .*gemm/],
    [['top'], /gemm/],
    [['timeline'], /Memcpy HtoD/],
    [['launches'], /20\.0 µs .* 264x2 +128 +40 +3,072 +12 +0\.333 +gemm/],
    [['launches', '--each'], /^kind,name[^]*kernel,gemm,program \d+,program \(\d+\),step,/]
  ])('%s reads the folder', async ([command, ...flags], expected) => {
    const { code, stdout, stderr } = await runInProcess([command!, whole.out, ...flags])
    expect(stderr).toBe('')
    expect(stdout).toMatch(expected)
    expect(code).toBe(0)
  })

  it('launches say what share of its roof a product reaches whose shape a rule tells', async () => {
    const launches = (...flags: string[]) => runInProcess(['launches', whole.out, ...flags])
    const { stdout, stderr } = await launches('--flops', 'gemm=128x128x128', '/^nothing$/=1e9')
    expect(stdout).toMatch(
      /^gemm 264x2: 210 GFLOP\/s at the median, [\d.]+ % of the roof\. It is [\d.]+ % of the kernels' time; at the roof of its class .* \(dense bf16 at /m
    )
    expect(stderr).toBe('A rule of --flops matches no kernel here.\n')
    const json = await launches('--flops', '/ge+m/=2.5E9@FP8', '--json')
    const rows = JSON.parse(json.stdout) as { kernel: string; product?: { tflops: number } }[]
    expect(rows.find(({ kernel }) => kernel === 'gemm')?.product?.tflops).toBeCloseTo(125, 6)
    expect(rows.filter(({ product }) => product)).toHaveLength(1)
  })

  it.each(['gemm', 'gemm=', '=1e9', 'gemm=0', 'gemm=16x16', 'gemm=1x2x3@', '/(/=1e9'])(
    'launches --flops %s is refused in a sentence',
    async (rule) => {
      const { code, stderr } = await runInProcess(['launches', whole.out, '--flops', rule])
      expect([code, stderr.trim().split('\n').length]).toEqual([2, 1])
    }
  )

  it('the folder is named by its capture.json too', async () => {
    const record = join(whole.out, 'capture.json')
    const { code, stdout } = await runInProcess(['launches', record, '--by', 'kernel', '--json'])
    expect(code).toBe(0)
    expect((JSON.parse(stdout) as object[]).length).toBe(3)
    expect((await runInProcess(['view', record, '-m', 'count'])).stdout).toMatch(/50 .*gemm/)
    expect(await pageFor(whole.out, { view: 'capture' })).toBe('/capture')
    expect(filesOf(['app', whole.out, within('.'), record], '/', false)).toEqual([
      whole.out,
      record
    ])
  })

  it('one that the app keeps is named by its id', async () => {
    const data = within('data')
    const kept = join(data, 'blockscope', 'runs', 'captures', '20261122-091502')
    cpSync(whole.out, kept, { recursive: true })
    const inStore = { XDG_DATA_HOME: data }
    for (const command of ['launches', 'top']) {
      const { code, stdout } = await runBlockscope([command, '20261122-091502'], inStore)
      expect([code, stdout]).toEqual([0, expect.stringContaining('gemm')])
    }
    expect((await runBlockscope(['runs', 'list'], inStore)).stdout).not.toContain('captures')
    const { code, stderr } = await runBlockscope(['launches', '20261122-091503'], inStore)
    expect([code, stderr]).toEqual([2, expect.stringContaining('20261122-091503')])
  })

  it('the app is handed its shards, one by one', async () => {
    const opened = new OpenedFiles()
    opened.add(whole.out)
    const announced: { handle: string; name: string }[] = []
    const abort = new AbortController()
    const watching = opened.watch(abort.signal, (file) => announced.push(file))
    abort.abort()
    await watching
    const { name, shards } = await opened.read(announced[0]!.handle)
    expect([name, shards!.length]).toEqual(['capture-0', 1])
    const { name: shard, bytes } = await opened.read(shards![0]!)
    expect(bytes).toEqual(new Uint8Array(readFileSync(join(whole.out, shard))))
    opened.add(within('.'))
    const none = new AbortController()
    const other = opened.watch(none.signal, (file) => announced.push(file))
    none.abort()
    await other
    await expect(opened.read(announced[1]!.handle)).rejects.toThrow(/a folder, and of no capture/)
  })

  it('converts it, diffs it and reads one shard of it', async () => {
    const trace = within('capture.trace.json')
    expect((await runInProcess(['convert', whole.out, trace])).code).toBe(0)
    const [shard] = readdirSync(whole.out).filter((name) => name.endsWith('.shard'))
    const words = ['diff', join(whole.out, shard!), trace, '-m', 'count', '--json']
    const { code, stdout } = await runInProcess(words)
    expect(code).toBe(0)
    expect(stdout).toContain('"gemm"')
    const { stdout: table } = await runInProcess(['launches', join(whole.out, shard!), '--json'])
    const rows = JSON.parse(table) as { kernel: string; count: number; medianNs: number }[]
    expect(
      rows.map(({ kernel, count, medianNs }) => [kernel, count, Math.round(medianNs)])
    ).toEqual(
      [
        ['gemm', 50, 20_000],
        ['relu', 30, 10_000],
        ['node', 40, 2000]
      ].map(([kernel, count, ns]) => [kernel, count, expect.closeTo(ns as number, -2)])
    )
  })
})
