/** How a metric or property is spelled in a file of Proton's. */
import type { ProfileTree } from '../tree/profileTree'

/** Proton 3.1's spellings. */
const titleCaseOf: ReadonlyMap<string, string> = new Map([
  ['time (ns)', 'Time (ns)'],
  ['count', 'Count'],
  ['device_id', 'DeviceId'],
  ['device_type', 'DeviceType']
])

export function fileKeyOf({ titleCase }: Pick<ProfileTree, 'titleCase'>, name: string): string {
  return (titleCase && titleCaseOf.get(name)) || name
}
