/** What `auto` chose in a run, a line for each problem. */
import { groupsText } from '../contract/groups'
import type { Run } from '../contract/run'

/** 'auto: mxfp4 8192 x 8192 x 512: wgmma, the fastest of 5 exact kernels by the cost model: ...' */
export const choiceLines = ({ steps }: Pick<Run, 'steps'>): string[] =>
  steps.flatMap(({ choice, format, m, n, k, groups }) => {
    if (!choice) return []
    const shape = `${m} x ${n} x ${k}${groups ? `, ${groupsText(groups)}` : ''}`
    return [`auto: ${format} ${shape}: ${choice.kernel || 'none'}, ${choice.why}`]
  })
