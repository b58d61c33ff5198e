/** A tree from stacks of frames, each with a value: what samplers and flame graph tools write. */
import { PathTree } from '../tree/pathTree'
import type { ProfileFormat, ProfileTree } from '../tree/profileTree'

const rootName = 'ROOT'

/** A call frame; frames of one name at different places are different functions. */
export interface StackFrame {
  name: string
  file?: string
  line?: number
}

export class StackTree {
  readonly paths = new PathTree()
  /** Nodes by parent and frame: frames of one name stay apart. */
  private readonly childOf = new Map<string, number>()

  /**
   * The node of a frame below another.
   * @param frame its number in the file
   */
  child(parent: number, frame: number, { name, file, line }: StackFrame): number {
    // Our own exports begin with the root itself.
    if (parent === 0 && name === rootName) return 0
    const key = `${parent} ${frame}`
    const known = this.childOf.get(key)
    if (known !== undefined) return known
    const node = this.paths.newChild(parent, name)
    this.childOf.set(key, node)
    if (file) this.paths.setText(node, 'file', file)
    if (line !== undefined) this.paths.setText(node, 'line', String(line))
    return node
  }

  add(node: number, metric: string, value: number): void {
    this.paths.addNumber(node, metric, value, !Number.isInteger(value))
  }

  finish(format: ProfileFormat, notes: readonly string[]): ProfileTree {
    const tree = this.paths.finish(format, [], true)
    tree.warnings.push(...notes)
    return tree
  }
}
