/**
 * Writes .hatchet_msgpack as Proton does (triton third_party/proton/csrc/lib/Utility/MsgPackWriter): the tree of .hatchet in
 * MessagePack, integers in their shortest form, floats in 64 bits, members in alphabetical order.
 */
import type { NumberColumn, ProfileDevice, ProfileTree } from '../tree/profileTree'
import { writtenAsFloat } from '../tree/profileTree'
import { fileKeyOf } from './hatchetKeys'

const pieceBytes = 1 << 20

/** The file in pieces of about a MiB. */
export function* hatchetMsgpackPieces(tree: ProfileTree): Generator<Uint8Array<ArrayBuffer>> {
  const out = new MsgpackPieces()
  const members = membersOf(tree)
  const children = new Int32Array(tree.count)
  let roots = 0
  for (let node = 0; node < tree.count; node++) {
    if (tree.parent[node]! < 0) roots++
    else children[tree.parent[node]!]!++
  }
  out.array(roots + Number(tree.hasDeviceElement))
  for (let node = 0; node < tree.count; node++) {
    // Children come last in a node: in preorder, what follows them is the next node.
    out.map(3)
    out.string('frame')
    const hasType = tree.frameType[node]! >= 0
    out.map(hasType ? 2 : 1)
    out.string('name')
    out.string(tree.strings.text(tree.name[node]!))
    if (hasType) {
      out.string('type')
      out.string(tree.strings.text(tree.frameType[node]!))
    }
    out.string('metrics')
    const own = members.filter(({ has }) => has(node))
    out.map(own.length)
    for (const { key, write } of own) {
      out.string(key)
      write(out, node)
    }
    out.string('children')
    out.array(children[node]!)
    if (out.size > pieceBytes) yield out.take()
  }
  if (tree.hasDeviceElement) writeDevices(out, tree.devices)
  yield out.take()
}

interface Member {
  key: string
  has(node: number): boolean
  write(out: MsgpackPieces, node: number): void
}

function membersOf(tree: ProfileTree): Member[] {
  const members: Member[] = []
  for (const column of tree.numbers)
    members.push({
      key: fileKeyOf(tree, column.name),
      has: (node) => column.written[node] !== 0,
      write: (out, node) => writeNumber(out, column, node)
    })
  for (const column of tree.texts)
    members.push({
      key: fileKeyOf(tree, column.name),
      has: (node) => column.values[node]! >= 0,
      write: (out, node) => out.string(tree.strings.text(column.values[node]!))
    })
  for (const name of new Set(tree.vectors.map((vector) => vector.name))) {
    const ofNode = new Map(
      tree.vectors.filter((vector) => vector.name === name).map((vector) => [vector.node, vector])
    )
    members.push({
      key: fileKeyOf(tree, name),
      has: (node) => ofNode.has(node),
      write: (out, node) => {
        const { values, written } = ofNode.get(node)!
        out.array(values.length)
        for (const value of values)
          if (written === writtenAsFloat) out.float(value)
          else out.integer(value)
      }
    })
  }
  return members.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

function writeNumber(out: MsgpackPieces, column: NumberColumn, node: number): void {
  const value = column.values[node]!
  if (column.written[node] === writtenAsFloat || !Number.isInteger(value)) out.float(value)
  else out.integer(column.exact.get(node) ?? value)
}

function writeDevices(out: MsgpackPieces, devices: readonly ProfileDevice[]): void {
  const types = [...new Set(devices.map(({ type }) => type))].sort()
  out.map(types.length)
  for (const type of types) {
    const ofType = devices.filter((device) => device.type === type)
    out.string(type)
    out.map(ofType.length)
    for (const device of ofType) {
      out.string(device.id)
      out.map(5)
      out.string('arch')
      out.string(device.arch)
      const numbers: [string, number][] = [
        ['bus_width', device.busWidthBits],
        ['clock_rate', device.clockRateKHz],
        ['memory_clock_rate', device.memoryClockRateKHz],
        ['num_sms', device.multiprocessors]
      ]
      for (const [key, value] of numbers) {
        out.string(key)
        out.integer(value)
      }
    }
  }
}

/** Values of MessagePack one after another: https://github.com/msgpack/msgpack/blob/master/spec.md */
class MsgpackPieces {
  private bytes = new Uint8Array(pieceBytes * 2)
  private view = new DataView(this.bytes.buffer)
  private readonly text = new TextEncoder()
  size = 0

  take(): Uint8Array<ArrayBuffer> {
    const taken = this.bytes.slice(0, this.size)
    this.size = 0
    return taken
  }

  map(count: number): void {
    this.head(count, 0x80, 0xde)
  }

  array(count: number): void {
    this.head(count, 0x90, 0xdc)
  }

  string(text: string): void {
    const bytes = this.text.encode(text)
    const { length } = bytes
    if (length < 32) this.tag(0xa0 | length)
    else if (length < 2 ** 8) this.view.setUint8(this.tag(0xd9, 1), length)
    else if (length < 2 ** 16) this.view.setUint16(this.tag(0xda, 2), length)
    else this.view.setUint32(this.tag(0xdb, 4), length)
    this.bytes.set(bytes, this.room(length))
  }

  float(value: number): void {
    this.view.setFloat64(this.tag(0xcb, 8), value)
  }

  integer(value: number | bigint): void {
    if (typeof value === 'bigint' || !Number.isSafeInteger(value)) return this.long(BigInt(value))
    if (value >= 0) {
      if (value < 0x80) this.tag(value)
      else if (value < 2 ** 8) this.view.setUint8(this.tag(0xcc, 1), value)
      else if (value < 2 ** 16) this.view.setUint16(this.tag(0xcd, 2), value)
      else if (value < 2 ** 32) this.view.setUint32(this.tag(0xce, 4), value)
      else this.long(BigInt(value))
    } else if (value >= -0x20) this.tag(value & 0xff)
    else if (value >= -(2 ** 7)) this.view.setInt8(this.tag(0xd0, 1), value)
    else if (value >= -(2 ** 15)) this.view.setInt16(this.tag(0xd1, 2), value)
    else if (value >= -(2 ** 31)) this.view.setInt32(this.tag(0xd2, 4), value)
    else this.long(BigInt(value))
  }

  private long(value: bigint): void {
    if (BigInt.asUintN(64, value) === value) this.view.setBigUint64(this.tag(0xcf, 8), value)
    else if (BigInt.asIntN(64, value) === value) this.view.setBigInt64(this.tag(0xd3, 8), value)
    else this.float(Number(value))
  }

  private head(count: number, few: number, many: number): void {
    if (count < 16) this.tag(few | count)
    else if (count < 2 ** 16) this.view.setUint16(this.tag(many, 2), count)
    else this.view.setUint32(this.tag(many + 1, 4), count)
  }

  /** Writes a tag; returns where its `more` bytes are. */
  private tag(tag: number, more = 0): number {
    const at = this.room(1 + more)
    this.bytes[at] = tag
    return at + 1
  }

  private room(count: number): number {
    const at = this.size
    if (at + count > this.bytes.length) {
      const grown = new Uint8Array(Math.max(at + count, this.bytes.length * 2))
      grown.set(this.bytes)
      this.bytes = grown
      this.view = new DataView(grown.buffer)
    }
    this.size += count
    return at
  }
}
