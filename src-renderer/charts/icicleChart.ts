/** Which rectangles of an icicle are drawn and which lies under a point. Widths in pixels. */
import type { IcicleLayout } from '@shared/profile/ask/icicle'

export const icicleRowHeight = 20

type Edges = Pick<IcicleLayout, 'x0' | 'x1' | 'depth'>

export interface IcicleBox {
  node: number
  x: number
  y: number
  width: number
}

/** Boxes at least half a pixel wide; what lies below a narrower one is narrower still and is passed over. */
export function icicleBoxes(edges: Edges, end: Int32Array, width: number): IcicleBox[] {
  const boxes: IcicleBox[] = []
  for (let node = 0; node < edges.x0.length;) {
    const wide = (edges.x1[node]! - edges.x0[node]!) * width
    if (wide < 0.5) {
      node = end[node]!
      continue
    }
    boxes.push({
      node,
      x: edges.x0[node]! * width,
      y: edges.depth[node]! * icicleRowHeight,
      width: wide
    })
    node++
  }
  return boxes
}

export function boxAt(boxes: readonly IcicleBox[], x: number, y: number): IcicleBox | undefined {
  return boxes.find(
    (box) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + icicleRowHeight
  )
}
