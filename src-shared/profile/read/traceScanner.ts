/**
 * A trace in the Trace Event Format, as it streams in: hands over each event as soon as it is complete, and never holds
 * more than one of them as text. Keys come in any order; the array form has no object around its events.
 */
import { UserError } from '../../errors'
import { profileLimits } from '../tree/limits'
import { describeBytes } from './jsonValue'

const quote = 0x22
const backslash = 0x5c

export interface TraceContent {
  /**
   * Takes the event whose '{' is at `at` from its bytes, where that can be done: where it ends then, or a negative number
   * for an event that is handed over parsed.
   */
  eventBytes(bytes: Uint8Array, at: number): number
  event(value: unknown): void
  /** Any other key of the object around the events, with its value's bytes. */
  property(name: string, bytes: Uint8Array): void
}

const enum Place {
  start,
  /** Before a key of the object around the events, or its end. */
  key,
  afterKey,
  /** Within "traceEvents". */
  events,
  end
}

/** One event, or one other value, may be as long as this. */
const longestEvent = 64 << 20
const longestProperty = 2 ** 31 - 1

export class TraceScanner {
  private place = Place.start
  private isArrayForm = false
  private key = ''
  /** What was not used yet; `at` is where the next value begins, `seen` how far it was looked at. */
  private bytes: Uint8Array<ArrayBufferLike> = new Uint8Array(0)
  private at = 0
  private seen = 0
  private depth = 0
  private inString = false
  private base = 0
  private hasEvents = false
  private readonly decoder = new TextDecoder()

  constructor(
    private readonly fileName: string,
    private readonly content: TraceContent
  ) {}

  write(chunk: Uint8Array): void {
    const left = this.bytes.length - this.at
    this.base += this.at
    this.seen -= this.at
    if (left === 0) this.bytes = chunk
    else {
      const joined = new Uint8Array(left + chunk.length)
      joined.set(this.bytes.subarray(this.at))
      joined.set(chunk, left)
      this.bytes = joined
    }
    this.at = 0
    this.run()
  }

  finish(): void {
    this.skipSpace()
    // Chrome's array form may end without its bracket: a program that was killed could not write it.
    if (this.isArrayForm && this.place === Place.events && this.at >= this.bytes.length) return
    if (this.place !== Place.end) {
      throw this.error(
        this.base + this.bytes.length,
        'expected more, found the end of the file (it is cut short)'
      )
    }
    if (!this.hasEvents) {
      throw new UserError('usage', `${this.fileName}: expected a list "traceEvents", found none.`)
    }
  }

  private run(): void {
    for (;;) {
      this.skipSpace()
      if (this.at >= this.bytes.length) return
      if (!this.step()) return
    }
  }

  /** Reads what stands at `at`; false when more bytes are needed. */
  private step(): boolean {
    const byte = this.bytes[this.at]!
    switch (this.place) {
      case Place.start:
        this.isArrayForm = byte === 0x5b
        this.hasEvents = this.isArrayForm
        this.advance(1)
        this.place = this.isArrayForm ? Place.events : Place.key
        return true
      case Place.key:
        if (byte === 0x2c) this.advance(1)
        else if (byte === 0x7d) {
          this.advance(1)
          this.place = Place.end
        } else return this.readKey(byte)
        return true
      case Place.afterKey:
        return this.readProperty(byte)
      case Place.events:
        if (byte === 0x2c) this.advance(1)
        else if (byte === 0x5d) {
          this.advance(1)
          this.place = this.isArrayForm ? Place.end : Place.key
        } else return this.readEvent()
        return true
      case Place.end:
        throw this.error(this.base + this.at, 'expected nothing after the trace')
    }
  }

  private readKey(byte: number): boolean {
    if (byte !== quote) throw this.error(this.base + this.at, "expected a key or '}'")
    const end = this.valueEnd(longestEvent)
    if (end < 0) return false
    let colon = end
    while (colon < this.bytes.length && isSpace(this.bytes[colon]!)) colon++
    if (colon >= this.bytes.length) {
      // Read again with the next chunk.
      this.seen = this.at
      return false
    }
    if (this.bytes[colon] !== 0x3a) throw this.error(this.base + colon, "expected ':' after a key")
    this.key = this.parse(end) as string
    this.advance(colon + 1 - this.at)
    this.place = Place.afterKey
    return true
  }

  private readProperty(byte: number): boolean {
    if (this.key === 'traceEvents') {
      if (byte !== 0x5b) {
        throw this.error(this.base + this.at, `expected a list as "traceEvents"`)
      }
      this.hasEvents = true
      this.advance(1)
      this.place = Place.events
      return true
    }
    const end = this.valueEnd(longestProperty)
    if (end < 0) return false
    this.content.property(this.key, this.bytes.subarray(this.at, end))
    this.advance(end - this.at)
    this.place = Place.key
    return true
  }

  private readEvent(): boolean {
    // An event that another chunk completes was looked at already.
    const taken =
      this.seen === this.at && this.bytes[this.at] === 0x7b
        ? this.content.eventBytes(this.bytes, this.at)
        : -1
    if (taken >= 0) {
      this.advance(taken - this.at)
      return true
    }
    const end = this.valueEnd(longestEvent)
    if (end < 0) return false
    this.content.event(this.parse(end))
    this.advance(end - this.at)
    return true
  }

  /** Where the value at `at` ends; -1 when that is not seen yet. Goes on where the last chunk ended. */
  private valueEnd(longest: number): number {
    const bytes = this.bytes
    const length = bytes.length
    let at = this.seen
    let { depth, inString } = this
    const first = bytes[this.at]!
    const isScalar = first !== 0x7b && first !== 0x5b && first !== quote
    while (at < length) {
      const byte = bytes[at]!
      if (inString) {
        if (byte === backslash) {
          if (at + 1 >= length) break
          at++
        } else if (byte === quote) {
          inString = false
          if (depth === 0) return this.found(at + 1)
        }
      } else if (isScalar) {
        if (byte === 0x2c || byte === 0x7d || byte === 0x5d || isSpace(byte)) return this.found(at)
      } else if (byte === quote) inString = true
      else if (byte === 0x7b || byte === 0x5b) {
        if (++depth > profileLimits.depth) throw this.error(this.base + at, 'nested too deep')
      } else if ((byte === 0x7d || byte === 0x5d) && --depth === 0) return this.found(at + 1)
      at++
    }
    if (length - this.at > longest) {
      throw this.error(this.base + this.at, `found a value of over ${describeBytes(longest)}`)
    }
    this.seen = at
    this.depth = depth
    this.inString = inString
    return -1
  }

  private found(end: number): number {
    this.depth = 0
    this.inString = false
    return end
  }

  private parse(end: number): unknown {
    try {
      return JSON.parse(this.decoder.decode(this.bytes.subarray(this.at, end))) as unknown
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw this.error(this.base + this.at, `the value that begins here is not valid JSON (${why})`)
    }
  }

  private advance(count: number): void {
    this.at += count
    this.seen = this.at
  }

  private skipSpace(): void {
    while (this.at < this.bytes.length && isSpace(this.bytes[this.at]!)) this.advance(1)
  }

  private error(byte: number, what: string): UserError {
    return new UserError('usage', `${this.fileName}: byte ${byte + 1}: ${what}.`)
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
