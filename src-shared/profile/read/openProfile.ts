/** Any profile to a tree, whatever wrote it. */
import { Gunzip } from 'fflate'
import { messageOf, UserError } from '../../errors'
import type { ByteSource } from './byteSource'
import { joined, type OpenedProfile, type Parser, type ProfileReaderRow } from './reader'
import { readers } from './readers'
import { sniffFormat } from './sniffFormat'

export type { OpenedProfile } from './reader'

/**
 * Opens any form of `readers` as it streams in, told apart by content. Hatchet and traces are never held as text; forms
 * that are read whole (msgpack, run.json) or at any place (databases) are kept until the end.
 */
export class ProfileReader {
  private head: Uint8Array<ArrayBufferLike> = new Uint8Array(0)
  private parser: Parser | null = null
  private gunzip: Gunzip | null = null
  private begun = false

  /** @param name shown in errors */
  constructor(private readonly name: string) {}

  /** @throws UserError with the place of what is wrong. */
  write(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    if (!this.begun) {
      this.begun = true
      if (chunk[0] === 0x1f && (chunk.length === 1 || chunk[1] === 0x8b)) {
        this.gunzip = new Gunzip((part) => this.take(part))
      }
    }
    if (this.gunzip) this.inflate(chunk, false)
    else this.take(chunk)
  }

  /** @throws UserError when the file ends too early or is no profile. */
  finish(): OpenedProfile {
    if (!this.begun) throw new UserError('usage', `${this.name} is empty.`)
    if (this.gunzip) this.inflate(new Uint8Array(0), true)
    const parser = this.parser ?? this.sniff(true)
    return parser!.finish()
  }

  private inflate(chunk: Uint8Array, isLast: boolean): void {
    try {
      this.gunzip!.push(chunk, isLast)
    } catch (error) {
      if (error instanceof UserError) throw error
      throw new UserError('usage', `${this.name}: its gzip data is damaged: ${messageOf(error)}.`, {
        cause: error
      })
    }
  }

  private take(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    if (this.parser) {
      this.parser.write(chunk)
      return
    }
    this.head = this.head.length === 0 ? chunk : joined([this.head, chunk])
    this.sniff(false)
  }

  /** Chooses the parser as soon as the beginning tells, and hands it what has come so far. */
  private sniff(isWhole: boolean): Parser | null {
    const body = withoutByteOrderMark(this.head)
    const found = sniffFormat(body, isWhole, this.name)
    if (!found) return null
    if ('looksLike' in found) {
      throw new UserError(
        'usage',
        `${this.name} is not a profile that is read here: it looks like ${found.looksLike}; ${found.advice ?? expected()}.`
      )
    }
    this.parser = parserOf(found.reader, this.name)
    this.parser.write(body)
    this.head = new Uint8Array(0)
    return this.parser
  }
}

/** A parser of this reader, whose errors say which reader it was: a person may know better what the file is. */
export function parserOf(reader: ProfileReaderRow, name: string): Parser {
  const parser = asReadBy(reader, () => reader.open(name))
  return {
    write: (chunk) => asReadBy(reader, () => parser.write(chunk)),
    finish: () => asReadBy(reader, () => parser.finish())
  }
}

function asReadBy<T>({ name }: ProfileReaderRow, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    throw new UserError(error.kind, `${error.message} It was read as ${name}.`, { cause: error })
  }
}

const chunkBytes = 4 << 20
const headBytes = 64 << 10

/**
 * Opens a file that can be read at any place, where its form is read so: null for the others, which stream.
 * @throws UserError with the place of what is wrong.
 */
export function openProfileAt(source: ByteSource, name: string): OpenedProfile | null {
  const found = sniffFormat(source.read(0, headBytes), source.size <= headBytes)
  if (!found || !('reader' in found)) return null
  const { reader } = found
  return asReadBy(reader, () => reader.openAt?.(source, name) ?? null)
}

/**
 * Opens a profile whose bytes are at hand.
 * @param name shown in errors.
 * @param onProgress gets the fraction read, 0..1.
 * @throws UserError with the line and byte of what is wrong.
 */
export function openProfile(
  bytes: Uint8Array,
  name: string,
  onProgress?: (fraction: number) => void
): OpenedProfile {
  const reader = new ProfileReader(name)
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    reader.write(bytes.subarray(at, at + chunkBytes))
    onProgress?.(Math.min(1, (at + chunkBytes) / bytes.length))
  }
  return reader.finish()
}

/** What is taken, as an error that refuses something else names it. */
function expected(): string {
  return `expected ${readers.map(({ name }) => name).join(', ')}, gzipped or not`
}

function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return marked ? bytes.subarray(3) : bytes
}
