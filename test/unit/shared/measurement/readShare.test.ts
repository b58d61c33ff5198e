/** What is shown first of products with few rows of A, on a run of an H200. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseRun } from '@shared/contract/parseRun'
import type { Run } from '@shared/contract/run'
import { isLedByRead, moreBytesText, shareOfRead } from '@shared/measurement/readShare'
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
  const [first] = few.steps
  const column = columnsOf(few).find((one) => one.title === 'of read')!
  const read = whole.roofs!.find(({ of }) => of === 'dram')!
  const share = (first!.measurement!.gbytesPerSecond * 1e9) / read.rate
  expect(Number(column.text(first!))).toBeCloseTo(100 * share, 1)
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
  expect(told({ ...few, steps: ofFp4 })).toEqual([text])
  // Where the rate leads, nobody takes bandwidth for speed.
  expect(told(whole)).toBeUndefined()
})
