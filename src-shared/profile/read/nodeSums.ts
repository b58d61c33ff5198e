/** A number per node, of those that have one. */
export class NodeSums {
  private values = new Float64Array(1024)
  private has = new Uint8Array(1024)

  add(node: number, value: number): void {
    if (node >= this.values.length) {
      const length = Math.max(node + 1, this.values.length * 2)
      const [values, has] = [new Float64Array(length), new Uint8Array(length)]
      values.set(this.values)
      has.set(this.has)
      this.values = values
      this.has = has
    }
    this.values[node]! += value
    this.has[node] = 1
  }

  each(take: (node: number, value: number) => void): void {
    this.has.forEach((has, node) => {
      if (has) take(node, this.values[node]!)
    })
  }
}
