/**
 * Every call of one frame put together: who calls it above, what it calls below. Where a frame is called within itself only
 * the outermost call counts, so nothing is counted twice.
 */
import { nodeName, type ProfileTree } from '../tree/profileTree'
import type { FlameShape } from './flame'

export interface SandwichSide extends FlameShape {
  parent: Int32Array<ArrayBuffer>
  depth: Int32Array<ArrayBuffer>
  weight: Float64Array<ArrayBuffer>
  /** A node of the profile that is among those put together here: the one with most weight. */
  example: Int32Array<ArrayBuffer>
}

export interface Sandwich {
  /** The frame itself is node 0 of both. Callers: nearest first, roots left out. */
  callers: SandwichSide
  callees: SandwichSide
  /** Outermost calls, in the order of the profile. */
  calls: Int32Array<ArrayBuffer>
  /** Of all calls. */
  weight: number
}

/** Levels of callers that are told apart; those further away are left out. */
const mostCallers = 256

/**
 * @param node one of the calls: all with its name are meant.
 * @param nameOf what is shown of a node, by which nodes are put together.
 */
export function sandwichOf(
  tree: ProfileTree,
  weights: Float64Array,
  node: number,
  nameOf: (node: number) => string = (at) => nodeName(tree, at)
): Sandwich {
  const id = nameIds(tree, nameOf)
  const wanted = id(node)
  const callers = new Merged()
  const callees = new Merged()
  const calls: number[] = []
  const place = new Int32Array(tree.count)
  let weight = 0
  for (let at = 0; at < tree.count; at++) {
    if (id(at) !== wanted) continue
    const stop = tree.end[at]!
    calls.push(at)
    const own = positive(weights[at])
    weight += own
    place[at] = callees.add(-1, wanted, own, at)
    for (let below = at + 1; below < stop; below++) {
      place[below] = callees.add(
        place[tree.parent[below]!]!,
        id(below),
        positive(weights[below]),
        below
      )
    }
    let caller = callers.add(-1, wanted, own, at)
    let above = tree.parent[at]!
    for (let level = 0; level < mostCallers && above >= 0 && tree.parent[above]! >= 0; level++) {
      caller = callers.add(caller, id(above), own, above)
      above = tree.parent[above]!
    }
    // Calls within this one are in it already.
    at = stop - 1
  }
  return {
    callers: callers.finish(),
    callees: callees.finish(),
    calls: Int32Array.from(calls),
    weight
  }
}

const positive = (value: number | undefined) => (value! > 0 ? value! : 0)

/** A number per name that is shown; two names may be shown as one. */
function nameIds(tree: ProfileTree, nameOf: (node: number) => string): (node: number) => number {
  const byString: number[] = []
  const byText = new Map<string, number>()
  return (node) => {
    const known = byString[tree.name[node]!]
    if (known !== undefined) return known
    const text = nameOf(node)
    let id = byText.get(text)
    if (id === undefined) byText.set(text, (id = byText.size))
    return (byString[tree.name[node]!] = id)
  }
}

/** A tree that grows by paths of name numbers. */
class Merged {
  private readonly parent: number[] = []
  private readonly depth: number[] = []
  private readonly weight: number[] = []
  private readonly example: number[] = []
  private readonly heaviest: number[] = []
  private readonly children = new Map<number, number>()

  add(parent: number, name: number, weight: number, node: number): number {
    // Names number at most 2^26, so that the key is exact up to 2^53.
    const key = (parent + 1) * 2 ** 26 + name
    let at = this.children.get(key)
    if (at === undefined) {
      this.children.set(key, (at = this.parent.push(parent) - 1))
      this.depth.push(parent < 0 ? 0 : this.depth[parent]! + 1)
      this.weight.push(0)
      this.example.push(node)
      this.heaviest.push(-1)
    }
    this.weight[at]! += weight
    if (weight > this.heaviest[at]!) {
      this.heaviest[at] = weight
      this.example[at] = node
    }
    return at
  }

  finish(): SandwichSide {
    return {
      count: this.parent.length,
      parent: Int32Array.from(this.parent),
      depth: Int32Array.from(this.depth),
      weight: Float64Array.from(this.weight),
      example: Int32Array.from(this.example)
    }
  }
}
