/** What a picture of a profile is made of: one flame graph, or callers above a frame and what it calls below. */
import type { FlameLayout } from '@shared/profile/ask/flame'
import type { PaintedNodes } from '@shared/profile/ask/flamePaint'
import type { FlameScene, SandwichAnswer, SandwichScene } from '../../workers/profileProtocol'
import { rowHeight } from './flameScene'

export interface FlameLayer {
  layout: FlameLayout
  painted: PaintedNodes
  parent: Int32Array
  /** Node of the profile that a node of this layer stands for. */
  nodeOf: (node: number) => number
  /** Share of the total that a node of this layer is; undefined where the profile's own values say it. */
  shareOf?: (node: number) => number
  /** Levels before this one are not drawn. */
  firstLevel: number
  upwards: boolean
  /** Where level 0 is drawn, pixels. */
  top: number
}

const levelsOf = ({ levelStart }: FlameLayout) => levelStart.length - 1

export function flameLayers({ layout, painted }: FlameScene, parent: Int32Array): FlameLayer[] {
  return [
    { layout, painted, parent, nodeOf: (node) => node, firstLevel: 0, upwards: false, top: 0 }
  ]
}

/** The frame itself is drawn once, between both. */
export function sandwichLayers({ callers, callees, total }: SandwichAnswer): FlameLayer[] {
  const top = Math.max(0, levelsOf(callers.layout) - 1) * rowHeight
  const layer = (side: SandwichScene, upwards: boolean): FlameLayer => ({
    layout: side.layout,
    painted: side.painted,
    parent: side.parent,
    nodeOf: (node) => side.example[node]!,
    shareOf: (node) => side.weight[node]! / total,
    firstLevel: upwards ? 1 : 0,
    upwards,
    top
  })
  return [layer(callers, true), layer(callees, false)]
}

/** Pixels that all layers take. */
export function heightOf(layers: readonly FlameLayer[]): number {
  return Math.max(
    0,
    ...layers.map(({ layout, top, upwards }) =>
      upwards ? top : top + levelsOf(layout) * rowHeight
    )
  )
}

/** The layer and its level at a height. */
export function levelAt(
  layers: readonly FlameLayer[],
  y: number
): { layer: FlameLayer; level: number } | undefined {
  for (const layer of layers) {
    const { top, upwards, firstLevel, layout } = layer
    const row = Math.floor((y - top) / rowHeight)
    const level = upwards ? -row : row
    if (level >= firstLevel && level < levelsOf(layout)) return { layer, level }
  }
  return undefined
}

/** Levels of a layer between two heights. */
export function levelsBetween(layer: FlameLayer, from: number, to: number) {
  const first = Math.floor((from - layer.top) / rowHeight)
  const last = Math.floor((to - layer.top) / rowHeight)
  const [low, high] = layer.upwards ? [-last, -first] : [first, last]
  return { firstLevel: Math.max(layer.firstLevel, low), endLevel: high + 1 }
}
