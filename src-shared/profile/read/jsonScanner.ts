/**
 * JSON taken from its bytes without making objects of it: for readers of a text whose objects are known and come by the
 * million. What is unusual (escapes in a name, numbers of many digits) stops it, and is left to JSON.parse.
 */
import { hashPrime, hashSeed, type StringTable } from '../tree/stringTable'

/** Why it stopped: the value goes on beyond the bytes. */
export const incomplete = -1
/** Why it stopped: the value is to be parsed as JSON. */
export const unusual = -2

/** Of nextKey(): no key of the table; the end of the object. */
export const otherKey = -1
export const endOfObject = -2

export const quote = 0x22
export const openBrace = 0x7b
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** Numbers of texts that stand in bytes, by a hash of them. */
interface TextTable {
  numberOf(data: Uint8Array, start: number, end: number, hash: number): number
}

export class JsonScanner {
  protected at = 0
  /** What stopped the reading; 0: nothing. */
  protected stop = 0
  protected data: Uint8Array = new Uint8Array(0)

  constructor(protected readonly strings: StringTable) {}

  /** The next key of an object, and its colon: its number in the table, `otherKey`, or `endOfObject` behind its brace. */
  protected nextKey(table: KeyTable): number {
    let byte = this.space()
    while (byte === comma) {
      this.at++
      byte = this.space()
    }
    if (byte === quote) return this.key(table)
    if (byte === closeBrace) this.at++
    else this.halt(unusual)
    return endOfObject
  }

  protected halt(why: number): void {
    if (this.stop === 0) this.stop = why
  }

  /** The next byte that is no white space; 0 at the end. */
  protected space(): number {
    const { data } = this
    const { length } = data
    let at = this.at
    while (at < length) {
      const byte = data[at]!
      if (byte > 0x20) {
        this.at = at
        return byte
      }
      at++
    }
    this.at = at
    this.halt(incomplete)
    return 0
  }

  /** Reads a key and its colon; its number in the table, -1 for another. */
  protected key(table: KeyTable): number {
    const found = this.text(table)
    if (this.stop !== 0) return -1
    if (this.space() !== colon) {
      this.halt(unusual)
      return -1
    }
    this.at++
    return found
  }

  protected string(first: number): number {
    if (first !== quote) {
      this.halt(unusual)
      return -1
    }
    return this.text(this.strings)
  }

  /** Reads from one quote to the next; the number that the table has for what is between, -1 if something stopped it. */
  private text(table: TextTable): number {
    const { data } = this
    const { length } = data
    const start = this.at + 1
    let hash = hashSeed
    for (let at = start; at < length; at++) {
      const byte = data[at]!
      if (byte === quote) {
        this.at = at + 1
        return table.numberOf(data, start, at, hash)
      }
      if (byte === backslash || byte < 0x20) {
        this.halt(unusual)
        return -1
      }
      hash = Math.imul(hash ^ byte, hashPrime)
    }
    this.halt(incomplete)
    return -1
  }

  protected integer(): number {
    const value = this.number()
    if (!Number.isSafeInteger(value)) this.halt(unusual)
    return value
  }

  /**
   * A decimal of up to 15 digits, exactly as JSON.parse reads it: an integer below 2^53 divided by a power of ten below
   * 10^22 is rounded once. Longer ones, and those with an exponent, are left to JSON.parse.
   */
  protected number(): number {
    const { data } = this
    const { length } = data
    let at = this.at
    const isNegative = data[at] === 0x2d
    if (isNegative) at++
    let value = 0
    let digits = 0
    let byte = data[at]!
    for (; byte >= 0x30 && byte <= 0x39; byte = data[++at]!) {
      value = value * 10 + (byte - 0x30)
      digits++
    }
    let power = 1
    if (byte === 0x2e && digits > 0) {
      for (byte = data[++at]!; byte >= 0x30 && byte <= 0x39; byte = data[++at]!) {
        value = value * 10 + (byte - 0x30)
        power *= 10
        digits++
      }
    }
    if (at >= length) this.halt(incomplete)
    else if (digits === 0 || digits > 15 || (byte !== comma && byte !== closeBrace && byte > 0x20))
      this.halt(unusual)
    this.at = at
    const size = power === 1 ? value : value / power
    return isNegative ? -size : size
  }

  protected skip(first: number): void {
    if (first === quote) this.skipString()
    else if (first === openBrace || first === openBracket) this.skipNested()
    else {
      const { data } = this
      let at = this.at
      for (let byte = data[at]!; byte > 0x20; byte = data[++at]!) {
        if (byte === comma || byte === closeBrace || byte === closeBracket) break
      }
      this.at = at
      if (at >= data.length) this.halt(incomplete)
    }
  }

  protected skipString(): void {
    const { data } = this
    const { length } = data
    let at = this.at + 1
    for (; at < length; at++) {
      const byte = data[at]!
      if (byte === quote) {
        this.at = at + 1
        return
      }
      if (byte === backslash) at++
    }
    this.halt(incomplete)
  }

  protected skipNested(): void {
    const { data } = this
    const { length } = data
    let depth = 0
    let at = this.at
    while (at < length) {
      const byte = data[at]!
      if (byte === quote) {
        this.at = at
        this.skipString()
        if (this.stop !== 0) return
        at = this.at
        continue
      }
      at++
      if (byte === openBrace || byte === openBracket) depth++
      else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) {
        this.at = at
        return
      }
    }
    this.halt(incomplete)
  }
}

/** A few known keys, found by hash and then compared. */
export class KeyTable implements TextTable {
  private readonly slots = new Int16Array(256).fill(-1)
  private readonly keys: Uint8Array[]

  constructor(keys: readonly string[]) {
    this.keys = keys.map((key) => new TextEncoder().encode(key))
    this.keys.forEach((key, index) => {
      let hash = hashSeed
      for (const byte of key) hash = Math.imul(hash ^ byte, hashPrime)
      let slot = hash & 255
      while (this.slots[slot]! >= 0) slot = (slot + 1) & 255
      this.slots[slot] = index
    })
  }

  numberOf(data: Uint8Array, start: number, end: number, hash: number): number {
    for (let slot = hash & 255; ; slot = (slot + 1) & 255) {
      const index = this.slots[slot]!
      if (index < 0) return -1
      const key = this.keys[index]!
      if (key.length !== end - start) continue
      let at = 0
      while (at < key.length && key[at] === data[start + at]) at++
      if (at === key.length) return index
    }
  }
}
