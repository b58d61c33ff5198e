import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseRun } from '@shared/contract/parseRun'
import { choiceLines, countedLines } from '@shared/report/stepLines'
import { runToHtml } from '@shared/report/html'
import { columnsOf } from '@shared/report/table'
import { runToMarkdown } from '@shared/report/text'

it('what auto chose is a column of the table and a line of the report, where it chose', () => {
  const plain = parseRun(readFileSync('docs/results/h200-8192/run.json', 'utf8'), 'run.json')
  const titles = (run: typeof plain) => columnsOf(run).map(({ title }) => title)
  expect([choiceLines(plain), titles(plain).includes('auto predicts')]).toEqual([[], false])
  const why = 'the fastest of 6 exact kernels by the cost model'
  const choice = { kernel: 'wgmma', why, predictedNs: 1_436_300, candidates: [] }
  const [first, ...others] = plain.steps
  const run = { ...plain, steps: [{ ...first!, choice }, ...others] }
  const column = columnsOf(run)[2]!
  expect([column.title, column.text(run.steps[0]!), column.text(others[0]!)]).toEqual([
    ...['auto predicts', '1436.30', '-']
  ])
  expect(choiceLines(run)).toEqual([`auto: mxfp4 8192 x 8192 x 8192: wgmma, ${why}`])
  expect(runToHtml(run)).toContain(
    `<h2>Chosen by auto</h2><p>auto: mxfp4 8192 x 8192 x 8192: wgmma, ${why}</p>`
  )
  expect(runToHtml(run)).not.toContain('linear layers')
  expect(runToHtml(plain)).not.toContain('Chosen by auto')
})

it('what a kernel counted is a line of the report and of the table', () => {
  const plain = parseRun(readFileSync('docs/results/h200-8192/run.json', 'utf8'), 'run.json')
  expect([countedLines(plain), runToHtml(plain).includes('Counted')]).toEqual([[], false])
  const [first, ...others] = plain.steps
  const labels = ['P = 256', 'P = 128', 'P = 64', 'P = 32']
  const withCounts = (counts: number[]) => {
    const counted = { of: 'intervals proved', labels, counts }
    const step = { ...first!, kernel: 'proved', validation: { ...first!.validation!, counted } }
    return { ...plain, steps: [step, ...others] }
  }
  const line = 'proved: mxfp4 8192 x 8192 x 8192: intervals proved: P = 128 99.8 %, P = 64 0.2 %'
  const run = withCounts([0, 998, 2, 0])
  expect(countedLines(run)).toEqual([line])
  expect(runToMarkdown(run)).toContain(line)
  expect(runToHtml(run)).toContain(`<h2>Counted by kernels</h2><p>${line}</p>`)
  // It fell back to a product that counts nothing.
  expect(countedLines(withCounts([0, 0, 0, 0]))).toEqual([])
})
