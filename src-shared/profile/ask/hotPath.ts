import type { ProfileTree } from '../tree/profileTree'

/** From the largest root down, at each level the child with the largest value; ends where no child has one. */
export function hotPath(tree: ProfileTree, values: Float64Array): number[] {
  const path: number[] = []
  let stop = tree.count
  let node = 0
  for (;;) {
    let best = -1
    for (; node < stop; node = tree.end[node]!) {
      if (!Number.isNaN(values[node]) && (best < 0 || values[node]! > values[best]!)) best = node
    }
    if (best < 0) return path
    path.push(best)
    stop = tree.end[best]!
    node = best + 1
  }
}
