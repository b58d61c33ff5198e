/** Builds a profile from values that arrive by call path in any order: launches, trace events, groups, joined files. */
import type { ProfileDevice, ProfileFormat, ProfileTree, Samples } from './profileTree'
import { isSummed } from './summedMetrics'
import { TreeBuilder } from './treeBuilder'

interface PathNumbers {
  values: Map<number, number>
  isFloat: Set<number>
}

export class PathTree {
  private readonly names: string[] = []
  private readonly types: (string | null)[] = []
  private readonly firstChild: number[] = []
  private readonly lastChild: number[] = []
  private readonly nextSibling: number[] = []
  /** Name ids, and the first child of a name by childKey: one map for the whole tree. */
  private readonly idOfName = new Map<string, number>()
  private readonly nameOfId: string[] = []
  private readonly childOf = new Map<number, number>()
  private readonly numbers = new Map<string, PathNumbers>()
  private readonly texts = new Map<string, Map<number, string>>()
  private readonly samples = new Map<number, number[]>()
  private readonly vectors: {
    node: number
    name: string
    values: Float64Array<ArrayBuffer>
    written: number
  }[] = []

  constructor(rootName = 'ROOT') {
    this.add(rootName, 'function')
  }

  /** The child of that name; made when it is not there yet, last in order. */
  child(parent: number, name: string): number {
    return this.findChild(parent, name) ?? this.newChild(parent, name)
  }

  /** The number of a name, for childOfId. */
  nameId(name: string): number {
    let id = this.idOfName.get(name)
    if (id === undefined) {
      this.idOfName.set(name, (id = this.idOfName.size))
      this.nameOfId.push(name)
    }
    return id
  }

  /** As child, of a name's number: for names that come by the million. */
  childOfId(parent: number, name: number): number {
    return this.childOf.get(childKey(parent, name)) ?? this.newChild(parent, this.nameOfId[name]!)
  }

  findChild(parent: number, name: string): number | undefined {
    const id = this.idOfName.get(name)
    return id === undefined ? undefined : this.childOf.get(childKey(parent, id))
  }

  /** A child even where one of the same name exists: siblings of one name stay apart. */
  newChild(parent: number, name: string, type: string | null = 'function'): number {
    const node = this.add(name, type)
    const key = childKey(parent, this.nameId(name))
    if (!this.childOf.has(key)) this.childOf.set(key, node)
    if (this.lastChild[parent]! < 0) this.firstChild[parent] = node
    else this.nextSibling[this.lastChild[parent]!] = node
    this.lastChild[parent] = node
    return node
  }

  /** The node at a path below the root. */
  at(path: readonly string[]): number {
    let node = 0
    for (const name of path) node = this.child(node, name)
    return node
  }

  addNumber(node: number, metric: string, value: number, isFloat: boolean): void {
    let column = this.numbers.get(metric)
    if (!column) this.numbers.set(metric, (column = { values: new Map(), isFloat: new Set() }))
    column.values.set(node, (column.values.get(node) ?? 0) + value)
    if (isFloat) column.isFloat.add(node)
  }

  setText(node: number, property: string, value: string): void {
    let column = this.texts.get(property)
    if (!column) this.texts.set(property, (column = new Map()))
    column.set(node, value)
  }

  textAt(node: number, property: string): string | undefined {
    return this.texts.get(property)?.get(node)
  }

  removeText(node: number, property: string): void {
    this.texts.get(property)?.delete(node)
  }

  addVector(node: number, name: string, values: Float64Array<ArrayBuffer>, written: number): void {
    this.vectors.push({ node, name, values, written })
  }

  /** One launch of the node, ns. */
  addSample(node: number, ns: number): void {
    const list = this.samples.get(node)
    if (list) list.push(ns)
    else this.samples.set(node, [ns])
  }

  /** Preorder number of each node, once finished. */
  order = new Int32Array(0)

  finish(
    format: ProfileFormat,
    devices: readonly ProfileDevice[],
    rootZeros: boolean
  ): ProfileTree {
    const builder = new TreeBuilder()
    const order = this.walk(builder)
    this.order = order
    const zeros = rootZeros ? inclusiveNames([...this.numbers.keys()]) : []
    for (const metric of zeros) builder.setNumber(0, builder.strings.intern(metric), 0, false)
    for (const [metric, column] of this.numbers) {
      const id = builder.strings.intern(metric)
      for (const [node, value] of column.values) {
        builder.setNumber(order[node]!, id, value, column.isFloat.has(node))
      }
    }
    for (const [property, column] of this.texts) {
      const id = builder.strings.intern(property)
      for (const [node, value] of column) {
        builder.setText(order[node]!, id, builder.strings.intern(value))
      }
    }
    for (const vector of this.vectors)
      builder.vectors.push({ ...vector, node: order[vector.node]! })
    builder.devices.push(...devices)
    builder.samples = this.collectSamples(order)
    return builder.finish(format)
  }

  private add(name: string, type: string | null): number {
    this.firstChild.push(-1)
    this.lastChild.push(-1)
    this.nextSibling.push(-1)
    this.types.push(type)
    return this.names.push(name) - 1
  }

  /** Opens and closes every node in preorder; returns the preorder number of each. */
  private walk(builder: TreeBuilder): Int32Array<ArrayBuffer> {
    const order = new Int32Array(this.names.length)
    const stack: number[] = []
    const interned = new Map<string, number>()
    const idOf = (text: string) => {
      let id = interned.get(text)
      if (id === undefined) interned.set(text, (id = builder.strings.intern(text)))
      return id
    }
    let node = 0
    while (node >= 0) {
      order[node] = builder.open()
      builder.setName(order[node]!, idOf(this.names[node]!))
      const type = this.types[node]
      if (typeof type === 'string') builder.setType(order[node]!, idOf(type))
      stack.push(node)
      node = this.firstChild[node]!
      while (node < 0 && stack.length > 0) {
        builder.close()
        node = this.nextSibling[stack.pop()!]!
      }
    }
    return order
  }

  private collectSamples(order: Int32Array): Samples | null {
    if (this.samples.size === 0) return null
    const entries = [...this.samples].map(([node, values]) => ({ node: order[node]!, values }))
    entries.sort((a, b) => a.node - b.node)
    const start = new Int32Array(entries.length + 1)
    entries.forEach((entry, i) => (start[i + 1] = start[i]! + entry.values.length))
    const values = new Float64Array(start[entries.length]!)
    entries.forEach((entry, i) => values.set(entry.values, start[i]!))
    return { node: Int32Array.from(entries, (entry) => entry.node), start, values }
  }
}

/** Exact in a double: node and name numbers stay below 2^26. */
function childKey(parent: number, nameId: number): number {
  return parent * 2 ** 26 + nameId
}

/** Metrics that hatchet may sum over a subtree. */
export function inclusiveNames(metrics: readonly string[]): string[] {
  return metrics.filter(isSummed)
}
