/** What is shown first of products with few rows of A, on a run of an H200. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseRun } from '@shared/contract/parseRun'
import type { Run, Step } from '@shared/contract/run'
import { isLedByRead, moreBytesText, readText, shareOfRead } from '@shared/measurement/readShare'
import { roofsOfRun } from '@shared/measurement/roofs'
import { speedCharts } from '@shared/report/reportCharts'
import { stepLines } from '@shared/report/stepLines'
import { columnsOf, heading } from '@shared/report/table'
import { runToCsv } from '@shared/report/text'

const path = 'docs/results/h200-gpt-oss-120b/run.json'
const whole = parseRun(readFileSync(path, 'utf8'), path)
const few: Run = { ...whole, steps: whole.steps.filter(({ m }) => m <= 16) }
const headings = (run: Run) => columnsOf(run).map(heading)

it('a table of few rows begins its figures with bandwidth and its share of a plain read', () => {
  const order = headings(few).filter((title) => /^(memory|of read|rate)/.test(title))
  expect(order).toEqual(['memory (GB/s)', 'of read (%)', 'rate (TFLOP/s)'])
  expect([few, whole].map((run) => /[GTP](B|FLOP)\/s/.exec(speedCharts(run)[0]!.svg)![1])).toEqual([
    'B',
    'FLOP'
  ])
})

it('one with many rows among them, or of a CPU, begins with the rate', () => {
  const order = headings(whole).filter((title) => /^(memory|of read|rate)/.test(title))
  expect(order).toEqual(['rate (TFLOP/s)', 'memory (GB/s)'])
  expect(isLedByRead(few.steps, { ...whole.device!, kind: 'cpu' })).toBe(false)
  expect(isLedByRead([], whole.device)).toBe(false)
})

it('groups have few rows where the largest has', () => {
  const { measurement } = few.steps[0]!
  const groups = { layout: 'masked' as const, rows: [3, 64], alignment: 1, maxRows: 64 }
  const led = (rows: number[]) =>
    isLedByRead([{ m: 4096, groups: { ...groups, rows }, measurement }], whole.device)
  expect([led([3, 64]), led([3, 65])]).toEqual([true, false])
})

const ofRead = (run: Run, step: Step) =>
  Number(
    columnsOf(run)
      .find(({ title }) => title === 'of read')!
      .text(step)
  )
const dramOf = (run: Run) => run.roofs!.find(({ of }) => of === 'dram')!

describe('the share of a plain read', () => {
  const file = 'docs/results/h200-decode-list/run.json'
  const list = parseRun(readFileSync(file, 'utf8'), file)
  const { reads, rate } = dramOf(list)
  const ofSize = (n: number, k: number) =>
    list.steps.find(
      (step) =>
        [step.format, step.kernel, step.m, step.n, step.k].join() === `mxfp4,decode-mma,1,${n},${k}`
    )!

  it('is of what reads of fewer and of more bytes took in the run, between them', () => {
    for (const [n, k] of [
      [2880, 2880],
      [8192, 8192],
      [57344, 8192]
    ] as const) {
      const step = ofSize(n, k)
      const { bytes, timeNs } = step.measurement!
      const share = (ofRead(list, step) * timeNs.median) / 100
      const above = reads!.find((read) => read.bytes >= bytes)!
      const below = reads!.findLast((read) => read.bytes <= bytes)!
      expect(share).toBeGreaterThan(below.ns)
      expect(share).toBeLessThan(above.ns)
      // The time that the rate leaves out is what a read takes to start.
      expect(share - (bytes / rate) * 1e9).toBeGreaterThan(1000)
      expect(share - (bytes / rate) * 1e9).toBeLessThan(2000)
    }
  })

  it('at the size of a read is of that read, beyond the largest of the rate, below the smallest of the smallest', () => {
    const roofs = roofsOfRun(list)
    const { measurement } = ofSize(8192, 8192)
    const timeOf = (bytes: number) =>
      shareOfRead({ measurement: { ...measurement!, bytes } }, roofs)! * measurement!.timeNs.median
    for (const { bytes, ns } of reads!) expect(timeOf(bytes)).toBeCloseTo(ns, 3)
    const last = reads!.at(-1)!
    expect(timeOf(2 * last.bytes)).toBeCloseTo(2 * last.ns, 0)
    expect(timeOf(1)).toBeCloseTo(reads![0]!.ns, 3)
  })

  it('is of the rate alone in a run without such reads, and each says what it is', () => {
    const [first] = few.steps
    expect(dramOf(few).reads).toBeUndefined()
    const share = (first!.measurement!.gbytesPerSecond * 1e9) / dramOf(few).rate
    expect(ofRead(few, first!)).toBeCloseTo(100 * share, 1)
    const told = (run: Run) => stepLines(run).find(({ title }) => title === 'Bytes moved')!.lines[0]
    expect(told(few)).toMatch(
      /^Of read: the bytes at 4\.36 TB\/s, .*what a read takes to start is not in it\.$/
    )
    expect(told(list)).toMatch(
      /^Of read: what a plain read of as many bytes takes here, timed as kernels are: 256 KiB 1\.\d\d µs, 4\.00 MiB .* 1\.00 GiB 2\d\d µs\.$/
    )
    expect(readText({ device: undefined, measured: [] })).toBe('')
  })
})

it('operands in a cache, and a device whose memory was not read, have no share', () => {
  const roofs = roofsOfRun(whole)
  const { measurement } = few.steps[0]!
  expect(shareOfRead({ measurement }, roofs)).toBeGreaterThan(0)
  expect(shareOfRead({ measurement: { ...measurement!, cacheMode: 'hot' } }, roofs)).toBeUndefined()
  expect(shareOfRead({ measurement }, { ...roofs, measured: [] })).toBeUndefined()
  const [header, row] = runToCsv(few)
    .split('\n')
    .map((line) => line.split(','))
  expect(Number(row![header!.indexOf('share_of_read')])).toBe(shareOfRead(few.steps[0]!, roofs))
})

it('says which kernels move more bytes for the same product: their bandwidth is no speed', () => {
  const file = 'docs/results/h100-decode-list/run.json'
  const { steps } = parseRun(readFileSync(file, 'utf8'), file)
  const ofFp4 = steps.filter(({ format }) => format === 'mxfp4')
  const text = moreBytesText(ofFp4)
  const [, low, high] =
    /^For the same products cublaslt-bf16 moves ([\d.]+) to ([\d.]+) times the bytes: compare times\.$/.exec(
      text
    )!
  // 16 bits beside 4 and a scale's 8 of 32 elements, and C, which is alike.
  expect(Number(high)).toBeCloseTo(16 / (4 + 8 / 32), 1)
  expect(Number(low)).toBeLessThan(Number(high))
  expect(moreBytesText(ofFp4.filter(({ baseline }) => !baseline))).toBe('')
  // One kernel alone, of whatever bytes, is compared with none.
  expect(moreBytesText(ofFp4.filter(({ baseline }) => baseline))).toBe('')
  expect(moreBytesText([])).toBe('')
  const told = (run: Run) => stepLines(run).find(({ title }) => title === 'Bytes moved')?.lines
  expect(told({ ...few, steps: ofFp4 })?.at(-1)).toBe(text)
  // Where the rate leads, nobody takes bandwidth for speed.
  expect(told(whole)).toBeUndefined()
})
