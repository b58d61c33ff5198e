/** Profiles from files on disk, for the commands that read them. */
import { closeSync, existsSync, fstatSync, readSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf, UserError } from '@shared/errors'
import { profileNames } from '@shared/profile/ask/profileNames'
import { joinProfiles, type PartOfProfile } from '@shared/profile/read/joinProfiles'
import { BlockSource } from '@shared/profile/read/byteSource'
import {
  openProfileAt,
  parserOf,
  ProfileReader,
  type OpenedProfile
} from '@shared/profile/read/openProfile'
import type { ProfileTree } from '@shared/profile/tree/profileTree'
import { bytesOf } from '@shared/units'
import { timelineOf } from '@shared/profile/timelineOf'
import type { ProfileReaderRow } from '@shared/profile/read/reader'
import { rocprofCsvReader, runReader } from '@shared/profile/read/readers'
import { treeOfRun } from '@shared/profile/read/runTree'
import { sniffFormat } from '@shared/profile/read/sniffFormat'
import { isFolder, missing, openNamed, readError } from '../ground/named'
import { captureFolderOf, openCapture } from '../capture/captureFolder'
import { clearProgress, printNote, showProgress, showsProgress } from '../ground/terminal'
import { profileName } from '../store/derivedFiles'
import { readRunFolder, runFileName } from '../store/runFile'
import { defaultStoreFolder, RunStore } from '../store/runStore'
import { capturePlace } from './capturePlace'
import { isNsysReport, withNsysExport } from './nsysReport'

const chunkBytes = 4 << 20
const headBytes = 4096
/** Smaller files are read before a person could read the progress. */
const progressFrom = 50 << 20

/** The tree of one file, or of several joined: ranks of a training, phases of a session, others by file name. */
export async function openProfileFiles(files: readonly string[]): Promise<ProfileTree> {
  return (await openTogether(files, { timeline: false })).tree
}

/**
 * As openProfileFiles, whatever the files hold.
 * @param timeline of several files too: without, they are let go one by one, for they are as large as the files
 */
export async function openTogether(
  files: readonly string[],
  { timeline }: { timeline: boolean }
): Promise<OpenedProfile> {
  if (files.length === 1) return openProfileFile(files[0]!)
  if (files.every(isRocprofCsv)) return readTogether(files)
  const parts: PartOfProfile[] = []
  const names = profileNames(files, (name) => name)
  for (const [at, file] of files.entries()) {
    const opened = await openProfileFile(file)
    const { tree, rank } = opened
    parts.push({
      fileName: names[at]!,
      tree,
      rank,
      timeline: timeline ? timelineOf(opened) : null
    })
  }
  return joinProfiles(parts)
}

/** rocprofv3 writes a file per domain; those of one process are one profile. */
function isRocprofCsv(file: string): boolean {
  return existsSync(file) && statSync(file).isFile() && readerOf(file) === rocprofCsvReader
}

function readTogether(files: readonly string[]): OpenedProfile {
  const name = `${basename(files[0]!)} and ${files.length - 1} more`
  const parser = parserOf(rocprofCsvReader, name)
  for (const file of files) {
    const handle = openNamed(file)
    try {
      eachChunk(handle, basename(file), (chunk) => parser.write(chunk))
    } finally {
      closeSync(handle)
    }
  }
  return parser.finish()
}

/** A profile from a file, standard input ('-'), a run's folder or its id: finished or cut off, what its steps say. */
export async function openProfileFile(words: string): Promise<OpenedProfile> {
  if (words === '-') return readInChunks(0, 'standard input')
  const path = await placeOf(words)
  const capture = captureFolderOf(path)
  if (capture !== undefined) return openCapture(capture, true).finish()
  const file = profilePath(path)
  // Steps of a run that was cut off lie beside its run.json.
  if (basename(file) === runFileName && readerOf(file) === runReader) {
    const run = await readRunFolder(dirname(file))
    return { run, tree: treeOfRun(run), timeline: null }
  }
  if (isNsysReport(file)) return withNsysExport(file, (database) => readFileAt(database))
  return readFileAt(file)
}

function readFileAt(file: string): OpenedProfile {
  const handle = openNamed(file)
  try {
    return readDatabaseFile(handle, file) ?? readInChunks(handle, basename(file))
  } finally {
    closeSync(handle)
  }
}

/** A database is read where its tables lie, and may be larger than memory; null where the file is none. */
function readDatabaseFile(handle: number, file: string): OpenedProfile | null {
  const status = fstatSync(handle)
  // A pipe has no places.
  if (!status.isFile()) return null
  const name = basename(file)
  const source = new BlockSource(status.size, (at, length) => {
    const block = Buffer.alloc(length)
    const size = readable(name, () => readSync(handle, block, 0, length, at))
    return block.subarray(0, size)
  })
  const opened = openProfileAt(source, name)
  const journal = `${file}-wal`
  if (opened && existsSync(journal) && statSync(journal).size > 0) {
    opened.tree.warnings.push(
      `${basename(journal)} holds changes that are not in ${name} yet and were not read: run sqlite3 ${name} 'PRAGMA wal_checkpoint'.`
    )
  }
  return opened
}

/** The reader of a file by how it begins; undefined where it is no profile or begins with too much else. */
function readerOf(file: string): ProfileReaderRow | undefined {
  const handle = openNamed(file)
  try {
    const head = Buffer.alloc(headBytes)
    const found = sniffFormat(head.subarray(0, readSync(handle, head, 0, head.length, 0)), true)
    return found && 'reader' in found ? found.reader : undefined
  } finally {
    closeSync(handle)
  }
}

function readable<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw readError(path, error)
  }
}

/** A name that is no file here may be the id of a run in the store, cut short or "latest". */
async function placeOf(given: string): Promise<string> {
  const words = capturePlace(given)
  if (existsSync(words) || /[/\\.]/.test(words)) return words
  const store = new RunStore(defaultStoreFolder())
  try {
    return store.folderOf(await store.find(words))
  } catch (error) {
    throw new UserError('usage', `${words} is no file here, and as a run: ${messageOf(error)}`, {
      cause: error
    })
  }
}

function profilePath(path: string): string {
  if (!existsSync(path)) throw missing(path)
  if (!isFolder(path)) return path
  // The run itself before what was made from it.
  for (const name of [runFileName, profileName]) {
    if (existsSync(join(path, name))) return join(path, name)
  }
  throw new UserError(
    'usage',
    `${path} is a folder without a ${runFileName} or ${profileName}: name a profile or the folder of a run.`
  )
}

/** Never holds more of the file than one chunk, where its form allows that. */
function readInChunks(handle: number, name: string): OpenedProfile {
  const reader = new ProfileReader(name)
  eachChunk(handle, name, (chunk) => reader.write(chunk))
  return reader.finish()
}

function eachChunk(handle: number, name: string, take: (chunk: Uint8Array) => void): void {
  const total = fstatSync(handle).size
  const isLong = showsProgress() && total > progressFrom
  for (let at = 0; ;) {
    const chunk = Buffer.allocUnsafe(chunkBytes)
    const size = readable(name, () => readSync(handle, chunk, 0, chunk.length, null))
    if (size === 0) break
    take(chunk.subarray(0, size))
    at += size
    if (isLong) showProgress(`Reading ${name}: ${bytesOf(at, total)}`)
  }
  clearProgress()
}

/** Warnings of a reader, on stderr so that they do not mix with what a script reads. */
export function printWarnings(tree: ProfileTree): void {
  printNote(tree.warnings)
}
