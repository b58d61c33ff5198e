/**
 * Reads shards as they stream in. Holds no record: a block at a time goes to whoever asked. A shard that ends within a
 * record, because its process or its disk did, is read up to the last whole one.
 */
import { UserError } from '../errors'
import {
  blockHeaderBytes,
  blockKinds,
  blockMagic,
  headerBytes,
  isShard,
  mostBlockBytes,
  readHeader,
  recordBytes,
  type ShardHeader
} from './shardForm'

/** Whole records of one block: 32-bit words, and how many records they are. */
export type RecordWords = Uint32Array<ArrayBuffer>

export interface ShardSink {
  header(header: ShardHeader): void
  /** One definition: {"path":3,"parent":1,"name":"step"}. */
  text(line: Readonly<Record<string, unknown>>): void
  records(kind: number, words: RecordWords, count: number): void
}

const decoder = new TextDecoder()

export class ShardReader {
  private rest: Uint8Array<ArrayBufferLike> = new Uint8Array(0)
  private hasHeader = false
  private isDamaged = false
  private scratch = new Uint32Array(1 << 15)
  /** One sentence per thing that could not be read. */
  readonly warnings: string[] = []

  /** @param name shown in errors */
  constructor(
    private readonly sink: ShardSink,
    private readonly name: string
  ) {}

  /** The chunk may be filled again afterwards. @throws UserError where this is no shard. */
  write(chunk: Uint8Array): void {
    let bytes = chunk
    if (this.rest.length > 0) {
      bytes = new Uint8Array(this.rest.length + chunk.length)
      bytes.set(this.rest)
      bytes.set(chunk, this.rest.length)
    }
    const taken = this.take(bytes)
    // A Buffer's own slice() would not copy.
    this.rest = new Uint8Array(bytes.subarray(taken))
  }

  /** What is left is the beginning of a block that was never finished. */
  finish(): void {
    if (!this.hasHeader)
      throw new UserError(
        'usage',
        `${this.name} ends after ${this.rest.length} bytes: a shard has a header of ${headerBytes}.`
      )
    if (this.rest.length === 0 || this.isDamaged) return
    const { rest } = this
    this.rest = new Uint8Array(0)
    let whole = 0
    if (rest.length > blockHeaderBytes) {
      const [magic, kind] = new Uint32Array(rest.slice(0, blockHeaderBytes).buffer)
      if (magic === blockMagic) whole = this.takeBlock(kind!, rest.subarray(blockHeaderBytes))
    }
    this.warnings.push(
      `${this.name} ends within a block: ${whole} whole records of it were read, the rest was lost with the process.`
    )
  }

  /** @returns bytes that are done with */
  private take(bytes: Uint8Array): number {
    let at = 0
    if (!this.hasHeader) {
      if (bytes.length < headerBytes) return 0
      if (!isShard(bytes)) throw new UserError('usage', `${this.name} is no shard of a capture.`)
      this.sink.header(readHeader(bytes, this.name))
      this.hasHeader = true
      at = headerBytes
    }
    while (!this.isDamaged && at + blockHeaderBytes <= bytes.length) {
      const view = new DataView(bytes.buffer, bytes.byteOffset + at, blockHeaderBytes)
      const kind = view.getUint32(4, true)
      const size = view.getUint32(8, true)
      if (view.getUint32(0, true) !== blockMagic || size > mostBlockBytes) {
        this.isDamaged = true
        this.warnings.push(
          `${this.name} is damaged ${at} bytes into what was being read: what follows was not read.`
        )
        break
      }
      const end = at + blockHeaderBytes + size + ((8 - (size % 8)) % 8)
      if (end > bytes.length) break
      this.takeBlock(kind, bytes.subarray(at + blockHeaderBytes, at + blockHeaderBytes + size))
      at = end
    }
    return this.isDamaged ? bytes.length : at
  }

  /** @returns whole records, or lines */
  private takeBlock(kind: number, payload: Uint8Array): number {
    if (kind === blockKinds.text) return this.takeText(payload)
    const size = recordBytes[kind]
    // A kind that a later version added.
    if (size === undefined) return 0
    const count = Math.floor(payload.length / size)
    const words = (count * size) / 4
    if (words > this.scratch.length) this.scratch = new Uint32Array(words * 2)
    // The file's own bytes may lie at any place of a chunk.
    new Uint8Array(this.scratch.buffer).set(payload.subarray(0, count * size))
    this.sink.records(kind, this.scratch, count)
    return count
  }

  private takeText(payload: Uint8Array): number {
    const end = payload.lastIndexOf(0x0a) + 1
    const lines = decoder.decode(payload.subarray(0, end)).split('\n')
    lines.pop()
    for (const line of lines) {
      const defined = objectOf(line)
      if (defined) this.sink.text(defined)
      else this.warnings.push(`${this.name} has a line of text that is no JSON object.`)
    }
    return lines.length
  }
}

function objectOf(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
