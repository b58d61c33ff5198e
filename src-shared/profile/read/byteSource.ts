/** Bytes at any place of a file: for forms that are not read from their beginning to their end. */

export interface ByteSource {
  /** Bytes of the file. */
  readonly size: number
  /** `length` bytes from `at`; fewer only at the file's end. Not to be changed. */
  read(at: number, length: number): Uint8Array
}

/** A file that has come in chunks and stays in them: joining them would hold it twice. */
export class ChunkSource implements ByteSource {
  size = 0
  private readonly chunks: Uint8Array[] = []
  private readonly starts: number[] = []

  /** Copies the chunk, which may be a buffer that is filled again. */
  add(chunk: Uint8Array): void {
    // A Buffer's own slice() would not copy.
    this.chunks.push(new Uint8Array(chunk))
    this.starts.push(this.size)
    this.size += chunk.length
  }

  read(at: number, length: number): Uint8Array {
    const end = Math.min(this.size, at + length)
    if (at >= end) return new Uint8Array(0)
    let index = this.chunkAt(at)
    const from = at - this.starts[index]!
    const first = this.chunks[index]!.subarray(from, from + end - at)
    if (first.length === end - at) return first
    const bytes = new Uint8Array(end - at)
    bytes.set(first)
    for (let filled = first.length; filled < bytes.length;) {
      const part = this.chunks[++index]!.subarray(0, bytes.length - filled)
      bytes.set(part, filled)
      filled += part.length
    }
    return bytes
  }

  private chunkAt(at: number): number {
    let low = 0
    let high = this.starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.starts[middle]! <= at) low = middle
      else high = middle - 1
    }
    return low
  }
}

const blockBytes = 1 << 20
const keptBlocks = 64

/** Reads a slower source in blocks and keeps those read last: 64 MiB at most. */
export class BlockSource implements ByteSource {
  private readonly blocks = new Map<number, Uint8Array>()

  /** @param fetch reads from the disk or a File; what it returns is kept */
  constructor(
    readonly size: number,
    private readonly fetch: (at: number, length: number) => Uint8Array
  ) {}

  read(at: number, length: number): Uint8Array {
    const end = Math.min(this.size, at + length)
    if (at >= end) return new Uint8Array(0)
    const first = Math.floor(at / blockBytes)
    const last = Math.floor((end - 1) / blockBytes)
    const from = at - first * blockBytes
    if (first === last) return this.block(first).subarray(from, from + end - at)
    const bytes = new Uint8Array(end - at)
    for (let index = first; index <= last; index++) {
      const start = index * blockBytes
      const part = this.block(index).subarray(Math.max(0, at - start), end - start)
      bytes.set(part, Math.max(0, start - at))
    }
    return bytes
  }

  private block(index: number): Uint8Array {
    let block = this.blocks.get(index)
    if (block) this.blocks.delete(index)
    else {
      const at = index * blockBytes
      block = this.fetch(at, Math.min(blockBytes, this.size - at))
    }
    // Last in the map is what was used last.
    this.blocks.set(index, block)
    if (this.blocks.size > keptBlocks) this.blocks.delete(this.blocks.keys().next().value!)
    return block
  }
}
