import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseRun } from '@shared/contract/parseRun'
import { choiceLines } from '@shared/report/choices'
import { runToHtml } from '@shared/report/html'
import { columnsOf } from '@shared/report/table'

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
