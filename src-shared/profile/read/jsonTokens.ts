/**
 * JSON tokens out of UTF-8 bytes that arrive in chunks. A token that a chunk cuts in two is left where it starts and
 * read again when the next chunk has come, so the reader above needs no states inside a token.
 */
import { UserError } from '../../errors'
import { profileLimits } from '../tree/limits'
import { hashPrime, hashSeed, type StringTable } from '../tree/stringTable'

export const quote = 0x22
const backslash = 0x5c
const minus = 0x2d
const dot = 0x2e
const zero = 0x30

const decoder = new TextDecoder()

export class JsonTokens {
  bytes: Uint8Array = new Uint8Array(0)
  at = 0
  /** No more chunks: what is incomplete now stays incomplete. */
  final = false
  /** 1-based */
  line = 1
  /** Offset in the file of bytes[0]. */
  base = 0

  /** Of the last number read. */
  value = 0
  isFloat = false
  /** Set when the last number was an integer beyond 2^53. */
  big: bigint | null = null

  constructor(
    readonly strings: StringTable,
    readonly fileName: string
  ) {}

  /** Appends a chunk to what is left of the one before. */
  feed(chunk: Uint8Array): void {
    const left = this.bytes.length - this.at
    this.base += this.at
    if (left === 0) this.bytes = chunk
    else {
      const joined = new Uint8Array(left + chunk.length)
      joined.set(this.bytes.subarray(this.at))
      joined.set(chunk, left)
      this.bytes = joined
    }
    this.at = 0
  }

  /** Moves to the next byte that is not white space; -1 at the end of the chunk. */
  peek(): number {
    const bytes = this.bytes
    const length = bytes.length
    let at = this.at
    while (at < length) {
      const byte = bytes[at]!
      if (byte === 0x20) at++
      else if (byte === 0x0a) {
        this.line++
        at++
      } else if (byte === 0x0d || byte === 0x09) at++
      else {
        this.at = at
        return byte
      }
    }
    this.at = at
    return -1
  }

  /** Reads the string that starts here and interns it; -1 when the chunk ends inside it. */
  readString(): number {
    const bytes = this.bytes
    const length = bytes.length
    const start = this.at + 1
    let hash = hashSeed
    for (let i = start; i < length; i++) {
      const byte = bytes[i]!
      if (byte === quote) {
        this.checkLength(i - start)
        this.at = i + 1
        return this.strings.numberOf(bytes, start, i, hash)
      }
      if (byte === backslash) return this.readEscapedString(i)
      if (byte < 0x20) this.failAt(i, "a closing '\"'", 'a control character')
      hash = Math.imul(hash ^ byte, hashPrime)
    }
    this.checkLength(length - start)
    return this.incomplete('a string')
  }

  /** Reads a number; false when the chunk ends inside it. */
  readNumber(): boolean {
    const bytes = this.bytes
    const start = this.at
    let i = start
    const negative = bytes[i] === minus
    if (negative) i++
    const digits = i
    let value = 0
    for (let byte = bytes[i]!; byte >= zero && byte <= 0x39; byte = bytes[++i]!) {
      value = value * 10 + (byte - zero)
    }
    const integerDigits = i - digits
    if (i < bytes.length && !isNumberByte(bytes[i]!) && integerDigits > 0 && integerDigits < 16) {
      if (bytes[digits] === zero && integerDigits > 1) this.failAt(start, 'a number', 'a leading 0')
      this.value = negative ? -value : value
      this.isFloat = false
      this.big = null
      this.at = i
      return true
    }
    while (i < bytes.length && isNumberByte(bytes[i]!)) i++
    if (i === bytes.length && !this.final) return false
    this.setNumber(decoder.decode(bytes.subarray(start, Math.min(i, start + 400))), i)
    return true
  }

  /** Reads a word such as null; false when the chunk ends inside it. */
  readWord(word: string): boolean {
    for (let i = 0; i < word.length; i++) {
      if (this.at + i >= this.bytes.length) {
        this.incomplete(word)
        return false
      }
      if (this.bytes[this.at + i] !== word.charCodeAt(i)) this.fail(word)
    }
    this.at += word.length
    return true
  }

  /** One sentence: what was expected here and what is there. */
  fail(expected: string): never {
    const byte = this.bytes[this.at]
    this.failAt(this.at, expected, byte === undefined ? 'the end of the file' : describe(byte))
  }

  failAt(at: number, expected: string, found: string): never {
    throw new UserError(
      'usage',
      `${this.fileName}: line ${this.line}, byte ${this.base + at}: expected ${expected}, found ${found}.`
    )
  }

  private incomplete(what: string): -1 {
    if (this.final) {
      this.failAt(this.bytes.length, `the rest of ${what}`, 'the end of the file (it is cut short)')
    }
    return -1
  }

  private checkLength(length: number): void {
    if (length > profileLimits.stringBytes) {
      this.failAt(this.at, `a string of at most ${profileLimits.stringBytes} bytes`, 'a longer one')
    }
  }

  private readEscapedString(backslashAt: number): number {
    const bytes = this.bytes
    for (let i = backslashAt; i < bytes.length; i++) {
      const byte = bytes[i]!
      if (byte === backslash) i++
      else if (byte === quote) {
        this.checkLength(i - this.at)
        const text = decoder.decode(bytes.subarray(this.at, i + 1))
        let value: string
        try {
          value = JSON.parse(text) as string
        } catch {
          this.failAt(this.at, 'a string', 'one with a wrong escape')
        }
        this.at = i + 1
        return this.strings.intern(value)
      }
    }
    this.checkLength(bytes.length - this.at)
    return this.incomplete('a string')
  }

  private setNumber(text: string, end: number): void {
    if (!/^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(text)) {
      this.failAt(this.at, 'a number', `'${text.slice(0, 40)}'`)
    }
    this.value = Number(text)
    this.isFloat = /[.eE]/.test(text)
    this.big = !this.isFloat && !Number.isSafeInteger(this.value) ? BigInt(text) : null
    this.at = end
  }
}

function isNumberByte(byte: number): boolean {
  return (
    (byte >= zero && byte <= 0x39) ||
    byte === dot ||
    byte === 0x65 ||
    byte === 0x45 ||
    byte === minus ||
    byte === 0x2b
  )
}

function describe(byte: number): string {
  return byte >= 0x20 && byte < 0x7f
    ? `'${String.fromCharCode(byte)}'`
    : `byte 0x${byte.toString(16)}`
}
