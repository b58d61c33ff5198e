/** A profile across a worker boundary: buffers are handed over, not copied. */
import type { ProfileTree } from './profileTree'
import { StringTable } from './stringTable'

export interface TransferredTree extends Omit<ProfileTree, 'strings'> {
  strings: {
    bytes: Uint8Array<ArrayBuffer>
    offsets: Uint32Array<ArrayBuffer>
    count: number
  }
}

/**
 * postMessage(message, transfer) hands the tree over; the sender's tree is empty afterwards.
 */
export function toTransferable(tree: ProfileTree): {
  message: TransferredTree
  transfer: ArrayBuffer[]
} {
  const message: TransferredTree = { ...tree, strings: tree.strings.parts() }
  const arrays = [
    tree.parent,
    tree.end,
    tree.depth,
    tree.name,
    tree.frameType,
    message.strings.bytes,
    message.strings.offsets,
    ...tree.numbers.flatMap((column) => [column.values, column.written]),
    ...tree.texts.map((column) => column.values),
    ...tree.vectors.map((vector) => vector.values),
    ...(tree.samples ? [tree.samples.node, tree.samples.start, tree.samples.values] : [])
  ]
  return { message, transfer: [...new Set(arrays.map((array) => array.buffer))] }
}

/** The tree again, on the other side. */
export function fromTransferable(message: TransferredTree): ProfileTree {
  const { bytes, offsets, count } = message.strings
  return { ...message, strings: new StringTable(bytes, offsets, count) }
}
