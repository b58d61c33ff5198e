/** Builds a profile from values that arrive by call path in any order: launches, trace events, groups, joined files. */
import { ChildIndex } from './childIndex'
import { doubles, integers, NodeIds, NodeNumbers } from './growing'
import type { ProfileDevice, ProfileFormat, ProfileTree, Samples } from './profileTree'
import { isSummed } from './summedMetrics'
import { TreeBuilder } from './treeBuilder'

export class PathTree {
  private readonly types: (string | null)[] = []
  private readonly parent = integers()
  private readonly name = integers()
  private readonly firstChild = integers()
  private readonly lastChild = integers()
  private readonly nextSibling = integers()
  private readonly names = new Numbered()
  private readonly children = new ChildIndex(
    (node) => this.parent.at(node),
    (node) => this.name.at(node)
  )
  private readonly numbers = new Map<string, NodeNumbers>()
  private readonly values = new Numbered()
  private readonly texts = new Map<string, NodeIds>()
  private readonly sampleNode = integers()
  private readonly sampleNs = doubles()
  private readonly vectors: {
    node: number
    name: string
    values: Float64Array<ArrayBuffer>
    written: number
  }[] = []

  constructor(rootName = 'ROOT') {
    this.add(-1, rootName, 'function')
  }

  /** The child of that name; made when it is not there yet, last in order. */
  child(parent: number, name: string): number {
    return this.findChild(parent, name) ?? this.newChild(parent, name)
  }

  /** The number of a name, for childOfId. */
  nameId(name: string): number {
    return this.names.idOf(name)
  }

  /** As child, of a name's number: for names that come by the million. */
  childOfId(parent: number, name: number): number {
    const known = this.children.find(parent, name)
    return known >= 0 ? known : this.newChild(parent, this.names.text(name))
  }

  findChild(parent: number, name: string): number | undefined {
    const id = this.names.known(name)
    const found = id === undefined ? -1 : this.children.find(parent, id)
    return found < 0 ? undefined : found
  }

  /** A child even where one of the same name exists: siblings of one name stay apart. */
  newChild(parent: number, name: string, type: string | null = 'function'): number {
    const node = this.add(parent, name, type)
    this.children.add(node)
    const last = this.lastChild.at(parent)
    if (last < 0) this.firstChild.set(parent, node)
    else this.nextSibling.set(last, node)
    this.lastChild.set(parent, node)
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
    if (!column) this.numbers.set(metric, (column = new NodeNumbers()))
    column.add(node, value, isFloat)
  }

  setText(node: number, property: string, value: string): void {
    let column = this.texts.get(property)
    if (!column) this.texts.set(property, (column = new NodeIds()))
    column.set(node, this.values.idOf(value))
  }

  textAt(node: number, property: string): string | undefined {
    const id = this.texts.get(property)?.at(node) ?? -1
    return id < 0 ? undefined : this.values.text(id)
  }

  removeText(node: number, property: string): void {
    this.texts.get(property)?.set(node, -1)
  }

  addVector(node: number, name: string, values: Float64Array<ArrayBuffer>, written: number): void {
    this.vectors.push({ node, name, values, written })
  }

  /** One launch of the node, ns. */
  addSample(node: number, ns: number): void {
    this.sampleNode.push(node)
    this.sampleNs.push(ns)
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
      column.each((node, value, isFloat) => builder.setNumber(order[node]!, id, value, isFloat))
    }
    for (const [property, column] of this.texts) {
      const id = builder.strings.intern(property)
      const interned: number[] = []
      column.each((node, value) => {
        const text = (interned[value] ??= builder.strings.intern(this.values.text(value)))
        builder.setText(order[node]!, id, text)
      })
    }
    for (const vector of this.vectors)
      builder.vectors.push({ ...vector, node: order[vector.node]! })
    builder.devices.push(...devices)
    builder.samples = this.collectSamples(order)
    return builder.finish(format)
  }

  private add(parent: number, name: string, type: string | null): number {
    this.parent.push(parent)
    this.name.push(this.nameId(name))
    this.firstChild.push(-1)
    this.lastChild.push(-1)
    this.nextSibling.push(-1)
    return this.types.push(type) - 1
  }

  /** Opens and closes every node in preorder; returns the preorder number of each. */
  private walk(builder: TreeBuilder): Int32Array<ArrayBuffer> {
    const order = new Int32Array(this.types.length)
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
      builder.setName(order[node]!, idOf(this.names.text(this.name.at(node))))
      const type = this.types[node]
      if (typeof type === 'string') builder.setType(order[node]!, idOf(type))
      stack.push(node)
      node = this.firstChild.at(node)
      while (node < 0 && stack.length > 0) {
        builder.close()
        node = this.nextSibling.at(stack.pop()!)
      }
    }
    return order
  }

  /** By node, each in the order in which they came. */
  private collectSamples(order: Int32Array): Samples | null {
    const [node, ns] = [this.sampleNode.trimmed(), this.sampleNs.trimmed()]
    if (node.length === 0) return null
    const next = new Int32Array(order.length + 1)
    for (const one of node) next[order[one]! + 1]!++
    const sampled: number[] = []
    const start: number[] = [0]
    for (let at = 0; at < order.length; at++) {
      if (next[at + 1]! > 0) sampled.push(at)
      next[at + 1]! += next[at]!
      if (sampled.length === start.length) start.push(next[at + 1]!)
    }
    const values = new Float64Array(node.length)
    for (let sample = 0; sample < node.length; sample++)
      values[next[order[node[sample]!]!]!++] = ns[sample]!
    return { node: Int32Array.from(sampled), start: Int32Array.from(start), values }
  }
}

/** Texts and their numbers. */
class Numbered {
  private readonly ids = new Map<string, number>()
  private readonly all: string[] = []

  idOf(text: string): number {
    let id = this.ids.get(text)
    if (id === undefined) this.ids.set(text, (id = this.all.push(text) - 1))
    return id
  }

  known(text: string): number | undefined {
    return this.ids.get(text)
  }

  text(id: number): string {
    return this.all[id]!
  }
}

/** Metrics that hatchet may sum over a subtree. */
export function inclusiveNames(metrics: readonly string[]): string[] {
  return metrics.filter(isSummed)
}
