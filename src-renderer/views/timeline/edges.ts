import type { Scene } from '@shared/profile/lanes/scene'

/** The edge of a slice nearest to a time and no further than `reachNs`, else the time itself. Boxes of several have no edges. */
export function snapped(
  { count, several, start, end }: Scene,
  ns: number,
  reachNs: number
): number {
  let best = ns
  let distance = reachNs
  for (let box = 0; box < count; box++) {
    if (several[box] !== 1) continue
    for (const edge of [start[box]!, end[box]!]) {
      if (Math.abs(edge - ns) > distance) continue
      distance = Math.abs(edge - ns)
      best = edge
    }
  }
  return best
}

/** The box of a row at a time, or the nearest within reach; -1. */
export function boxAt(scene: Scene, row: number, ns: number, reachNs: number): number {
  let best = -1
  let distance = reachNs
  for (let box = 0; box < scene.count; box++) {
    if (scene.row[box] !== row) continue
    const away = Math.max(0, scene.start[box]! - ns, ns - scene.end[box]!)
    if (away > distance || (away === distance && best >= 0)) continue
    distance = away
    best = box
  }
  return best
}
