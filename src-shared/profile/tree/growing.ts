/** Columns that grow: ten million values of them fit where objects, maps and their collection would not. */
type Numbers = Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer> | Uint8Array<ArrayBuffer>

const first = 1024

export class Growing<T extends Numbers> {
  private count = 0
  constructor(
    private array: T,
    private readonly make: (length: number) => T
  ) {}
  get length(): number {
    return this.count
  }
  push(value: number): void {
    if (this.count === this.array.length) {
      const grown = this.make(this.count * 2)
      grown.set(this.array as never)
      this.array = grown
    }
    this.array[this.count++] = value
  }
  at(place: number): number {
    return this.array[place]!
  }
  set(place: number, value: number): void {
    this.array[place] = value
  }
  trimmed(): T {
    return this.array.subarray(0, this.count) as T
  }
}

export const integers = () => new Growing(new Int32Array(first), (length) => new Int32Array(length))
export const doubles = () =>
  new Growing(new Float64Array(first), (length) => new Float64Array(length))

/** At least twice as long, so that growing costs the same per value; new places hold `fill`. */
function longer<T extends Numbers>(array: T, length: number, fill: number): T {
  const Column = array.constructor as new (length: number) => T
  const grown = new Column(Math.max(length, array.length * 2, first)).fill(fill) as T
  grown.set(array as never)
  return grown
}

/** Sums of some nodes, by their numbers, and whether one of what was added was a float. */
export class NodeNumbers {
  private values = new Float64Array(0)
  /** 0: none, 1: of integers, 2: of floats. */
  private written = new Uint8Array(0)

  add(node: number, value: number, isFloat: boolean): void {
    if (node >= this.values.length) {
      this.values = longer(this.values, node + 1, 0)
      this.written = longer(this.written, node + 1, 0)
    }
    this.values[node]! += value
    if (isFloat) this.written[node] = 2
    else if (this.written[node] === 0) this.written[node] = 1
  }

  each(take: (node: number, value: number, isFloat: boolean) => void): void {
    const { values, written } = this
    for (let node = 0; node < values.length; node++)
      if (written[node] !== 0) take(node, values[node]!, written[node] === 2)
  }
}

/** An id of some nodes, by their numbers; -1: none. */
export class NodeIds {
  private ids = new Int32Array(0)

  at(node: number): number {
    return this.ids[node] ?? -1
  }

  set(node: number, id: number): void {
    if (node >= this.ids.length) this.ids = longer(this.ids, node + 1, -1)
    this.ids[node] = id
  }

  each(take: (node: number, id: number) => void): void {
    const { ids } = this
    for (let node = 0; node < ids.length; node++) if (ids[node]! >= 0) take(node, ids[node]!)
  }
}
