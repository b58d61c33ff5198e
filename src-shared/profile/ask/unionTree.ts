/** One tree over several profiles: nodes matched by path, then, where asked, by normalised name under one parent. */
import { nodeName, type ProfileTree } from '../tree/profileTree'
import { TreeBuilder } from '../tree/treeBuilder'

export interface UnionTree {
  /** Structure and names only. Nodes that only a later profile has come after those of the earlier ones. */
  tree: ProfileTree
  /** Per profile: its node for each node of the union, -1 where it has none. */
  nodesOf: Int32Array[]
}

export interface UnionOptions {
  /** Names that become equal under this are matched when their paths are not: see normaliseName. */
  normalise?: (name: string) => string
  /** Per profile, one byte per node: nodes left out count as absent. */
  shown?: (Uint8Array | undefined)[]
}

export function unionTrees(trees: readonly ProfileTree[], options: UnionOptions = {}): UnionTree {
  const union = new Union(trees, options)
  trees.forEach((_, profile) => union.add(profile))
  return union.finish()
}

class Union {
  private readonly names: string[] = []
  private readonly firstChild: number[] = []
  private readonly nextSibling: number[] = []
  private readonly lastChild: number[] = []
  private readonly members: number[][]
  /** Roots are the children of a node that stands above them. */
  private readonly top: number

  constructor(
    private readonly trees: readonly ProfileTree[],
    private readonly options: UnionOptions
  ) {
    this.members = trees.map(() => [])
    this.top = this.newNode('')
  }

  add(profile: number): void {
    const tree = this.trees[profile]!
    const place = new Int32Array(tree.count)
    this.matchChildren(profile, tree, -1, this.top, place)
    const shown = this.options.shown?.[profile]
    for (let node = 0; node < tree.count; node++) {
      if (shown && !shown[node]) continue
      if (tree.end[node]! > node + 1) this.matchChildren(profile, tree, node, place[node]!, place)
    }
  }

  finish(): UnionTree {
    const builder = new TreeBuilder()
    const nodesOf = this.trees.map(() => new Int32Array(this.names.length - 1).fill(-1))
    const stack: number[] = []
    let at = this.firstChild[this.top]!
    while (at >= 0) {
      const node = builder.open()
      builder.setName(node, builder.strings.intern(this.names[at]!))
      this.members.forEach((members, profile) => (nodesOf[profile]![node] = members[at] ?? -1))
      stack.push(at)
      at = this.firstChild[at]!
      while (at < 0 && stack.length > 0) {
        builder.close()
        at = this.nextSibling[stack.pop()!]!
      }
    }
    const tree = builder.finish('built')
    return { tree, nodesOf }
  }

  private newNode(name: string): number {
    this.firstChild.push(-1)
    this.lastChild.push(-1)
    this.nextSibling.push(-1)
    return this.names.push(name) - 1
  }

  private append(parent: number, name: string): number {
    const node = this.newNode(name)
    if (this.lastChild[parent]! < 0) this.firstChild[parent] = node
    else this.nextSibling[this.lastChild[parent]!] = node
    this.lastChild[parent] = node
    return node
  }

  /** Matches the children of one node: equal names first, in order where a name repeats; then normalised names. */
  private matchChildren(
    profile: number,
    tree: ProfileTree,
    node: number,
    parent: number,
    place: Int32Array
  ): void {
    const members = this.members[profile]!
    const shown = this.options.shown?.[profile]
    const stop = node < 0 ? tree.count : tree.end[node]!
    const left: number[] = []
    // Two runs of one program mostly have the same children in the same order: no look-up then.
    let candidate = this.firstChild[parent]!
    let byName: Map<string, number[]> | null = null
    for (let child = node + 1; child < stop; child = tree.end[child]!) {
      if (shown && !shown[child]) continue
      const name = nodeName(tree, child)
      let match = -1
      if (byName === null && candidate >= 0 && this.names[candidate] === name) {
        match = candidate
        candidate = this.nextSibling[candidate]!
      } else {
        byName ??= this.freeChildren(parent, members, (text) => text)
        match = byName.get(name)?.shift() ?? -1
      }
      if (match >= 0) {
        members[match] = child
        place[child] = match
      } else left.push(child)
    }
    this.placeRest(tree, parent, members, left, place)
  }

  private placeRest(
    tree: ProfileTree,
    parent: number,
    members: number[],
    left: readonly number[],
    place: Int32Array
  ): void {
    if (left.length === 0) return
    const { normalise } = this.options
    const byKey = normalise ? this.freeChildren(parent, members, normalise) : null
    for (const child of left) {
      const name = nodeName(tree, child)
      const similar = byKey?.get(normalise!(name))?.shift()
      const match = similar ?? this.append(parent, name)
      members[match] = child
      place[child] = match
    }
  }

  /** Children of a union node that this profile has not matched yet, by name. */
  private freeChildren(
    parent: number,
    members: readonly number[],
    keyOf: (name: string) => string
  ): Map<string, number[]> {
    const free = new Map<string, number[]>()
    for (let at = this.firstChild[parent]!; at >= 0; at = this.nextSibling[at]!) {
      if (members[at] !== undefined) continue
      const key = keyOf(this.names[at]!)
      const list = free.get(key)
      if (list) list.push(at)
      else free.set(key, [at])
    }
    return free
  }
}
