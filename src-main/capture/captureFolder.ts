/** The folder of a capture: what the processes of a program write into it, and what is made of that. */
import { closeSync, existsSync, readdirSync, readSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  captureFileName,
  hasLaunched,
  isShardName,
  saysCapture
} from '@shared/capture/captureFiles'
import { CaptureReader, type CaptureSink } from '@shared/capture/captureReader'
import {
  controlBytes,
  controlStateAt,
  controlStates,
  headerBytes,
  isShard,
  newControl,
  readControl,
  readHeader,
  type ControlCounts,
  type ShardHeader
} from '@shared/capture/shardForm'
import { UserError } from '@shared/errors'
import { CaptureProfile } from '@shared/profile/read/captureProfile'
import { makeFolder, writeAt, writeFileAtomic } from '../ground/files'
import { isFolder, openNamed } from '../ground/named'

export const captureProfileName = 'profile.hatchet'
const controlName = 'control'
const chunkBytes = 4 << 20

const isOfCapture = (name: string) =>
  isShardName(name) || [captureFileName, captureProfileName, controlName].includes(name)

/** The folder of the capture that a path names: itself, or that of its capture.json; undefined where it names none. */
export function captureFolderOf(path: string): string | undefined {
  if (basename(path) === captureFileName && existsSync(path))
    return saysCapture(firstBytes(path, 200).toString()) ? dirname(path) : undefined
  const isOne = existsSync(join(path, captureFileName)) || shardFiles(path).length > 0
  return isOne ? path : undefined
}

/** Makes the folder ready for the processes. @throws UserError where it holds anything, unless `force` */
export async function prepareFolder(
  path: string,
  isWaiting: boolean,
  force = false
): Promise<void> {
  const present = isFolder(path) ? readdirSync(path) : []
  const foreign = present.find((name) => !isOfCapture(name))
  if (foreign !== undefined)
    throw new UserError(
      'usage',
      `${path} holds ${foreign}, which is of no capture; name a new folder with --out.`
    )
  if (present.length > 0 && !force)
    throw new UserError(
      'usage',
      `${path} holds a capture; name another folder, or replace it with --force.`
    )
  const isInUse = shardHeaders(path).some(({ state, pid }) => state === 'recording' && isAlive(pid))
  if (isInUse)
    throw new UserError(
      'usage',
      `${path} is being written by a capture that still runs; name another folder with --out.`
    )
  await makeFolder(path)
  for (const name of present) rmSync(join(path, name), { force: true })
  const state = isWaiting ? controlStates.waiting : controlStates.recording
  await writeFileAtomic(join(path, controlName), newControl(state))
}

/** Processes map the file: they see it at their next look. */
export function setState(path: string, state: keyof typeof controlStates): void {
  const word = new Uint8Array(4)
  new DataView(word.buffer).setUint32(0, controlStates[state], true)
  writeAt(join(path, controlName), controlStateAt, word)
}

export function controlCounts(path: string): ControlCounts {
  return readControl(firstBytes(join(path, controlName), controlBytes))
}

export function shardFiles(path: string): string[] {
  if (!isFolder(path)) return []
  return readdirSync(path)
    .filter((name) => isShardName(name))
    .sort()
    .map((name) => join(path, name))
}

/** How far each process is, while they run too. */
export function shardHeaders(path: string): (ShardHeader & { fileBytes: number })[] {
  return shardFiles(path).flatMap((file) => {
    const bytes = firstBytes(file, headerBytes)
    // One that is being made has no header yet.
    if (bytes.length < headerBytes || !isShard(bytes)) return []
    return [{ ...readHeader(bytes, file), fileBytes: statSync(file).size }]
  })
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** All shards of a folder, or one, through a sink. */
export function readCapture(path: string, sink: CaptureSink): CaptureReader {
  const reader = new CaptureReader(sink)
  readInto(reader, path)
  return reader
}

/** The profile of a capture's folder. @param timeline every event too, which takes memory for each */
export function openCapture(path: string, timeline: boolean) {
  const launching = shardHeaders(path).filter(hasLaunched)
  const profile = new CaptureProfile({ severalProcesses: launching.length > 1, timeline })
  readInto(profile.reader, path)
  return profile
}

function readInto(reader: CaptureReader, path: string): void {
  const folder = captureFolderOf(path) ?? path
  const files = isFolder(folder) ? shardFiles(folder) : [folder]
  if (files.length === 0) throw new UserError('usage', noShards(path))
  const chunk = Buffer.allocUnsafe(chunkBytes)
  for (const file of files) {
    const handle = openNamed(file)
    try {
      reader.open(file)
      for (let size; (size = readSync(handle, chunk, 0, chunk.length, null)) > 0;)
        reader.write(chunk.subarray(0, size))
      reader.close()
    } finally {
      closeSync(handle)
    }
  }
}

/** Throws a UserError for a folder that is no capture's. */
export function refuseFolder(path: string): void {
  if (isFolder(path) && captureFolderOf(path) === undefined)
    throw new UserError('usage', `${path} is a folder, and of no capture; name the file in it.`)
}

export const noShards = (folder: string): string =>
  `${folder} holds no shard: no process that was captured used a GPU.`

function firstBytes(file: string, size: number): Buffer {
  const handle = openNamed(file)
  try {
    const bytes = Buffer.alloc(size)
    return bytes.subarray(0, readSync(handle, bytes, 0, size, 0))
  } finally {
    closeSync(handle)
  }
}
