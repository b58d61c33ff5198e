/** What a person named and is read: the one place that says why it cannot be; lint keeps the sentence from others. */
import { openSync, readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { messageOf, UserError } from '@shared/errors'

const reasons: Record<string, string> = {
  ENOTDIR: 'it, or a part of its path, is no folder',
  EACCES: 'no permission',
  EPERM: 'no permission',
  ELOOP: 'its symbolic links lead nowhere',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open',
  EIO: 'the disk does not give it'
}

/** @param what a path, or the flag and the path; `then`: what to do, without a full stop */
export function missing(what: string, then?: string): UserError {
  return new UserError('usage', `${what} does not exist${then ? `; ${then}` : ''}.`)
}

/** Turns a failed read into one sentence. @param what, then as of `missing` */
export function readError(what: string, thrown: unknown, then?: string): UserError {
  if (thrown instanceof UserError) return thrown
  const { code = '' } = thrown as NodeJS.ErrnoException
  const cause = { cause: thrown }
  if (code === 'ENOENT') return missing(what, then)
  if (code === 'EISDIR') return new UserError('usage', `${what} is a folder; name a file.`, cause)
  return new UserError(
    'usage',
    `${what} cannot be read: ${reasons[code] ?? messageOf(thrown)}.`,
    cause
  )
}

export const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** All of a file. Throws a UserError. @param what, then as of `missing` */
export async function readNamed(path: string, what = path, then?: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw readError(what, error, then)
  }
}

/** The same, at once. */
export function readNamedSync(path: string, what = path): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw readError(what, error)
  }
}

/** A descriptor to read a file by. Throws a UserError. */
export function openNamed(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (error) {
    throw readError(path, error)
  }
}
