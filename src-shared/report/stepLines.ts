/** What a run says below its table: what `auto` chose, and what kernels counted while they made their products. */
import { groupsText } from '../contract/groups'
import type { Run, Step } from '../contract/run'
import { countedText } from '../measurement/validationFigures'

type Steps = Pick<Run, 'steps'>

/** 'mxfp4 8192 x 8192 x 512' */
const problemText = ({ format, m, n, k, groups }: Step) =>
  `${format} ${m} x ${n} x ${k}${groups ? `, ${groupsText(groups)}` : ''}`

/** 'auto: mxfp4 8192 x 8192 x 512: wgmma, the fastest of 5 exact kernels by the cost model: ...' */
export const choiceLines = ({ steps }: Steps): string[] =>
  steps.flatMap(({ choice, ...step }) =>
    choice ? [`auto: ${problemText(step)}: ${choice.kernel || 'none'}, ${choice.why}`] : []
  )

/** 'wgmma-fp8-proved: mxfp4 8192 x 8192 x 8192: intervals proved: P = 128 99.8 %, P = 64 0.2 %' */
export const countedLines = ({ steps }: Steps): string[] =>
  steps.flatMap(({ validation, ...step }) => {
    const text = countedText(validation?.counted)
    return text ? [`${step.kernel}: ${problemText(step)}: ${text}`] : []
  })
