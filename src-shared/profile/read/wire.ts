/**
 * Fields of a protobuf message (https://protobuf.dev/programming-guides/encoding/). A reader of our own, not a library's: the
 * libraries build an object per message, which for the millions of events of a trace costs ten times the file in memory,
 * and want the whole schema where a dozen field numbers are read.
 */
import { UserError } from '../../errors'

export const varintField = 0
export const fixed64Field = 1
export const bytesField = 2
export const fixed32Field = 5

const decoder = new TextDecoder()

export class WireReader {
  /** Of the field that next() has reached; its value must be read or skipped. */
  field = 0
  type = 0
  private low = 0
  private high = 0
  private readonly start: number

  /**
   * @param base offset in the file of bytes[0], for errors
   * @param fileName shown in errors
   */
  constructor(
    readonly bytes: Uint8Array,
    private readonly fileName: string,
    readonly base = 0,
    public at = 0,
    public readonly end = bytes.length
  ) {
    this.start = at
  }

  /** Moves to the next field; false at the message's end. */
  next(): boolean {
    if (this.at >= this.end) return false
    this.varint()
    this.field = this.high * 2 ** 29 + (this.low >>> 3)
    this.type = this.low & 7
    if (this.field === 0) this.fail()
    return true
  }

  /** Whether the field is the one of that number and type; where the type differs it is damaged. */
  is(field: number, type: number): boolean {
    if (this.field !== field) return false
    if (this.type !== type) this.fail()
    return true
  }

  skip(): void {
    if (this.type === varintField) this.varint()
    else if (this.type === fixed64Field) this.take(8)
    else if (this.type === bytesField) this.take(this.length())
    else if (this.type === fixed32Field) this.take(4)
    else this.fail()
  }

  /** uint64 as a number: exact below 2^53. */
  unsigned(): number {
    this.varint()
    return this.high * 2 ** 32 + this.low
  }

  /** int64 as a number: exact within 2^53. */
  signed(): number {
    this.varint()
    return (this.high | 0) * 2 ** 32 + this.low
  }

  /** int64, exact. */
  exact(): bigint {
    this.varint()
    return (BigInt(this.high | 0) << 32n) | BigInt(this.low)
  }

  /** A 64-bit number that is only compared: exact, and a number where it fits. */
  key(): number | string {
    if (this.type === fixed64Field) {
      const at = this.take(8)
      const view = this.view(at)
      this.low = view.getUint32(0, true)
      this.high = view.getUint32(4, true)
    } else this.varint()
    return this.high < 2 ** 20 ? this.high * 2 ** 32 + this.low : `${this.high}:${this.low}`
  }

  double(): number {
    return this.view(this.take(8)).getFloat64(0, true)
  }

  text(): string {
    const length = this.length()
    const at = this.take(length)
    return decoder.decode(this.bytes.subarray(at, at + length))
  }

  /** The bytes of the field, not copied. */
  slice(): Uint8Array {
    const length = this.length()
    const at = this.take(length)
    return this.bytes.subarray(at, at + length)
  }

  message(): WireReader {
    const length = this.length()
    const at = this.take(length)
    return new WireReader(this.bytes, this.fileName, this.base, at, at + length)
  }

  /** The same message from its beginning. */
  restarted(): WireReader {
    return new WireReader(this.bytes, this.fileName, this.base, this.start, this.end)
  }

  fail(): never {
    throw new UserError(
      'usage',
      `${this.fileName}: byte ${this.base + Math.min(this.at, this.end) + 1}: the protobuf message is damaged or cut short.`
    )
  }

  /** Reads the length of a field of bytes, after which they stand at `at`. */
  private length(): number {
    this.varint()
    if (this.high !== 0) this.fail()
    return this.low
  }

  /** Steps over bytes; where they begin. */
  private take(count: number): number {
    const at = this.at
    if (count > this.end - at) this.fail()
    this.at = at + count
    return at
  }

  private view(at: number): DataView {
    return new DataView(this.bytes.buffer, this.bytes.byteOffset + at, 8)
  }

  private varint(): void {
    const { bytes, end } = this
    let at = this.at
    let low = 0
    let high = 0
    for (let shift = 0; ; shift += 7) {
      if (at >= end || shift > 63) this.fail()
      const byte = bytes[at++]!
      const bits = byte & 0x7f
      if (shift < 28) low |= bits << shift
      else if (shift === 28) {
        low |= bits << 28
        high = bits >>> 4
      } else high |= bits << (shift - 32)
      if (byte < 0x80) break
    }
    this.at = at
    this.low = low >>> 0
    this.high = high >>> 0
  }
}

/**
 * The length of a message that is a field of the file and stands at `at`, and where its bytes begin.
 * @returns null where more bytes are needed to tell
 */
export function messageAt(
  bytes: Uint8Array,
  at: number
): { tag: number; start: number; length: number } | null {
  const tag = bytes[at]
  let length = 0
  for (let index = 1; index <= 5; index++) {
    const byte = bytes[at + index]
    if (tag === undefined || byte === undefined) return null
    length += (byte & 0x7f) * 2 ** (7 * (index - 1))
    if (byte < 0x80) return { tag, start: at + index + 1, length }
  }
  return { tag: tag!, start: at + 6, length: Infinity }
}
