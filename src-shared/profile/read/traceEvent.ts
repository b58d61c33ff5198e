/**
 * One event of a Chrome trace, straight from its bytes: complete events and flows as profilers write them by the million.
 * No object is made of them, names are interned without being decoded, and what the tree does not use is stepped over. What
 * is unusual (escapes in a name, call stacks, other phases) is left to JSON.parse.
 */
import { hashPrime, hashSeed, StringTable } from '../tree/stringTable'

/** Of read(): the event goes on beyond the bytes. */
export const incomplete = -1
/** Of read(): the event is to be parsed as JSON. */
export const unusual = -2

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** Keys that are read; the facts of a launch come behind them. */
const eventKeys = ['ph', 'cat', 'name', 'pid', 'tid', 'ts', 'dur', 'id', 'args'] as const
const argumentKeys = [
  'correlation',
  'External id',
  'external id',
  'External Id',
  'bytes',
  'call_stack',
  'metrics',
  'node',
  'grid'
] as const
const enum Key {
  none = -1,
  ph,
  cat,
  name,
  pid,
  tid,
  ts,
  dur,
  id,
  args
}
const enum Argument {
  none = -1,
  correlation,
  externalId,
  externalId2,
  externalId3,
  bytes,
  callStack,
  metrics,
  node,
  /** The first of the facts. */
  grid
}
const completePhase = 0x58
const flowStart = 0x73
const flowEnd = 0x66

export class TraceEventReader {
  isComplete = false
  isFlowStart = false
  /** String ids; -1 where the event has none. */
  name = -1
  category = -1
  process = NaN
  thread = NaN
  /** As in the file, microseconds. */
  start = NaN
  duration = NaN
  /** Of a flow. */
  id = NaN
  correlation = NaN
  externalId = NaN
  bytes = NaN
  /** String id of a launch's facts as JSON; -1: none. */
  facts = -1

  private at = 0
  /** What stopped the reading of an event. */
  private stop = 0
  private data: Uint8Array = new Uint8Array(0)
  private hasGrid = false
  private factLength = 0
  private readonly rawFact = new Uint8Array(4096)
  private readonly rawFacts = new StringTable()
  private readonly factsOf: number[] = []
  private readonly keys = new KeyTable(eventKeys)
  private readonly argumentKeys: KeyTable
  private readonly decoder = new TextDecoder()

  /**
   * @param strings what names and facts are interned in
   * @param factKeys arguments that are facts of a launch
   * @param describe the facts of arguments as JSON; '' for none
   */
  constructor(
    private readonly strings: StringTable,
    factKeys: readonly string[],
    private readonly describe: (args: unknown) => string
  ) {
    this.argumentKeys = new KeyTable([
      ...argumentKeys,
      ...factKeys.filter((key) => !(argumentKeys as readonly string[]).includes(key))
    ])
  }

  /** Reads the event whose '{' is at `start`; where it ends, or `incomplete` or `unusual`. */
  read(data: Uint8Array, start: number): number {
    this.data = data
    this.at = start + 1
    this.stop = 0
    this.clear()
    let phase = 0
    const { keys } = this
    for (;;) {
      const byte = this.space()
      if (byte === closeBrace) break
      if (byte === comma) {
        this.at++
        continue
      }
      if (byte !== quote) return this.stop || unusual
      const key = this.key(keys)
      if (this.stop !== 0) return this.stop
      const value = this.space()
      switch (key as Key) {
        case Key.ph:
          if (value !== quote || data[this.at + 2] !== quote) return this.stop || unusual
          phase = data[this.at + 1]!
          if (phase !== completePhase && phase !== flowStart && phase !== flowEnd) return unusual
          this.at += 3
          break
        case Key.name:
          this.name = this.string(value)
          break
        case Key.cat:
          this.category = this.string(value)
          break
        case Key.pid:
          this.process = this.integer()
          break
        case Key.tid:
          this.thread = this.integer()
          break
        case Key.ts:
          this.start = this.number()
          break
        case Key.dur:
          this.duration = this.number()
          break
        case Key.id:
          this.id = this.integer()
          break
        case Key.args:
          if (value !== openBrace) return this.stop || unusual
          this.args()
          break
        default:
          this.skip(value)
      }
      if (this.stop !== 0) return this.stop
    }
    this.at++
    this.isComplete = phase === completePhase
    this.isFlowStart = phase === flowStart
    return this.isWhole() ? this.at : unusual
  }

  /** What would need a word of its own is left to the reader of JSON. */
  private isWhole(): boolean {
    if (Number.isNaN(this.process) || Number.isNaN(this.thread) || Number.isNaN(this.start))
      return false
    return this.isComplete ? this.duration >= 0 && this.name >= 0 : !Number.isNaN(this.id)
  }

  private clear(): void {
    this.name = this.category = this.facts = -1
    this.process = this.thread = this.start = this.duration = this.id = NaN
    this.correlation = this.externalId = this.bytes = NaN
    this.hasGrid = false
    this.factLength = 0
  }

  private args(): void {
    const { argumentKeys } = this
    const begin = this.at++
    for (;;) {
      const byte = this.space()
      if (byte === closeBrace) break
      if (byte === comma) {
        this.at++
        continue
      }
      if (byte !== quote) return this.halt(unusual)
      const key = this.key(argumentKeys)
      if (this.stop !== 0) return
      const value = this.space()
      switch (key as Argument) {
        case Argument.correlation:
          this.correlation = this.number()
          break
        case Argument.externalId:
        case Argument.externalId2:
        case Argument.externalId3:
          this.externalId = this.number()
          break
        case Argument.bytes:
          this.bytes = this.number()
          break
        case Argument.callStack:
        case Argument.metrics:
        case Argument.node:
          return this.halt(unusual)
        case Argument.none:
          this.skip(value)
          break
        default:
          if ((key as Argument) === Argument.grid) this.hasGrid = true
          this.fact(key, value)
      }
      if (this.stop !== 0) return
    }
    this.at++
    if (this.hasGrid) this.facts = this.describedFacts(begin)
  }

  /** Launches of one kernel repeat their facts byte for byte: each is described once. */
  private describedFacts(begin: number): number {
    let hash = hashSeed
    for (let at = 0; at < this.factLength; at++)
      hash = Math.imul(hash ^ this.rawFact[at]!, hashPrime)
    const raw = this.rawFacts.internBytes(this.rawFact, 0, this.factLength, hash)
    const known = this.factsOf[raw]
    if (known !== undefined) return known
    const args = JSON.parse(this.decoder.decode(this.data.subarray(begin, this.at))) as unknown
    const text = this.describe(args)
    return (this.factsOf[raw] = text === '' ? -1 : this.strings.intern(text))
  }

  private fact(key: number, first: number): void {
    const start = this.at
    this.skip(first)
    const length = this.at - start
    if (this.factLength + length + 1 > this.rawFact.length) return this.halt(unusual)
    this.rawFact[this.factLength++] = key
    for (let at = start; at < this.at; at++) this.rawFact[this.factLength++] = this.data[at]!
  }

  private halt(why: number): void {
    if (this.stop === 0) this.stop = why
  }

  /** The next byte that is no white space; 0 at the end. */
  private space(): number {
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
  private key(table: KeyTable): number {
    const { data } = this
    const { length } = data
    const start = this.at + 1
    let hash = hashSeed
    for (let at = start; at < length; at++) {
      const byte = data[at]!
      if (byte === quote) {
        this.at = at + 1
        if (this.space() !== colon) {
          this.halt(unusual)
          return -1
        }
        this.at++
        return table.find(data, start, at, hash)
      }
      if (byte === backslash) {
        this.halt(unusual)
        return -1
      }
      hash = Math.imul(hash ^ byte, hashPrime)
    }
    this.halt(incomplete)
    return -1
  }

  private string(first: number): number {
    if (first !== quote) {
      this.halt(unusual)
      return -1
    }
    const { data } = this
    const { length } = data
    const start = this.at + 1
    let hash = hashSeed
    for (let at = start; at < length; at++) {
      const byte = data[at]!
      if (byte === quote) {
        this.at = at + 1
        return this.strings.internBytes(data, start, at, hash)
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

  private integer(): number {
    const value = this.number()
    if (!Number.isSafeInteger(value)) this.halt(unusual)
    return value
  }

  /**
   * A decimal of up to 15 digits, exactly as JSON.parse reads it: an integer below 2^53 divided by a power of ten below
   * 10^22 is rounded once. Longer ones, and those with an exponent, are left to JSON.parse.
   */
  private number(): number {
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

  private skip(first: number): void {
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

  private skipString(): void {
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

  private skipNested(): void {
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
class KeyTable {
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

  find(data: Uint8Array, start: number, end: number, hash: number): number {
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
