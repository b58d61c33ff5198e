import { groupsText, type Shaped } from '../contract/groups'

/** 'mxfp4 8192 x 8192 x 512'; 'mxfp4 8192 x 5760 x 2880, 64 groups of 1 row, contiguous' */
export const problemText = ({ format, m, n, k, groups }: Shaped & { format: string }): string =>
  `${format} ${m} x ${n} x ${k}${groups ? `, ${groupsText(groups)}` : ''}`
