/** Checkpoints on disk: safetensors files, alone or sharded with an index, read by position and never as a whole. */
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import * as v from 'valibot'
import { messageOf, UserError } from '@shared/errors'
import { headerEnd, parseSafetensorsHeader, type TensorEntry } from '@shared/formats/safetensors'

interface Shard {
  path: string
  descriptor: number
}

/** An open checkpoint; close it. */
export interface Checkpoint {
  path: string
  tensors: Map<string, TensorEntry>
  metadata: Record<string, string>
  /** Bytes from..to of a tensor, counted from its start. */
  read(tensor: TensorEntry, from: number, to: number): Uint8Array
  close(): void
}

/** One read asks for at most this much, so that no slice takes the memory of the machine. */
export const largestRead = 256 * 2 ** 20

/** Opens FILE.safetensors or FILE.safetensors.index.json. Throws a UserError in one sentence. */
export function openCheckpoint(path: string): Checkpoint {
  const shards: Shard[] = []
  const close = () => shards.forEach(({ descriptor }) => closeSync(descriptor))
  try {
    const tensors = new Map<string, TensorEntry>()
    const metadata: Record<string, string> = {}
    const home = new Map<string, Shard>()
    const index = path.endsWith('.json') ? readIndex(path) : undefined
    for (const file of index ? shardsOf(path, index) : [path]) {
      const shard = { path: file, descriptor: openFile(file) }
      shards.push(shard)
      const header = readHeader(shard)
      Object.assign(metadata, header.metadata)
      for (const [name, entry] of header.tensors) {
        if (tensors.has(name)) {
          throw new UserError('usage', `${path}: tensor "${name}" is in two of its files.`)
        }
        tensors.set(name, entry)
        home.set(name, shard)
      }
    }
    for (const [name, file] of Object.entries(index ?? {})) {
      if (home.get(name)?.path === join(dirname(path), file)) continue
      throw new UserError('usage', `${path} places tensor "${name}" in ${file}, which lacks it.`)
    }
    const read = (tensor: TensorEntry, from: number, to: number) => {
      if (from < 0 || to > tensor.end - tensor.start || to < from || to - from > largestRead) {
        throw new UserError(
          'usage',
          `Bytes ${from} to ${to} of tensor "${tensor.name}" cannot be read at once; take a smaller slice.`
        )
      }
      return readBytes(home.get(tensor.name)!, tensor.start + from, to - from)
    }
    return { path, tensors, metadata, read, close }
  } catch (error) {
    close()
    throw error
  }
}

/** Opens a checkpoint for some work and closes it after. */
export function withCheckpoint<T>(path: string, work: (checkpoint: Checkpoint) => T): T {
  const checkpoint = openCheckpoint(path)
  try {
    return work(checkpoint)
  } finally {
    checkpoint.close()
  }
}

const indexSchema = v.object({ weight_map: v.record(v.string(), v.string()) })

/** Names of tensors to names of files. */
function readIndex(path: string): Record<string, string> {
  let json: unknown
  try {
    json = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new UserError('usage', `${path} cannot be read as an index: ${messageOf(error)}.`)
  }
  const parsed = v.safeParse(indexSchema, json)
  if (!parsed.success) throw new UserError('usage', `${path} has no weight_map of names to files.`)
  return parsed.output.weight_map
}

function shardsOf(path: string, index: Record<string, string>): string[] {
  const files = [...new Set(Object.values(index))]
  const outside = files.find((file) => basename(file) !== file || file === '..' || /\\/.test(file))
  if (outside) throw new UserError('usage', `${path} names "${outside}", outside its own folder.`)
  return files.map((file) => join(dirname(path), file))
}

function openFile(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    throw new UserError('usage', `${path} cannot be opened: ${messageOf(error)}.`)
  }
}

function readHeader(shard: Shard) {
  const status = fstatSync(shard.descriptor)
  if (!status.isFile()) throw new UserError('usage', `${shard.path} is no file; name a file.`)
  const { size } = status
  const first8 = readBytes(shard, 0, Math.min(8, size))
  const end = headerEnd(first8, size, shard.path)
  return parseSafetensorsHeader(readBytes(shard, 0, end), size, shard.path)
}

function readBytes({ path, descriptor }: Shard, position: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let done = 0
  while (done < length) {
    const count = readSync(descriptor, bytes, done, length - done, position + done)
    if (count === 0) throw new UserError('usage', `${path} ended at byte ${position + done}.`)
    done += count
  }
  return bytes
}

export interface NewTensor {
  name: string
  dtype: string
  shape: number[]
  byteLength: number
  /** Makes the bytes, in pieces. */
  pieces: () => Iterable<Uint8Array>
}

/** Writes a safetensors file piece by piece; it appears under its name only when it is whole. */
export function writeCheckpoint(
  path: string,
  tensors: readonly NewTensor[],
  metadata: Record<string, string>
): void {
  if (existsSync(path)) throw new UserError('usage', `${path} exists; choose another name.`)
  const partial = `${path}.partial`
  const header: Record<string, unknown> = { __metadata__: metadata }
  let offset = 0
  for (const { name, dtype, shape, byteLength } of tensors) {
    if (Object.hasOwn(header, name)) {
      throw new UserError('usage', `Two tensors of ${path} would be named "${name}".`)
    }
    header[name] = { dtype, shape, data_offsets: [offset, offset + byteLength] }
    offset += byteLength
  }
  const json = Buffer.from(JSON.stringify(header))
  // Tensors start at a multiple of 8, as the format asks; spaces fill the header up.
  const padded = Buffer.concat([json, Buffer.alloc((8 - (json.length % 8)) % 8, ' ')])
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(padded.length))
  let descriptor: number | undefined
  try {
    descriptor = openSync(partial, 'w')
    for (const piece of [length, padded]) writeAll(descriptor, piece)
    for (const { pieces } of tensors) for (const piece of pieces()) writeAll(descriptor, piece)
    closeSync(descriptor)
    descriptor = undefined
    renameSync(partial, path)
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor)
    rmSync(partial, { force: true })
    if (error instanceof UserError) throw error
    throw new UserError('usage', `${path} cannot be written: ${messageOf(error)}.`)
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done)
}
