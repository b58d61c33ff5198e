/**
 * What a run says below its table: where bandwidth leads, what its share is of and whose is of more bytes, what `auto` chose, how approximate kernels stand to the error they state, what kernels counted
 * while they made their products, and which algorithms matmul libraries took.
 */
import type { Run } from '../contract/run'
import { algorithmText } from '../measurement/matmulAlgorithm'
import { problemText } from '../measurement/problemText'
import { isLedByRead, moreBytesText, readText } from '../measurement/readShare'
import { roofsOfRun } from '../measurement/roofs'
import { countedText, statedText } from '../measurement/validationFigures'

type Steps = Pick<Run, 'steps'>
type Told = Pick<Run, 'steps' | 'device' | 'roofs'>

/** 'auto: mxfp4 8192 x 8192 x 512: wgmma, the fastest of 5 exact kernels by the cost model: ...' */
const choiceLines = ({ steps }: Steps): string[] =>
  steps.flatMap(({ choice, ...step }) =>
    choice ? [`auto: ${problemText(step)}: ${choice.kernel || 'none'}, ${choice.why}`] : []
  )

/** 'wgmma-fp8-folded: mxfp8 8192 x 8192 x 8192: approximate: error 1.3e-4 of 1.5e-4 stated' */
const statedLines = ({ steps }: Steps): string[] =>
  steps.flatMap(({ validation, ...step }) => {
    const text = statedText(validation)
    return text ? [`${step.kernel}: ${problemText(step)}: ${step.level}: ${text}`] : []
  })

/** 'wgmma-fp8-proved: mxfp4 8192 x 8192 x 8192: intervals proved: P = 128 99.8 %, P = 64 0.2 %' */
const countedLines = ({ steps }: Steps): string[] =>
  steps.flatMap(({ validation, ...step }) => {
    const text = countedText(validation?.counted)
    return text ? [`${step.kernel}: ${problemText(step)}: ${text}`] : []
  })

/** 'cublaslt-fp8: mxfp4 8192 x 8192 x 8192, mxfp4 4096 x 8192 x 8192: algorithm 66, tile 128x256, ...' */
function algorithmLines({ steps }: Steps): string[] {
  const products = new Map<string, { kernel: string; text: string; problems: string[] }>()
  for (const step of steps) {
    const text = algorithmText(step)
    if (!text) continue
    const key = `${step.kernel}: ${text}`
    const one = products.get(key) ?? { kernel: step.kernel, text, problems: [] }
    one.problems.push(problemText(step))
    products.set(key, one)
  }
  return [...products.values()].map(
    ({ kernel, text, problems }) => `${kernel}: ${problems.join(', ')}: ${text}`
  )
}

const byteLines = (run: Told): string[] =>
  isLedByRead(run.steps, run.device)
    ? [readText(roofsOfRun(run)), moreBytesText(run.steps)].filter(Boolean)
    : []

/** Under their headings; those without a line are left out. */
export const stepLines = (run: Told): { title: string; lines: string[] }[] =>
  [
    { title: 'Bytes moved', lines: byteLines(run) },
    { title: 'Chosen by auto', lines: choiceLines(run) },
    { title: 'Stated errors', lines: statedLines(run) },
    { title: 'Counted by kernels', lines: countedLines(run) },
    { title: 'Chosen by libraries', lines: algorithmLines(run) }
  ].filter(({ lines }) => lines.length > 0)
