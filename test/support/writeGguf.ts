/** A GGUF file, version 3, as docs/gguf.md of ggml describes it. */
import { writeFileSync } from 'node:fs'

export interface GgufTensor {
  name: string
  /** Slowest first, as everywhere here. */
  shape: number[]
  /** Number of the ggml type. */
  type: number
  bytes: Uint8Array
}

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
const uint64 = (value: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}
const text = (value: string) =>
  Buffer.concat([uint64(Buffer.byteLength(value)), Buffer.from(value)])

/** With a text, a number, a list of texts and a list of numbers among its values. */
export function ggufBytes(tensors: readonly GgufTensor[], alignment = 32, version = 3): Buffer {
  const values = [
    [text('general.architecture'), uint32(8), text('gpt-oss')],
    [text('general.alignment'), uint32(4), uint32(alignment)],
    [text('tokenizer.ggml.tokens'), uint32(9), uint32(8), uint64(2), text('a'), text('bc')],
    [text('tokenizer.ggml.scores'), uint32(9), uint32(6), uint64(3), Buffer.alloc(12)],
    [text('general.quantized'), uint32(7), Buffer.from([1])]
  ].map((parts) => Buffer.concat(parts))
  const roundUp = (size: number) => Math.ceil(size / alignment) * alignment
  let offset = 0
  const table = tensors.map(({ name, shape, type, bytes }) => {
    const row = [
      text(name),
      uint32(shape.length),
      ...shape.toReversed().map(uint64),
      uint32(type),
      uint64(offset)
    ]
    offset += roundUp(bytes.length)
    return Buffer.concat(row)
  })
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    uint32(version),
    uint64(tensors.length),
    uint64(values.length),
    ...values,
    ...table
  ])
  const padded = (bytes: Uint8Array) =>
    Buffer.concat([bytes, Buffer.alloc(roundUp(bytes.length) - bytes.length)])
  return Buffer.concat([padded(head), ...tensors.map(({ bytes }) => padded(bytes))])
}

export function writeGguf(path: string, tensors: readonly GgufTensor[]): void {
  writeFileSync(path, ggufBytes(tensors))
}
