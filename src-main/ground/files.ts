/**
 * The one place that writes files; lint keeps every other file from it. A file appears whole or not at all, is its owner's
 * alone, and replaces another only when that was asked for.
 */
import {
  closeSync,
  constants,
  accessSync,
  fsyncSync,
  linkSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync
} from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setImmediate as otherWork } from 'node:timers/promises'
import { messageOf, UserError } from '@shared/errors'
import { turns } from './turns'

/** Runs hold paths, host names and notes: nobody else on the machine reads them. */
const ownersFile = 0o600
const ownersFolder = 0o700

/** Turns a failed write into one sentence; nothing that was on disk before is touched. */
export function writeError(path: string, thrown: unknown): UserError {
  const code = (thrown as NodeJS.ErrnoException).code
  const cause = { cause: thrown }
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new UserError(
        'failed',
        `The disk is full: ${path} could not be written. Earlier results are kept; free some space and run again.`,
        cause
      )
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new UserError(
        'usage',
        `${path} cannot be written: no permission. Choose another folder.`,
        cause
      )
    case 'ENOENT':
      return new UserError(
        'usage',
        `${path} cannot be written: there is no folder ${dirname(path)}.`,
        cause
      )
    case 'ENOTDIR':
      return new UserError(
        'usage',
        `${path} cannot be written: a part of its path is no folder.`,
        cause
      )
    case 'EISDIR':
      return new UserError('usage', `${path} is a folder; name a file.`, cause)
    case 'ENAMETOOLONG':
      return new UserError('usage', `${path} cannot be written: the name is too long.`, cause)
    default:
      return new UserError(
        'failed',
        `${path} could not be written (${code ?? messageOf(thrown)}).`,
        cause
      )
  }
}

/** A folder of this program's own, and those above it that are missing. Throws a UserError. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: ownersFolder })
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOTDIR')
      throw new UserError('usage', `${path} is no folder, nor can it be made one.`, {
        cause: thrown
      })
    throw writeError(path, thrown)
  }
}

/** Makes a folder that is not there yet; throws what mkdir throws. */
export async function makeNewFolder(path: string): Promise<void> {
  await mkdir(path, { mode: ownersFolder })
}

/** A small new file; throws what open throws, EEXIST when it is there. */
export async function writeNewFile(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', ownersFile)
  try {
    await file.writeFile(text)
  } finally {
    await file.close()
  }
}

const writesInTurn = turns()

/** Writes a file of this program's own whole or not at all: to a neighbour first, synced, then renamed over the old one. */
export function writeFileAtomic(path: string, data: string | Uint8Array): Promise<void> {
  return writesInTurn(path, async () => {
    const temporary = `${path}.${process.pid}.tmp`
    try {
      const file = await open(temporary, 'w', ownersFile)
      try {
        await file.writeFile(data)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(temporary, path)
    } catch (thrown) {
      await rm(temporary, { force: true }).catch(() => {})
      throw writeError(path, thrown)
    }
  })
}

/** A few bytes of a file of this program's own that other processes map: they see them at once, and all of them. */
export function writeAt(path: string, position: number, bytes: Uint8Array): void {
  try {
    const file = openSync(path, 'r+')
    try {
      writeSync(file, bytes, 0, bytes.length, position)
    } finally {
      closeSync(file)
    }
  } catch (thrown) {
    throw writeError(path, thrown)
  }
}

/** Adds whole lines to a file and syncs it, so that a killed process loses at most the line being written. */
export async function appendLines(path: string, lines: string): Promise<void> {
  try {
    const file = await open(path, 'a', ownersFile)
    try {
      await file.appendFile(lines)
      await file.datasync()
    } finally {
      await file.close()
    }
  } catch (thrown) {
    throw writeError(path, thrown)
  }
}

export interface OutputOptions {
  /** Replace a file that is there. */
  force?: boolean
}

/** Whether a file can be written under this name, asked before work is spent on what goes into it. Throws a UserError. */
export function checkOutput(path: string, { force }: OutputOptions): void {
  const existing = statOf(path)
  if (existing?.isDirectory()) throw writeError(path, { code: 'EISDIR' })
  if (existing?.isFile() && !force) throw existsAlready(path)
  try {
    const isPlace = existing !== undefined && !existing.isFile()
    // The dot asks for a folder, where a file would be writable too.
    accessSync(isPlace ? path : `${dirname(path)}/.`, constants.W_OK)
  } catch (thrown) {
    throw writeError(path, thrown)
  }
}

const existsAlready = (path: string) =>
  new UserError('usage', `${path} exists; choose another name, or replace it with --force.`)

function statOf(path: string) {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

/**
 * A file that a person named, on its way: it bears its name once it is whole. Throws a UserError when it is there already,
 * unless `force`. A device or a pipe is written as it is.
 */
export class OutputFile {
  /** Bytes written. */
  bytes = 0
  private readonly target: string
  private readonly unfinished: string | undefined
  private readonly descriptor: number
  private isOpen = true

  constructor(
    readonly path: string,
    private readonly options: OutputOptions
  ) {
    checkOutput(path, options)
    const existing = statOf(path)
    // A link is followed: what it leads to is replaced, not the link.
    this.target = existing ? realpathSync(path) : path
    if (!existing || existing.isFile()) {
      const name = `.${basename(this.target)}.${process.pid}.unfinished`
      this.unfinished = join(dirname(this.target), name)
    }
    try {
      this.descriptor = openSync(this.unfinished ?? this.target, 'w', ownersFile)
    } catch (thrown) {
      throw writeError(path, thrown)
    }
    process.once('exit', this.abandon)
  }

  write(data: string | Uint8Array): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data
    try {
      for (let done = 0; done < bytes.length;)
        done += writeSync(this.descriptor, bytes, done, bytes.length - done)
    } catch (thrown) {
      this.abandon()
      throw writeError(this.path, thrown)
    }
    this.bytes += bytes.length
  }

  /** It is whole: from here on it bears its name. */
  commit(): void {
    try {
      if (this.unfinished) {
        fsyncSync(this.descriptor)
        this.close()
        giveName(this.unfinished, this.target, this.path, this.options)
      } else this.close()
    } catch (thrown) {
      this.abandon()
      if (thrown instanceof UserError) throw thrown
      throw writeError(this.path, thrown)
    }
    process.off('exit', this.abandon)
  }

  /** Nothing of it stays. */
  readonly abandon = (): void => {
    process.off('exit', this.abandon)
    this.close()
    if (this.unfinished) rmSync(this.unfinished, { force: true })
  }

  private close(): void {
    if (this.isOpen) closeSync(this.descriptor)
    this.isOpen = false
  }
}

/**
 * An unfinished file takes its name `target`. Throws a UserError that speaks of `path` when a file bears it already, unless
 * `force`, and what link or rename throw.
 */
export function giveName(
  unfinished: string,
  target: string,
  path: string,
  { force }: OutputOptions
): void {
  if (force) return renameSync(unfinished, target)
  try {
    // Unlike a rename, a link replaces nothing, not even a file that has come meanwhile.
    linkSync(unfinished, target)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') throw existsAlready(path)
    // A file system without links.
    if (statOf(target)) throw existsAlready(path)
    return renameSync(unfinished, target)
  }
  rmSync(unfinished)
}

/** Between pieces of this size signals are heard. */
const breathAfter = 8 << 20

/** Writes a file that a person named, whole or not at all, also when interrupted. Returns its bytes. Throws a UserError. */
export async function writeOutput(
  path: string,
  pieces: Iterable<string | Uint8Array>,
  options: OutputOptions
): Promise<number> {
  const file = new OutputFile(path, options)
  const interrupted = (signal: NodeJS.Signals) => {
    file.abandon()
    process.exit(signal === 'SIGINT' ? 130 : 143)
  }
  process.once('SIGINT', interrupted)
  process.once('SIGTERM', interrupted)
  try {
    let breathed = 0
    for (const piece of pieces) {
      file.write(piece)
      if (file.bytes - breathed < breathAfter) continue
      breathed = file.bytes
      await otherWork()
    }
    file.commit()
    return file.bytes
  } catch (error) {
    file.abandon()
    throw error
  } finally {
    process.off('SIGINT', interrupted)
    process.off('SIGTERM', interrupted)
  }
}
