/** What each box of a flame graph is coloured by: a class per node, and what the classes are called. */
import {
  changeStep,
  changeSteps,
  hues,
  workKindIds,
  workKinds
} from '../../measurement/pictureColours'
import { byNameId, type ProfileTree } from '../tree/profileTree'
import { isGone, isNew } from './diffTrees'
import { kernelFamilies, kernelFamily } from './kernelFamilies'
import { moduleOf } from './moduleOf'
import { workKindOfNode } from './workKind'

/** A metric is named by its column among those asked for. */
export type FlameGrouping = 'name' | 'module' | 'library'
export type FlameColour = 'kind' | FlameGrouping | 'change' | { column: number }

export interface PaintedNodes {
  by: 'hue' | 'metric' | 'change'
  /**
   * Per node. hue: 0 plain, 1 + n the nth hue, + scopeBit where the node is a scope that only holds such work. metric: 0
   * without a value, 1 to 5 from least to most. change: 1 to 7 of changeSteps, 8 new, 9 gone, 0 without both.
   */
  classes: Uint8Array<ArrayBuffer>
  /** Names of the classes from 1 on; of a metric its least and its largest value. */
  legend: string[]
  range: [number, number] | null
}

export const scopeBit = 128
export const metricSteps = 5
export const newClass = changeSteps.length + 1
export const goneClass = changeSteps.length + 2

/** @param weights widths of the boxes: a scope has the hue of what takes at least half of it. */
export function paintByKind(tree: ProfileTree, weights: Float64Array): PaintedNodes {
  const kindOf = workKindOfNode(tree)
  const classOf = (node: number) => 1 + kindOf(node)
  const classes = new Uint8Array(tree.count)
  const kinds = workKindIds.length
  /** Per kind of work: what of each subtree it takes. */
  const shares = Array.from({ length: kinds }, () => new Float32Array(tree.count))
  for (let node = tree.count - 1; node >= 0; node--) {
    const above = tree.parent[node]!
    const weight = weights[node]! > 0 ? weights[node]! : 0
    if (tree.end[node] === node + 1) {
      const own = classOf(node)
      classes[node] = own
      if (own > 0) shares[own - 1]![node] = weight
    } else {
      for (let kind = 0; kind < kinds; kind++) {
        if (shares[kind]![node]! >= weight / 2 && weight > 0) classes[node] = scopeBit | (kind + 1)
      }
    }
    if (above < 0) continue
    for (let kind = 0; kind < kinds; kind++) shares[kind]![above]! += shares[kind]![node]!
  }
  const legend = workKindIds.map((id) => workKinds[id].title)
  return { by: 'hue', classes, legend, range: null }
}

const libraries = new Map(kernelFamilies.map(({ id, label }) => [id, label]))
const groupNames: Record<FlameGrouping, (name: string) => string> = {
  name: (name) => name,
  module: moduleOf,
  library: (name) => {
    const id = kernelFamily(name)
    return id === 'other' ? '' : libraries.get(id)!
  }
}

/** By names, by their modules or their libraries: the seven that take most have a hue, each the one that its name asks for while it is free. */
export function paintByGroup(
  tree: ProfileTree,
  weights: Float64Array,
  by: FlameGrouping
): PaintedNodes {
  const groups: string[] = []
  const numbers = new Map<string, number>()
  const groupOf = byNameId(tree, (name) => {
    const group = groupNames[by](name)
    if (group === '') return -1
    let number = numbers.get(group)
    if (number === undefined) numbers.set(group, (number = groups.push(group) - 1))
    return number
  })
  const sums: number[] = []
  for (let node = 0; node < tree.count; node++) {
    const group = groupOf(node)
    // Names are those of kernels; scopes of a module count with what they hold.
    const counts = by !== 'name' || tree.end[node] === node + 1
    if (group >= 0 && counts && weights[node]! > 0)
      sums[group] = (sums[group] ?? 0) + weights[node]!
  }
  const largest = groups
    .map((_, group) => group)
    .filter((group) => sums[group]! > 0)
    .sort((a, b) => sums[b]! - sums[a]!)
    .slice(0, hues.length)
  const legend: string[] = new Array<string>(hues.length).fill('')
  const hueOf = new Map<number, number>()
  for (const group of largest) {
    let hue = hashOf(groups[group]!) % hues.length
    while (legend[hue] !== '') hue = (hue + 1) % hues.length
    legend[hue] = groups[group]!
    hueOf.set(group, hue)
  }
  const classes = new Uint8Array(tree.count)
  for (let node = 0; node < tree.count; node++) {
    const hue = hueOf.get(groupOf(node))
    if (hue !== undefined) classes[node] = (tree.end[node] === node + 1 ? 0 : scopeBit) | (hue + 1)
  }
  return { by: 'hue', classes, legend, range: null }
}

/** By the value of a metric, in steps of the same size from its least to its largest. */
export function paintByMetric(values: Float64Array, label: string): PaintedNodes {
  let [least, most] = [Infinity, -Infinity]
  for (const value of values) {
    if (value < least) least = value
    if (value > most) most = value
  }
  const classes = new Uint8Array(values.length)
  const step = (most - least) / metricSteps
  values.forEach((value, node) => {
    if (Number.isNaN(value)) return
    classes[node] = step > 0 ? 1 + Math.min(metricSteps - 1, Math.floor((value - least) / step)) : 1
  })
  return { by: 'metric', classes, legend: [label], range: most >= least ? [least, most] : null }
}

/** By what became of a node between two profiles. */
export function paintByChange(ratio: Float64Array, state: Uint8Array): PaintedNodes {
  const classes = Uint8Array.from(ratio, (value, node) => {
    if (state[node] === isNew) return newClass
    if (state[node] === isGone) return goneClass
    return Number.isNaN(value) ? 0 : 1 + changeStep(value)
  })
  return { by: 'change', classes, legend: [], range: null }
}

/** FNV-1a, so that a name asks for the same hue everywhere. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
  }
  return hash
}
