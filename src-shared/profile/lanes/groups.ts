/** What slices are coloured and summed by: a few groups, each string of the timeline in one of them. */
import type { Timeline } from '../tree/timeline'

export interface Groups {
  titles: string[]
  /** Group of each string id, below titles.length. */
  of: Uint8Array
}

/** Asked once for each name that a slice has. */
export function groupsBy(
  { name, count, strings }: Timeline,
  titles: readonly string[],
  groupOf: (name: string) => number
): Groups {
  const of = new Uint8Array(strings.size)
  const isAsked = new Uint8Array(strings.size)
  for (let slice = 0; slice < count; slice++) {
    const id = name[slice]!
    if (isAsked[id]) continue
    isAsked[id] = 1
    of[id] = groupOf(strings.text(id))
  }
  return { titles: [...titles], of }
}
