/** The flags that say the groups of a grouped product. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { defaults } from '@shared/contract/defaults'
import {
  groupLayouts,
  mostGroups,
  parseGroupRows,
  usualAlignment,
  type GroupLayout
} from '@shared/contract/groups'
import { UserError } from '@shared/errors'
import { positiveInteger } from './arguments'

export interface GroupFlags {
  groups?: number[]
  groupLayout?: GroupLayout
  groupAlign?: number
  maxRows?: number
}

export const groupLayoutOption = () =>
  new Option(
    '--group-layout <name>',
    `how rows of groups stand (--groups: ${defaults.groupLayout}; experts of --shapes: products of their own)`
  ).choices(groupLayouts)

/** Of validate and sweep; --group-layout is among the flags of shapes. */
export const addGroupFlags = (command: Command): Command =>
  command
    .option(
      '--groups <rows>',
      'a grouped product: rows of each group, 4x8192 or 300,0,17',
      groupRows
    )
    .option(
      '--group-align <rows>',
      `contiguous segments begin at multiples of it (default: ${usualAlignment})`,
      positiveInteger
    )
    .option(
      '--max-rows <rows>',
      'rows a masked group has room for (default: those of the largest)',
      positiveInteger
    )

/** '2x300,0,17' is 300, 300, 0, 17. */
export function groupRows(text: string): number[] {
  const rows = parseGroupRows(text)
  if (rows) return rows
  throw new InvalidArgumentError(
    `Rows of groups are needed: 4x8192, or 300,0,17; at most ${mostGroups} groups.`
  )
}

/** What they say, as a job's spec has it; undefined without --groups. Throws a UserError for one that this layout has no use for. */
export function groupsOf({ groups, groupLayout, groupAlign, maxRows }: GroupFlags) {
  if (!groups) return undefined
  const layout = groupLayout ?? defaults.groupLayout
  const unused = (flag: string, of: GroupLayout, value: unknown) => {
    if (value !== undefined && layout !== of)
      throw new UserError('usage', `${flag} is of ${of} groups, and these are ${layout}.`)
  }
  unused('--group-align', 'contiguous', groupAlign)
  unused('--max-rows', 'masked', maxRows)
  return { layout, rows: groups, alignment: groupAlign, maxRows }
}
