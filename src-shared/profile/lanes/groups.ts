/** What slices are coloured and summed by: a few groups, each slice in one of them. */
import type { Timeline } from '../tree/timeline'

export interface Groups {
  titles: string[]
  /** Of each slice what its group is told by: the number of its name or of its node. */
  key: Int32Array
  /** Group of each such number, below titles.length. */
  of: Uint8Array
}

/** By name: asked once for each that a slice has. */
export function groupsBy(
  { name, count, strings }: Timeline,
  titles: readonly string[],
  groupOfName: (name: string) => number
): Groups {
  return grouped(name, count, strings.size, titles, (id) => groupOfName(strings.text(id)))
}

/** By node, where what a slice is follows from what it belongs to. Every slice has to have one. */
export function groupsByNode(
  { node, count }: Timeline,
  nodes: number,
  titles: readonly string[],
  groupOfNode: (node: number) => number
): Groups {
  return grouped(node, count, nodes, titles, groupOfNode)
}

function grouped(
  key: Int32Array,
  count: number,
  keys: number,
  titles: readonly string[],
  groupOf: (key: number) => number
): Groups {
  const of = new Uint8Array(keys)
  const isAsked = new Uint8Array(keys)
  for (let slice = 0; slice < count; slice++) {
    const id = key[slice]!
    if (isAsked[id]) continue
    isAsked[id] = 1
    of[id] = groupOf(id)
  }
  return { titles: [...titles], key, of }
}

export const groupOfSlice = ({ key, of }: Groups, slice: number): number => of[key[slice]!]!
