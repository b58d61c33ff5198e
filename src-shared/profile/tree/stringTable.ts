/**
 * Interned strings as one run of UTF-8 bytes and offsets: a reader can intern bytes without decoding them, and the
 * whole table crosses from a worker to a page as two buffers.
 */
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** FNV-1a, 32 bits; exported so that a reader can hash while it scans. */
export const hashSeed = 0x811c9dc5
export const hashPrime = 0x01000193

const mostRecent = 1 << 15
const longestRecent = 1000

export class StringTable {
  private bytes: Uint8Array<ArrayBuffer>
  private offsets: Uint32Array<ArrayBuffer>
  private count: number
  private buckets = new Int32Array(0)
  private hashes = new Int32Array(0)
  private readonly decoded: (string | undefined)[] = []
  /** Names repeat from event to event: those met lately need no encoding. */
  private readonly recent = new Map<string, number>()

  constructor(bytes = new Uint8Array(1024), offsets = new Uint32Array(64), count = 0) {
    this.bytes = bytes
    this.offsets = offsets
    this.count = count
  }

  get size(): number {
    return this.count
  }

  /** The text of an id; ids outside the table (-1: absent) give the empty string. */
  text(id: number): string {
    if (id < 0 || id >= this.count) return ''
    let text = this.decoded[id]
    if (text === undefined) {
      text = decoder.decode(this.bytes.subarray(this.offsets[id], this.offsets[id + 1]))
      this.decoded[id] = text
    }
    return text
  }

  intern(text: string): number {
    const known = this.recent.get(text)
    if (known !== undefined) return known
    const id = this.internEncoded(text)
    if (text.length <= longestRecent) {
      if (this.recent.size >= mostRecent) this.recent.clear()
      this.recent.set(text, id)
    }
    return id
  }

  private internEncoded(text: string): number {
    const bytes = encoder.encode(text)
    let hash = hashSeed
    for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i]!, hashPrime)
    return this.numberOf(bytes, 0, bytes.length, hash)
  }

  /** Interns source[start, end), whose FNV-1a hash the caller has computed. */
  numberOf(source: Uint8Array, start: number, end: number, hash: number): number {
    if (this.count * 2 >= this.buckets.length) this.rehash()
    const mask = this.buckets.length - 1
    let slot = mix(hash) & mask
    for (;;) {
      const id = this.buckets[slot]! - 1
      if (id < 0) break
      if (this.hashes[id] === (hash | 0) && this.equals(id, source, start, end)) return id
      slot = (slot + 1) & mask
    }
    const id = this.append(source, start, end, hash)
    this.buckets[slot] = id + 1
    return id
  }

  /** The buffers behind the table, trimmed to what is used. */
  parts(): { bytes: Uint8Array<ArrayBuffer>; offsets: Uint32Array<ArrayBuffer>; count: number } {
    return {
      bytes: this.bytes.slice(0, this.offsets[this.count]),
      offsets: this.offsets.slice(0, this.count + 1),
      count: this.count
    }
  }

  private equals(id: number, source: Uint8Array, start: number, end: number): boolean {
    const offset = this.offsets[id]!
    if (this.offsets[id + 1]! - offset !== end - start) return false
    const bytes = this.bytes
    for (let i = start, at = offset; i < end; i++, at++) if (bytes[at] !== source[i]) return false
    return true
  }

  private append(source: Uint8Array, start: number, end: number, hash: number): number {
    const id = this.count++
    const offset = this.offsets[id]!
    const next = offset + end - start
    if (next > this.bytes.length) {
      const grown = new Uint8Array(Math.max(next, this.bytes.length * 2))
      grown.set(this.bytes)
      this.bytes = grown
    }
    this.bytes.set(source.subarray(start, end), offset)
    if (id + 2 > this.offsets.length) {
      const grown = new Uint32Array(this.offsets.length * 2 + 2)
      grown.set(this.offsets)
      this.offsets = grown
    }
    this.offsets[id + 1] = next
    this.hashes[id] = hash
    return id
  }

  private rehash(): void {
    let size = 256
    while (size < this.count * 4) size *= 2
    const hashes = new Int32Array(size)
    for (let id = 0; id < this.count; id++) hashes[id] = this.hashes[id] ?? 0
    if (this.hashes.length === 0) this.hashAgain(hashes)
    this.hashes = hashes
    this.buckets = new Int32Array(size)
    for (let id = 0; id < this.count; id++) {
      let slot = mix(hashes[id]!) & (size - 1)
      while (this.buckets[slot]) slot = (slot + 1) & (size - 1)
      this.buckets[slot] = id + 1
    }
  }

  /** A table that came from another thread has its bytes but not its hashes. */
  private hashAgain(hashes: Int32Array): void {
    for (let id = 0; id < this.count; id++) {
      let hash = hashSeed
      for (let i = this.offsets[id]!; i < this.offsets[id + 1]!; i++) {
        hash = Math.imul(hash ^ this.bytes[i]!, hashPrime)
      }
      hashes[id] = hash
    }
  }
}

/** FNV's low bits alone cluster on names that differ only in a number. */
function mix(hash: number): number {
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 7
}
