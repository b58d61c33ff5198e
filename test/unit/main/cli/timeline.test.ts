import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../../../../src-main/cli/timeline'
import { generateTrace } from '../../../bench/generateTrace'
import { runCommand } from './runCommand'

interface Json {
  lengthNs: number
  slices: number
  kernels: { name: string; count: number; ns: number; lanes: string[] }[]
  lanes: { name: string; kind: string; busyNs: number; longestIdle: { before: string } | null }[]
}

describe('timeline', () => {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-timeline-'))
  const trace = join(folder, 'step.json')
  beforeAll(() => {
    const slice = (name: string, tid: number, ts: number, dur: number) => ({
      ...{ ph: 'X', cat: 'kernel', pid: 0, name, tid, ts, dur }
    })
    const events = [slice('gemm', 7, 0, 10), slice('norm', 7, 30, 5), slice('copy', 20, 2, 4)]
    writeFileSync(trace, JSON.stringify({ traceEvents: events }))
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  const run = async (...words: string[]) =>
    (await runCommand(register, ['timeline', trace, ...words])).stdout

  it('prints sums by kernel, how busy streams are, and their longest idle time', async () => {
    expect(await run()).toBe(
      [
        '0 ns to 35 µs of 35 µs: 35 µs, 3 slices',
        '',
        'time (µs)  of range  count  lane  kernel',
        '     10.0      29 %      1  7     gemm',
        '     5.00      14 %      1  7     norm',
        '     4.00      11 %      1  20    copy',
        '',
        ' busy  of range  count  longest idle time            lane',
        '15 µs      43 %      2  20 µs at 10 µs, before norm  7',
        ' 4 µs      11 %      1  29 µs at 6 µs, to the end    20',
        ''
      ].join('\n')
    )
  })

  it('of a stretch, of some lanes, cuts what reaches over its edge', async () => {
    const json = JSON.parse(await run('--range', '5us..32us', '--lanes', '/^7$/', '--json')) as Json
    expect(json.kernels).toEqual([
      { name: 'gemm', count: 1, ns: 5000, lanes: ['7'] },
      { name: 'norm', count: 1, ns: 2000, lanes: ['7'] }
    ])
    expect(json.lanes).toMatchObject([{ name: '7', busyNs: 7000, longestIdle: { before: 'norm' } }])
  })

  it('of a run: its operations in order', async () => {
    const { stdout } = await runCommand(register, [
      ...['timeline', 'test/fixtures/runs/h200-8192', '--json']
    ])
    const json = JSON.parse(stdout) as Json
    expect(json.kernels.map(({ name }) => name)).toContain('multiply')
    expect(json.lanes.every(({ kind }) => kind === 'thread')).toBe(true)
  })

  it('of a trace as PyTorch writes it: the sums of its kernels', async () => {
    const file = join(folder, 'moe.json')
    const count = generateTrace(file, 3000)
    const { stdout } = await runCommand(register, ['timeline', file, '--json'])
    const json = JSON.parse(stdout) as Json
    expect(json.slices).toBe(count)
    const copies = json.kernels.find(({ name }) => name.startsWith('Memcpy'))
    expect(copies).toMatchObject({ lanes: ['stream 22'] })
    expect(json.lanes.map(({ name }) => name).sort()).toEqual([
      ...['stream 20', 'stream 22', 'stream 7']
    ])
  })

  it('of several ranks: lanes by rank, on one clock', async () => {
    const files = [1, 0].map((rank) => {
      const file = join(folder, `worker${rank}.json`)
      const kernel = { ph: 'X', cat: 'kernel', name: 'gemm', pid: rank, tid: 7, ts: 5, dur: 10 }
      const about = { distributedInfo: { rank, world_size: 2 }, baseTimeNanoseconds: rank * 20_000 }
      writeFileSync(file, JSON.stringify({ ...about, traceEvents: [kernel] }))
      return file
    })
    const { stdout, stderr } = await runCommand(register, ['timeline', ...files])
    expect(stdout).toContain('0 ns to 30 µs of 30 µs: 30 µs, 2 slices')
    expect(stdout).toMatch(/20\.0 +67 % +2 +rank 0 7, rank 1 7 +gemm/)
    expect(stderr).toContain('The clocks are aligned by the time of day')
    const one = await runCommand(register, ['timeline', ...files, '--lanes', 'rank 1', '--json'])
    expect(JSON.parse(one.stdout)).toMatchObject({ kernels: [{ name: 'gemm', ns: 10_000 }] })
  })

  it.each([
    [['--range', '1ms'], /write it as FROM..TO/],
    [['--range', '5..6'], /'5' is no time with a unit/],
    [['--range', '6us..5us'], /ends before it begins/],
    [['--range', '1s..2s'], /the trace ends after 0.035 ms/],
    [['--lanes', 'absent'], /no lane has this name. There are '7', '20'/]
  ])('refuses %j', async (words, message) => {
    await expect(run(...words)).rejects.toThrow(message)
  })

  it('says what a profile of sums lacks', async () => {
    await expect(
      runCommand(register, ['timeline', 'test/fixtures/h200/triton_mxfp8_h200.hatchet'])
    ).rejects.toThrow(/has no timeline. It holds sums/)
  })
})
