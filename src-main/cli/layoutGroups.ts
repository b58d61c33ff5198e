import type { Command } from 'commander'
import { columnLines } from '@shared/columns'
import { groupScales } from '@shared/layouts/groups'
import { counted } from '@shared/units'
import { print, printJson } from '../ground/terminal'
import { positiveInteger } from './arguments'
import { groupRows } from './groupFlags'
import { layoutOf, withLayout, type LayoutFlags } from './layoutFlags'

interface Flags extends LayoutFlags {
  groups: number[]
  cols: number
  json?: boolean
}

/** Of layout groups and layout detect. */
export const groupsWords = 'rows of each group: 4x8192, or 300,0,17'

export function registerGroups(layout: Command): void {
  withLayout(
    layout
      .command('groups')
      .description("where each group's scales begin, every group padded on its own")
  )
    .requiredOption('--groups <rows>', groupsWords, groupRows)
    .requiredOption('--cols <count>', 'columns of the scale matrix: K / V', positiveInteger)
    .option('--json', 'print as JSON')
    .action(groups)
}

function groups(flags: Flags): void {
  const layout = layoutOf(flags)
  const found = groupScales(layout, flags.groups, flags.cols)
  const { firstByte, bytes } = found.at(-1)!
  if (flags.json) return printJson({ layout: layout.name, bytes: firstByte + bytes, groups: found })
  print(
    `${layout.name}: ${counted(found.length, 'group')} of ${flags.cols} scale columns, ${firstByte + bytes} bytes; each group is padded on its own.`
  )
  const head = ['group', 'rows', 'first row', 'first byte', 'bytes', 'padded once']
  const cells = found.map(({ rows, firstRow, ...of }, group) =>
    [group, rows, firstRow, of.firstByte, of.bytes, of.onceByte ?? '-'].map(String)
  )
  print(columnLines([head, ...cells], () => false))
  const first = found.findIndex(
    (one) => one.onceByte !== undefined && one.onceByte !== one.firstByte
  )
  if (first >= 0)
    print(
      `A kernel that takes them to be padded once for all looks for the first scale of group ${first} at byte ` +
        `${found[first]!.onceByte}, where it is at ${found[first]!.firstByte}.`
    )
}
