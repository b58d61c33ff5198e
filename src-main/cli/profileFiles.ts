/** Profiles from files on disk, for the commands that read them. */
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync
} from 'node:fs'
import { basename, join } from 'node:path'
import { messageOf, UserError } from '@shared/errors'
import { joinPhases, phaseOfFile } from '@shared/profile/joinPhases'
import { openProfile, type OpenedProfile } from '@shared/profile/openProfile'
import type { ProfileTree } from '@shared/profile/profileTree'
import { HatchetParser } from '@shared/profile/readHatchet'
import { sniffFormat } from '@shared/profile/sniffFormat'

const chunkBytes = 4 << 20
/** Smaller files are read before a person could read the progress. */
const progressFrom = 50 << 20

/** One profile from one file, or from several joined: parts as phases, others under their file names. */
export function openProfileFiles(files: readonly string[]): ProfileTree {
  if (files.length === 1) return openProfileFile(files[0]!).tree
  const inOrder = files.every((file) => phaseOfFile(file) !== null) ? byPhase(files) : files
  const phases = inOrder.map((file) => ({
    name: phaseOfFile(file) ?? basename(file),
    tree: openProfileFile(file).tree
  }))
  return joinPhases(phases)
}

/** 'part_10' after 'part_2', where a shell lists it before. */
function byPhase(files: readonly string[]): string[] {
  return [...files].sort((a, b) =>
    phaseOfFile(a)!.localeCompare(phaseOfFile(b)!, 'en', { numeric: true })
  )
}

/** A profile from a file, or from a run's folder. */
export function openProfileFile(path: string): OpenedProfile {
  const file = profilePath(path)
  const handle = readable(path, () => openSync(file, 'r'))
  try {
    const head = Buffer.alloc(4096)
    const headSize = readSync(handle, head, 0, head.length, 0)
    if (sniffFormat(head.subarray(0, headSize)) === 'hatchet') {
      return { tree: parseInChunks(handle, basename(file)), timeline: null }
    }
  } finally {
    closeSync(handle)
  }
  // These forms are read whole; Node reads 2 GiB at most.
  return openProfile(
    readable(path, () => readFileSync(file)),
    basename(file)
  )
}

function readable<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new UserError('usage', `${path} cannot be read: ${messageOf(error)}.`, { cause: error })
  }
}

function profilePath(path: string): string {
  if (!existsSync(path)) throw new UserError('usage', `${path} does not exist.`)
  if (!statSync(path).isDirectory()) return path
  const inFolder = join(path, 'profile.hatchet')
  if (existsSync(inFolder)) return inFolder
  throw new UserError('usage', `${path} is a folder without a profile.hatchet.`)
}

/** Never holds more of the file than one chunk. */
function parseInChunks(handle: number, name: string): ProfileTree {
  const parser = new HatchetParser(name)
  const total = fstatSync(handle).size
  const showsProgress = process.stderr.isTTY && total > progressFrom
  for (let at = 0; at < total;) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, total - at))
    const size = readSync(handle, chunk, 0, chunk.length, at)
    if (size === 0) break
    const isMarked = at === 0 && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf
    parser.write(chunk.subarray(isMarked ? 3 : 0, size))
    at += size
    if (showsProgress)
      process.stderr.write(`\rReading ${name}: ${Math.floor((100 * at) / total)} %`)
  }
  if (showsProgress) process.stderr.write('\n')
  return parser.finish()
}

/** Warnings of a reader, on stderr so that they do not mix with what a script reads. */
export function printWarnings(tree: ProfileTree): void {
  for (const warning of tree.warnings) process.stderr.write(`${warning}\n`)
}
