/** MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md) without recursion, floats kept apart from ints. */
import { UserError } from '../../errors'
import { profileLimits } from '../tree/limits'

/** A value that was written as float32 or float64, so that 2.0 stays 2.0. */
export class MsgpackFloat {
  constructor(readonly value: number) {}
}

export type MsgpackMap = Map<unknown, unknown>

interface Open {
  container: unknown[] | MsgpackMap
  /** Values still to come; a map counts keys and values. */
  left: number
  key: unknown
}

/** Maps as Map, integers as number, or bigint beyond 2^53, floats as MsgpackFloat, binary and extensions as null. */
export function decodeMsgpack(bytes: Uint8Array, fileName: string): unknown {
  return new Decoder(bytes, fileName).decode()
}

class Decoder {
  private at = 0
  private readonly view: DataView
  private readonly text = new TextDecoder()
  private readonly stack: Open[] = []

  constructor(
    private readonly bytes: Uint8Array,
    private readonly fileName: string
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  decode(): unknown {
    for (;;) {
      let value = this.value()
      for (;;) {
        const top = this.stack[this.stack.length - 1]
        if (value instanceof Container) {
          this.push(value)
          if (value.length > 0) break
          value = this.stack.pop()!.container
          continue
        }
        if (!top) {
          if (this.at < this.bytes.length) this.fail('nothing after the profile')
          return value
        }
        this.put(top, value)
        if (--top.left > 0) break
        value = this.stack.pop()!.container
      }
    }
  }

  private push(container: Container): void {
    if (this.stack.length > profileLimits.depth) this.fail(`at most ${profileLimits.depth} levels`)
    // Each element takes a byte at least: a count beyond the file is a lie, found before memory is taken.
    if (container.length > this.bytes.length - this.at)
      this.fail(`${container.length} more elements`)
    this.stack.push({
      container: container.isMap ? new Map() : [],
      left: container.length,
      key: undefined
    })
  }

  private put(top: Open, value: unknown): void {
    if (Array.isArray(top.container)) top.container.push(value)
    else if (top.left % 2 === 0) top.key = value
    else top.container.set(top.key, value)
  }

  private value(): unknown {
    const tag = this.bytes[this.take(1)]!
    if (tag < 0x80) return tag
    if (tag < 0x90) return new Container(true, (tag & 0x0f) * 2)
    if (tag < 0xa0) return new Container(false, tag & 0x0f)
    if (tag < 0xc0) return this.string(tag & 0x1f)
    if (tag >= 0xe0) return tag - 0x100
    const { view } = this
    switch (tag) {
      case 0xc0:
        return null
      case 0xc2:
        return 0
      case 0xc3:
        return 1
      case 0xca:
        return new MsgpackFloat(view.getFloat32(this.take(4)))
      case 0xcb:
        return new MsgpackFloat(view.getFloat64(this.take(8)))
      case 0xcc:
        return view.getUint8(this.take(1))
      case 0xcd:
        return view.getUint16(this.take(2))
      case 0xce:
        return view.getUint32(this.take(4))
      case 0xcf:
        return safe(view.getBigUint64(this.take(8)))
      case 0xd0:
        return view.getInt8(this.take(1))
      case 0xd1:
        return view.getInt16(this.take(2))
      case 0xd2:
        return view.getInt32(this.take(4))
      case 0xd3:
        return safe(view.getBigInt64(this.take(8)))
      case 0xd9:
        return this.string(view.getUint8(this.take(1)))
      case 0xda:
        return this.string(view.getUint16(this.take(2)))
      case 0xdb:
        return this.string(view.getUint32(this.take(4)))
      case 0xdc:
        return new Container(false, view.getUint16(this.take(2)))
      case 0xdd:
        return new Container(false, view.getUint32(this.take(4)))
      case 0xde:
        return new Container(true, view.getUint16(this.take(2)) * 2)
      case 0xdf:
        return new Container(true, view.getUint32(this.take(4)) * 2)
      default:
        return this.skipped(tag)
    }
  }

  private string(length: number): string {
    const start = this.take(length)
    return this.text.decode(this.bytes.subarray(start, start + length))
  }

  /** bin 8/16/32, ext 8/16/32 and fixext: nothing that Proton writes. */
  private skipped(tag: number): null {
    const { view } = this
    if (tag === 0xc1) this.fail('a MessagePack value')
    if (tag >= 0xd4 && tag <= 0xd8) this.take(1 + (1 << (tag - 0xd4)))
    else {
      const isExtension = tag >= 0xc7
      const size = (tag - (isExtension ? 0xc7 : 0xc4)) as 0 | 1 | 2
      const length =
        size === 0
          ? view.getUint8(this.take(1))
          : size === 1
            ? view.getUint16(this.take(2))
            : view.getUint32(this.take(4))
      this.take(length + (isExtension ? 1 : 0))
    }
    return null
  }

  /** Moves over count bytes; returns where they start. */
  private take(count: number): number {
    const start = this.at
    if (start + count > this.bytes.length) {
      throw new UserError(
        'usage',
        `${this.fileName}: byte ${start}: expected ${count} more bytes, found the end of the file (it is cut short).`
      )
    }
    this.at += count
    return start
  }

  private fail(expected: string): never {
    throw new UserError('usage', `${this.fileName}: byte ${this.at}: expected ${expected}.`)
  }
}

class Container {
  constructor(
    readonly isMap: boolean,
    /** Values to come: two per entry of a map. */
    readonly length: number
  ) {}
}

function safe(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
