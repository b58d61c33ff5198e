import { groupsText, type Shaped } from '../contract/groups'

/** What a person is told of a product: '128 x 96 x 256' is M, N and K; '8192 x 5760 x 2880, 64 groups of 1 row, contiguous'. */
export const extentsText = ({ m, n, k, groups }: Shaped): string =>
  `${m} x ${n} x ${k}${groups ? `, ${groupsText(groups)}` : ''}`

/** 'mxfp4 8192 x 8192 x 512' */
export const problemText = (problem: Shaped & { format: string }): string =>
  `${problem.format} ${extentsText(problem)}`

/** 'mxfp4 wgmma 8192 x 8192 x 512' */
export const pointText = (point: Shaped & { format: string; kernel: string }): string =>
  `${point.format} ${point.kernel} ${extentsText(point)}`

/** The same in names of test cases, by which other programs follow a point from run to run: 'M=128 N=96 K=256'. */
export const extentsName = ({ m, n, k, groups }: Shaped): string =>
  `M=${m} N=${n} K=${k}${groups ? ` (${groupsText(groups)})` : ''}`
