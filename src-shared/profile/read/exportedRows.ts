/** A tree from rows in preorder, each with the number of its parent's row: our own CSV and JSON exports. */
import { UserError } from '../../errors'
import type { ProfileDevice, ProfileFormat, ProfileTree } from '../tree/profileTree'
import { TreeBuilder } from '../tree/treeBuilder'

export interface ExportedRows {
  /** The next row. @param parent row of its parent; -1: none */
  open(parent: number, name: string): void
  /** Values of the row opened last. */
  number(metric: string, value: number): void
  text(property: string, value: string): void
  finish(format: ProfileFormat, devices: readonly ProfileDevice[]): ProfileTree
}

export function exportedRows(fileName: string): ExportedRows {
  const builder = new TreeBuilder()
  const { strings } = builder
  const type = strings.intern('function')
  /** Rows that are open, outermost first. */
  const path: number[] = []
  let node = -1
  return {
    open(parent, name) {
      while (path.length > 0 && path[path.length - 1] !== parent) {
        path.pop()
        builder.close()
      }
      if (parent >= 0 && path.length === 0)
        throw new UserError(
          'usage',
          `${fileName}: row ${node + 1} has the parent ${parent}, which is not a row above it that holds it: rows are in preorder.`
        )
      node = builder.open()
      builder.setName(node, strings.intern(name))
      builder.setType(node, type)
      path.push(node)
    },
    number(metric, value) {
      builder.setNumber(node, strings.intern(metric), value, !Number.isInteger(value))
    },
    text(property, value) {
      builder.setText(node, strings.intern(property), strings.intern(value))
    },
    finish(format, devices) {
      if (node < 0) throw new UserError('usage', `${fileName} has no nodes.`)
      while (path.pop() !== undefined) builder.close()
      builder.devices.push(...devices)
      return builder.finish(format)
    }
  }
}
