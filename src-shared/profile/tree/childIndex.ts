/**
 * The first child of each name below each node. A table of numbers with open addressing: a Map holds 2^24 entries at most, fewer
 * than a profile may have nodes, and is three times as large.
 */
export class ChildIndex {
  private slots = new Int32Array(1024).fill(-1)
  private count = 0

  /** @param parentOf, nameOf what a node that is in the index stands below and is called */
  constructor(
    private readonly parentOf: (node: number) => number,
    private readonly nameOf: (node: number) => number
  ) {}

  /** -1 where there is none. */
  find(parent: number, name: number): number {
    return this.slots[this.slotOf(parent, name)]!
  }

  /** Kept where none of that name is there yet. */
  add(node: number): void {
    const slot = this.slotOf(this.parentOf(node), this.nameOf(node))
    if (this.slots[slot]! >= 0) return
    this.slots[slot] = node
    if (++this.count * 2 > this.slots.length) this.grow()
  }

  private slotOf(parent: number, name: number): number {
    const { slots } = this
    const mask = slots.length - 1
    for (let slot = hashOf(parent, name) & mask; ; slot = (slot + 1) & mask) {
      const node = slots[slot]!
      if (node < 0 || (this.parentOf(node) === parent && this.nameOf(node) === name)) return slot
    }
  }

  private grow(): void {
    const slots = new Int32Array(this.slots.length * 2).fill(-1)
    const mask = slots.length - 1
    for (const node of this.slots) {
      if (node < 0) continue
      // No two of them are alike: the first slot that is free.
      let slot = hashOf(this.parentOf(node), this.nameOf(node)) & mask
      while (slots[slot]! >= 0) slot = (slot + 1) & mask
      slots[slot] = node
    }
    this.slots = slots
  }
}

function hashOf(parent: number, name: number): number {
  const hash = Math.imul(parent ^ Math.imul(name, 0x9e3779b1), 0x85ebca6b)
  return hash ^ (hash >>> 15)
}
