import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { MatmulAlgorithm } from '@shared/contract/matmulAlgorithm'
import type { Run } from '@shared/contract/run'
import { parseRun } from '@shared/contract/parseRun'
import { stepLines } from '@shared/report/stepLines'
import { runToHtml } from '@shared/report/html'
import { columnsOf } from '@shared/report/table'
import { runToMarkdown } from '@shared/report/text'

const linesOf = (run: Pick<Run, 'steps'>, title: string) =>
  stepLines(run).find((one) => one.title === title)?.lines ?? []
const choiceLines = (run: Pick<Run, 'steps'>) => linesOf(run, 'Chosen by auto')
const countedLines = (run: Pick<Run, 'steps'>) => linesOf(run, 'Counted by kernels')

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
  expect(stepLines(run).map(({ title }) => title)).toEqual(['Chosen by auto'])
  const without = { ...choice, kernel: '', why: 'no kernel takes it' }
  expect(choiceLines({ steps: [{ ...first!, choice: without }] })).toEqual([
    'auto: mxfp4 8192 x 8192 x 8192: none, no kernel takes it'
  ])
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
  expect(countedLines(withCounts([0, 9996, 0, 4]))[0]).toMatch(/: P = 128 100.0 %, P = 32 < 0.1 %$/)
  // It fell back to a product that counts nothing.
  expect(countedLines(withCounts([0, 0, 0, 0]))).toEqual([])
})

it('what a library chose is a line for all products that it chose the same for', () => {
  const plain = parseRun(readFileSync('docs/results/h200-8192/run.json', 'utf8'), 'run.json')
  expect(runToHtml(plain)).not.toContain('Chosen by libraries')
  const first = plain.steps.find(({ kernel }) => kernel === 'cublaslt-bf16')!
  const algorithm: MatmulAlgorithm = {
    ...{ id: 66, name: '', tile: '256x128', stages: '64xAUTO', cluster: '2x1x1' },
    ...{ splitK: 1, swizzle: 0, customOption: 0, reduction: 'none' },
    ...{ workspaceBytes: 0, waves: 3.875, rank: 1, proposed: 8 }
  }
  const step = (n: number, told: Partial<MatmulAlgorithm> = {}) => ({
    ...first,
    n,
    measurement: { ...first.measurement!, algorithm: { ...algorithm, ...told } }
  })
  const divided = { splitK: 3, reduction: 'in its sums', workspaceBytes: 2 ** 20, rank: 2 }
  const run = { ...plain, steps: [step(8192), step(4096), step(512, divided)] }
  const [at, many] = [`cublaslt-bf16: ${first.format} 8192 x`, `${first.format} 8192 x`]
  const lines = linesOf(run, 'Chosen by libraries')
  expect(lines).toEqual([
    `${at} 8192 x 8192, ${many} 4096 x 8192: algorithm 66, tile 256x128, stages 64xAUTO, cluster 2x1x1, ` +
      'split-K 1, swizzle 0, workspace 0 B, waves 3.88; number 1 of 8 proposals',
    `${at} 512 x 8192: algorithm 66, tile 256x128, stages 64xAUTO, cluster 2x1x1, ` +
      'split-K 3 (added up in its sums), swizzle 0, workspace 1.00 MiB, waves 3.88; number 2 of 8 proposals'
  ])
  expect(runToMarkdown(run)).toContain(lines[1])
  expect(runToHtml(run)).toContain(`<h2>Chosen by libraries</h2><p>${lines[0]}</p>`)
  const name = 'Cijk_Alik_Bljk_BBS_BH_MT256x256x64'
  const bare = { name, tile: '', stages: '', cluster: '', splitK: undefined, swizzle: undefined }
  const [named] = linesOf({ steps: [step(8192, bare)] }, 'Chosen by libraries')
  expect(named).toContain(`: algorithm 66, ${name}, workspace 0 B, waves 3.88; number 1`)
})
