/** What a tree of a mangled name prints itself to, and what every node of it can say. */

/** Substitutions of substitutions can double a text per character: hostile names end here. */
const longestText = 100_000

export class TooLong extends Error {}

export class Printer {
  text = ''
  /** Which element of the packs within a pack expansion is being printed, and of how many; -1: none seen yet. */
  packIndex = -1
  packSize = -1
  scope: Scope | null = null
  /** Within the parameters of a lambda a T_ is one of its own 'auto's. */
  inLambda = false
  private writes = 0

  write(piece: string): void {
    this.text += piece
    this.writes += 1 + piece.length
    if (this.text.length > longestText || this.writes > 10 * longestText) throw new TooLong()
  }

  print(node: Node): void {
    node.left(this)
    node.right(this)
  }

  /** Elements with commas between; what prints nothing (an empty pack) takes its comma along. */
  list(nodes: readonly Node[]): void {
    let isFirst = true
    for (const node of nodes) {
      const before = this.text
      if (!isFirst) this.write(', ')
      const start = this.text.length
      this.print(node)
      if (this.text.length === start) this.text = before
      else isFirst = false
    }
  }
}

/** Whether a declarator goes around: arrays and functions are written '(*) [4]' and '(*)(int)'. */
export type Shape = 'plain' | 'array' | 'function'

/**
 * What T_ means, innermost first. A substitution can stand for a T_ that was read in another encoding, so parameters are
 * resolved where they are printed and not where they are read.
 */
export interface Scope {
  arguments: readonly Node[]
  outer: Scope | null
}

/** A reference type, references to references collapsed. */
export interface Reference {
  type: Node
  scope: Scope | null
  mark: '&' | '&&'
}

export abstract class Node {
  abstract left(out: Printer): void
  right(_out: Printer): void {}
  shape(_out: Printer): Shape {
    return 'plain'
  }
  /** The reference that it is, or stands for. */
  reference(_out: Printer): Reference | null {
    return null
  }
  lastPart(): Node {
    return this
  }
  /** The name without scope and arguments: what its constructor is called. */
  baseName(): string {
    return ''
  }
}
