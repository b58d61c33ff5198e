import { groupsText, type Shaped } from '../contract/groups'

/** What a point is named by beside its format and kernel: 'M=128 N=96 K=256', 'M=8192 N=5760 K=2880 (64 groups of 1 row, contiguous)'. */
export const extentsText = ({ m, n, k, groups }: Shaped): string =>
  `M=${m} N=${n} K=${k}${groups ? ` (${groupsText(groups)})` : ''}`

/** 'mxfp4 8192 x 8192 x 512'; 'mxfp4 8192 x 5760 x 2880, 64 groups of 1 row, contiguous' */
export const problemText = ({ format, m, n, k, groups }: Shaped & { format: string }): string =>
  `${format} ${m} x ${n} x ${k}${groups ? `, ${groupsText(groups)}` : ''}`
