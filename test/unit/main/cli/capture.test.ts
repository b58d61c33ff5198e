/** `blockscope capture` with the real program, library and command; driver and CUPTI are stand-ins. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { doubtsAbout, findProgram } from '../../../../src-main/capture/programFile'
import { shardHeaders } from '../../../../src-main/capture/captureFolder'
import { OpenedFiles } from '../../../../src-main/jobs/openedFiles'
import type { CaptureRecord } from '../../../../src-main/capture/captureRecord'
import {
  capturesInOnePlace,
  environment,
  everyWork,
  recordOf,
  type HatchetNode,
  type Trace
} from '../../../support/captureCommand'
import { stubCupti, stubDriver, stubHip, stubProgram } from '../../../support/captureStubs'
import { problemsOfTrace } from '../../../support/traceEventFormat'
import { runInProcess } from '../../../support/runInProcess'
import { runBlockscope, startBlockscope } from '../../../support/runBlockscope'

describe.skipIf(process.platform !== 'linux')('capture', () => {
  const { within, newFolder, capture } = capturesInOnePlace()
  let whole: Awaited<ReturnType<typeof capture>>
  beforeAll(async () => {
    whole = await capture(everyWork)
  })

  it('leaves streams and exit code to the program and says what was recorded', () => {
    expect(whole.code).toBe(3)
    expect(whole.stdout).toBe('from the program\n')
    expect(whole.stderr).toMatch(
      /^program \d+: 120 of 120 kernels recorded; 10 graph launches, 4 captured into graphs, 1 failed, 1 copy\.\nCapture: .*capture-0; blockscope view .*profile\.hatchet -m time\/ms\n$/
    )
  })

  it('writes what was asked, what ran and what is missing', () => {
    const record = recordOf(whole.out)
    expect(record).toMatchObject({
      formatVersion: 1,
      program: { code: 3, signal: null },
      totals: { processes: 1, expectedKernels: 120, kernels: 120, lostKernels: 0 },
      notes: []
    })
    expect(record.processes[0]!.cupti!.path).toBe(join(stubCupti, 'libcupti.so.13'))
    expect(record.command.slice(1, 3)).toEqual(['print:from the program', 'push:step'])
  })

  const python = '/usr/bin/python3'
  it.skipIf(!existsSync(python))('--python puts the call path above the ranges', async () => {
    const out = newFolder()
    const script = resolve('test/support/python/launches.py')
    const program = [python, script, stubDriver]
    const command = ['capture', '--out', out, '--python', '--', ...program]
    const { code, stderr } = await runBlockscope(command, environment)
    expect([code, stderr]).toEqual([0, expect.stringMatching(/35 of 35 kernels recorded/)])
    const [root] = JSON.parse(readFileSync(join(out, 'profile.hatchet'), 'utf8')) as [HatchetNode]
    const only = (node: HatchetNode, name: RegExp) =>
      node.children.filter(({ frame }) => name.test(frame.name))
    const [module, ...others] = root.children
    expect(module!.frame.name).toMatch(/@<module>$/)
    // A recursion of which the outermost frames are left out, and the beginning of the script's thread.
    expect(others.map(({ frame }) => frame.name.replace(/^.*@/, ''))).toEqual([
      ...['<frames further out>', '_bootstrap']
    ])
    const main = only(module!, /launches\.py:\d+@main$/)
    const launch = main.flatMap((node) => only(node, /launches\.py:\d+@launch$/))
    const step = launch.flatMap((node) => only(node, /^step$/))
    expect(step).toEqual([
      expect.objectContaining({
        children: [expect.objectContaining({ frame: { name: 'in a range', type: 'function' } })]
      })
    ])
    const launches = await runInProcess(['launches', out, '--each', '--kernels', 'in a range'])
    expect(launches.stdout).toMatch(/,step,\S+@<module> > \S+@main > \S+@launch,/)
    const traced = join(out, '..', 'python.trace.json')
    expect((await runInProcess(['convert', out, traced, '--force'])).code).toBe(0)
    const trace = JSON.parse(readFileSync(traced, 'utf8')) as Trace
    expect(problemsOfTrace(trace)).toEqual([])
    const kernel = trace.traceEvents.find(({ name, ph }) => name === 'in a range' && ph === 'X')!
    const stack: string[] = []
    for (let at = kernel.sf; at !== undefined; at = trace.stackFrames[at]!.parent)
      stack.unshift(trace.stackFrames[at]!.name)
    expect(stack.map((name) => name.replace(/^.*@/, ''))).toEqual([
      ...['<module>', 'main', 'launch', 'step']
    ])
  })

  it('--counters refuses what is no name of a metric, before anything is started', async () => {
    const words = ['capture', '--out', newFolder(), '--counters', 'two words', '--', stubProgram]
    const { code, stderr } = await runInProcess(words)
    expect([code, stderr]).toEqual([
      2,
      'blockscope: --counters: "two words" is no name of a metric, as dram__bytes_read.sum is.\n'
    ])
  })

  it('has a level for each process where there are several', async () => {
    const words = [
      'spawn',
      'launch:a:4',
      'join',
      'fork',
      'launch:b:5',
      '_exit:0',
      'join',
      'launch:c'
    ]
    const { out, stderr } = await capture(words)
    expect(recordOf(out).totals).toMatchObject({ processes: 3, kernels: 10, lostKernels: 0 })
    expect(stderr.match(/ kernels? recorded/g)).toHaveLength(3)
    const { stdout } = await runInProcess(['view', out, '-m', 'count'])
    expect(stdout.match(/─ program \d+/g)).toHaveLength(3)
  })

  it('takes only the program, kernels and range that are named', async () => {
    const words = ['launch:gemm:9', 'push:step', 'launch:gemm:4', 'launch:relu:5', 'pop']
    const flags = ['--range', 'step', '--kernels', '^gem+$', '--only', 'program', '--json']
    const { stdout } = await capture(words, flags)
    const { totals, processes } = JSON.parse(stdout) as CaptureRecord
    expect(totals).toMatchObject({ kernels: 4, expectedKernels: 9, lostKernels: 0 })
    expect(processes[0]).toMatchObject({ filtered: 5 })
    const other = await capture(['launch:k:5'], ['--only', 'train.py'])
    expect(other.stderr).toContain('--only left out all 1 processes')
    expect(other.code).toBe(0)
  })

  it('begins after a time, and ends after one while the program goes on', async () => {
    const late = await capture(['launch:k:5', 'sync'], ['--after', '1h'])
    expect(late.code).toBe(0)
    expect(recordOf(late.out).totals.kernels).toBe(0)
    const go = within('go')
    const out = newFolder()
    const words = ['launch:a:5', `until:${go}`, 'launch:b:7', 'exit:6']
    const running = startBlockscope(
      ['capture', '--out', out, '--for', '1ms', '--', stubProgram, ...words],
      environment
    )
    await running.printed(/The program goes on; Ctrl\+C ends it\./)
    writeFileSync(go, '')
    expect((await running.done).code).toBe(6)
    const { stdout } = await runInProcess(['launches', out, '--each'])
    expect(stdout).not.toContain('kernel,b,')
  })

  it('one that is being written is read as far as it is whole, and says so', async () => {
    const go = within('go-written')
    const out = newFolder()
    const words = ['push:step', 'launch:gemm:50:20', 'sync', `until:${go}`, 'launch:late:7', 'pop']
    const running = startBlockscope(
      ['capture', '--out', out, '--', stubProgram, ...words],
      environment
    )
    try {
      const recorded = () => shardHeaders(out).some(({ bodyBytes }) => bodyBytes > 0)
      await vi.waitFor(() => expect(existsSync(out) && recorded()).toBe(true))
      // Records are flushed apart from their launches.
      const table = await vi.waitFor(async () => {
        const found = await runInProcess(['launches', out])
        expect(found.stdout).toMatch(/ 50 .* gemm/)
        return found
      })
      const unfinished =
        /program \d+ was killed or still runs: what it launched last may be missing\./
      expect(table.stderr).toMatch(unfinished)
      const viewed = await runInProcess(['view', out, '-m', 'count'])
      expect(viewed.stdout).toMatch(/50 .*step\n.*gemm/)
      expect(viewed.stderr).toMatch(unfinished)
      const opened = new OpenedFiles()
      opened.add(out)
      const announced: { handle: string; name: string }[] = []
      const abort = new AbortController()
      const watching = opened.watch(abort.signal, (file) => announced.push(file))
      abort.abort()
      await watching
      expect((await opened.read(announced[0]!.handle)).shards).toHaveLength(1)
      const again = await runInProcess(['capture', '--out', out, '--force', '--', stubProgram])
      expect([again.code, again.stderr]).toEqual([
        2,
        expect.stringContaining('is being written by a capture that still runs')
      ])
    } finally {
      writeFileSync(go, '')
    }
    expect((await running.done).code).toBe(0)
    const whole = await runInProcess(['launches', out])
    expect([whole.stdout, whole.stderr]).toEqual([expect.stringMatching(/ 7 .* late/), ''])
  })

  it('--counters says what was measured, and where it is shown', async () => {
    const { out, stderr } = await capture(
      ['launch:_Z4reluIiEvPT_:9', 'launch:once'],
      ['--counters', 'lts__t_bytes.sum']
    )
    expect(stderr.replaceAll(/\d+: /g, '')).toBe(
      [
        'program 2 launches were measured by counters, run once for each of their passes, and have no time.',
        'program 8 of 10 kernels recorded; 2 measured by counters.',
        `Counters: blockscope launches ${out}; view and top of the folder with -m.`,
        `Capture: ${out}; blockscope view ${join(out, 'profile.hatchet')} -m time/ms`,
        ''
      ].join('\n')
    )
    const launches = (...flags: string[]) => runInProcess(['launches', out, ...flags])
    const { stdout } = await launches('--kernels', 'relu<int>')
    expect(stdout).toMatch(/L2 \(bytes\) +kernel\n +\S+ +relu<int>\(int\*\)\n$/)
    expect((await launches('--no-demangle')).stdout).toMatch(/_Z4reluIiEvPT_\n[^]*_Z4reluIiEvPT_/)
    const rows = JSON.parse((await launches('--json')).stdout) as object[]
    expect(rows).toEqual([
      expect.objectContaining({ kernel: '_Z4reluIiEvPT_', name: 'relu<int>(int*)', measured: 1 }),
      expect.objectContaining({ kernel: 'once', count: 0, measured: 1, medianNs: null })
    ])
    const each = await launches('--each')
    expect(
      each.stdout.split('\n').filter((line) => /^kernel,once,.*,,,\d/.test(line))
    ).toHaveLength(1)
    const top = await runInProcess(['top', out, '-m', 'time/us,lts__t_bytes.sum'])
    expect(top.stdout).toMatch(/time\/us +lts__t_bytes\.sum +name\n +[\d.]+ +\d+ +relu<int>/)
  })

  it('captures from one signal to the next', async () => {
    const [go, end] = [within('go-signal'), within('end-signal')]
    const out = newFolder()
    const words = ['launch:a:5', 'sync', 'print:up', `until:${go}`, 'launch:b:7', 'sync']
    const running = startBlockscope(
      [
        ...['capture', '--out', out, '--on-signal', 'USR1', '--', stubProgram, ...words],
        ...['print:done', `until:${end}`, 'launch:c:9']
      ],
      environment
    )
    await running.printed(/Waiting: kill -USR1 \d+ begins/)
    await running.printed(/up/)
    running.signal('SIGUSR1')
    await running.printed(/Recording; SIGUSR1 again ends the capture\./)
    const isRecording = () => shardHeaders(out).some(({ state }) => state === 'recording')
    while (!isRecording()) await new Promise((resolve) => setTimeout(resolve, 5))
    writeFileSync(go, '')
    await running.printed(/done/)
    running.signal('SIGUSR1')
    await running.printed(/The program goes on/)
    writeFileSync(end, '')
    expect((await running.done).code).toBe(0)
    expect(recordOf(out)).toMatchObject({ options: { waits: true }, totals: { kernels: 7 } })
  })

  it('ends the capture at Ctrl+C and the program at the second', async () => {
    const file = within('signals')
    const out = newFolder()
    const words = ['launch:k:5', 'print:ready', `signals:${file}`, 'exit:4']
    const running = startBlockscope(
      ['capture', '--out', out, '--', stubProgram, ...words],
      environment
    )
    await running.printed(/ready/)
    // The handler is set once the file is there.
    while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 5))
    running.signal('SIGINT')
    await running.printed(/The program goes on/)
    expect(readFileSync(file, 'utf8')).toBe('')
    expect(recordOf(out)).toMatchObject({ program: null, totals: { kernels: 5 } })
    running.signal('SIGINT')
    expect((await running.done).code).toBe(4)
    expect(readFileSync(file, 'utf8')).toBe('1')
    expect(recordOf(out).program).toEqual({ code: 4, signal: null })
  })

  it('reports a killed program as a shell does, with what had been written', async () => {
    const { code, out } = await capture(['launch:k:5', 'sync', 'kill'])
    expect(code).toBe(128 + 9)
    expect(recordOf(out).processes[0]).toMatchObject({ state: 'cut off', expectedKernels: 5 })
  })

  it('says so where no GPU was used or CUPTI does not start, and passes the exit code', async () => {
    const out = newFolder()
    const { code, stderr } = await runBlockscope([
      'capture',
      '--out',
      out,
      '--',
      'sh',
      '-c',
      'exit 7'
    ])
    expect(code).toBe(7)
    expect(stderr).toContain(
      'No process started CUDA, nor HIP where ROCm has rocprofiler-sdk: nothing was captured.'
    )
    const refused = newFolder()
    const held = await runBlockscope(['capture', '--out', refused, '--', stubProgram, 'launch:k'], {
      ...environment,
      STUB_CUPTI_ERROR: '39'
    })
    expect(held.code).toBe(0)
    expect(held.stderr).toMatch(
      /program \d+ was not captured: another profiler already holds CUPTI/
    )
  })

  it('captures a program on HIP by the same command, and says that this was not run on one', async () => {
    const out = newFolder()
    const words = ['push:step', 'launch:gemm:6', 'pop', 'sync', 'exit:2']
    const { code, stdout, stderr } = await runBlockscope(
      ['capture', '--out', out, '--', stubProgram, ...words],
      { ...environment, LD_LIBRARY_PATH: dirname(stubHip) }
    )
    expect(code).toBe(2)
    expect(stdout + stderr).toMatch(/rocprofiler-sdk 1\.0\.0; .* not run on an AMD GPU/)
    expect(recordOf(out).totals).toMatchObject({ kernels: 6, expectedKernels: 6, lostKernels: 0 })
    const viewed = await runInProcess(['view', out])
    expect(viewed.stdout).toMatch(/step\n.*gemm/)
    const table = await runInProcess(['launches', out])
    expect(table.stdout).toMatch(/264x2 +128 +128 +3,072 .* gemm/)
  })

  it.each([
    [
      'no such program',
      () => ['no-such-program'],
      {},
      /^blockscope: no-such-program is no program/
    ],
    [
      'a file that is not executable',
      () => ['./package.json'],
      {},
      /package\.json cannot be started: it is not executable/
    ],
    [
      'another injection',
      () => [stubProgram],
      { CUDA_INJECTION64_PATH: '/opt/other.so' },
      /CUDA_INJECTION64_PATH is set to \/opt\/other\.so: another profiler/
    ],
    [
      'another tool of rocprofiler-sdk',
      () => [stubProgram],
      { ROCP_TOOL_LIBRARIES: '/opt/libtool.so' },
      /ROCP_TOOL_LIBRARIES is set to \/opt\/libtool\.so: another profiler/
    ]
  ])('refuses %s in one sentence, and makes no folder', async (_, command, set, sentence) => {
    const out = newFolder()
    const { code, stderr } = await runInProcess(['capture', '--out', out, '--', ...command()], set)
    expect(stderr).toMatch(sentence)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(code).toBe(2)
    expect(existsSync(out)).toBe(false)
  })

  it('replaces a capture only when asked, and nothing else ever', async () => {
    const again = (flags: string[]) =>
      runBlockscope(['capture', '--out', whole.out, ...flags, '--', stubProgram], environment)
    const { code, stderr } = await again([])
    expect(code).toBe(2)
    expect(stderr).toMatch(/holds a capture; name another folder, or replace it with --force/)
    const other = newFolder()
    mkdirSync(other)
    writeFileSync(join(other, 'thesis.txt'), '')
    const refused = await runInProcess(['capture', '--out', other, '--force', '--', stubProgram])
    expect(refused.stderr).toMatch(/holds thesis\.txt, which is of no capture/)
    expect(readdirSync(other)).toEqual(['thesis.txt'])
    expect((await again(['--force'])).code).toBe(0)
    expect(recordOf(whole.out).totals.kernels).toBe(0)
  })

  it('knows programs that the system injects nothing into', () => {
    const file = within('setuid')
    copyFileSync(stubProgram, file)
    expect(doubtsAbout(file)).toEqual([])
    chmodSync(file, 0o4755)
    expect(doubtsAbout(file)).toEqual([expect.stringMatching(/is setuid or setgid/)])
    // An ELF file of one segment that asks for no interpreter.
    const bytes = Buffer.alloc(64 + 56)
    bytes.write('\x7fELF\x02\x01', 'latin1')
    bytes.writeBigUInt64LE(64n, 32)
    bytes.writeUInt16LE(56, 54)
    bytes.writeUInt16LE(1, 56)
    bytes.writeUInt32LE(1, 64)
    const linked = within('static')
    writeFileSync(linked, bytes, { mode: 0o755 })
    expect(doubtsAbout(linked)).toEqual([expect.stringMatching(/is linked statically/)])
    expect(findProgram('static', { path: `/nowhere:${within('.')}` })).toBe(linked)
  })
})
