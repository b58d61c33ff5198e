/** Checkpoints on disk: safetensors files, alone or sharded with an index, and GGUF files; read by position, never as a whole. */
import { closeSync, fstatSync, readFileSync, readSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import * as v from 'valibot'
import { messageOf, UserError } from '@shared/errors'
import { isGguf, readGgufHeader } from '@shared/formats/gguf'
import { headerEnd, parseSafetensorsHeader, type TensorEntry } from '@shared/formats/safetensors'
import { openNamed, readNamedSync } from '../ground/named'

interface Shard {
  path: string
  descriptor: number
}

/** An open checkpoint; close it. */
export interface Checkpoint {
  path: string
  tensors: Map<string, TensorEntry>
  metadata: Record<string, string>
  /** What config.json beside it says about how it was quantised, as JSON. */
  description: string
  /** Bytes from..to of a tensor, counted from its start. */
  read(tensor: TensorEntry, from: number, to: number): Uint8Array
  /** The file that holds the tensor, and the byte at which it begins there. */
  placeOf(tensor: TensorEntry): { path: string; position: number }
  /** Every file of the checkpoint, with what tells it from another of its name. */
  files(): { path: string; bytes: number; modifiedMs: number }[]
  close(): void
}

/** One read asks for at most this much, so that no slice takes the memory of the machine. */
export const largestRead = 256 * 2 ** 20

/** Opens FILE.safetensors, FILE.safetensors.index.json or FILE.gguf. Throws a UserError in one sentence. */
export function openCheckpoint(path: string): Checkpoint {
  const shards: Shard[] = []
  const close = () => shards.forEach(({ descriptor }) => closeSync(descriptor))
  try {
    const tensors = new Map<string, TensorEntry>()
    const metadata: Record<string, string> = {}
    const home = new Map<string, Shard>()
    const index = path.endsWith('.json') ? readIndex(path) : undefined
    for (const file of index ? shardsOf(path, index) : [path]) {
      const shard = { path: file, descriptor: openNamed(file) }
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
    const placeOf = (tensor: TensorEntry) => ({
      path: resolve(home.get(tensor.name)!.path),
      position: tensor.start
    })
    const files = () =>
      shards.map((shard) => {
        const { size, mtimeMs } = fstatSync(shard.descriptor)
        return { path: resolve(shard.path), bytes: size, modifiedMs: mtimeMs }
      })
    const description = quantizationConfig(dirname(path))
    return { path, tensors, metadata, description, read, placeOf, files, close }
  } catch (error) {
    close()
    throw error
  }
}

/** Opens a checkpoint for some work, which may be a promise, and closes it after. */
export function withCheckpoint<T>(path: string, work: (checkpoint: Checkpoint) => T): T {
  const checkpoint = openCheckpoint(path)
  let goesOn = false
  try {
    const result = work(checkpoint)
    if (!(result instanceof Promise)) return result
    goesOn = true
    return result.finally(() => checkpoint.close()) as T
  } finally {
    if (!goesOn) checkpoint.close()
  }
}

const mostConfigBytes = 2 ** 24
const configSchema = v.object({ quantization_config: v.record(v.string(), v.unknown()) })

/** Empty where there is no such file, or it says nothing. */
function quantizationConfig(folder: string): string {
  try {
    const path = join(folder, 'config.json')
    if (statSync(path).size > mostConfigBytes) return ''
    const parsed = v.safeParse(configSchema, JSON.parse(readFileSync(path, 'utf8')))
    return parsed.success ? JSON.stringify(parsed.output.quantization_config) : ''
  } catch {
    return ''
  }
}

const indexSchema = v.object({ weight_map: v.record(v.string(), v.string()) })

/** Names of tensors to names of files. */
function readIndex(path: string): Record<string, string> {
  const text = readNamedSync(path).toString()
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new UserError('usage', `${path} is no index: ${messageOf(error)}.`, { cause: error })
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

function readHeader(shard: Shard) {
  const status = fstatSync(shard.descriptor)
  if (!status.isFile()) throw new UserError('usage', `${shard.path} is no file; name a file.`)
  const { size } = status
  const first8 = readBytes(shard, 0, Math.min(8, size))
  if (isGguf(first8)) {
    return readGgufHeader(size, shard.path, (count) => readBytes(shard, 0, count))
  }
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
