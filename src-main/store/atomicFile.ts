import { open, rename, rm } from 'node:fs/promises'
import { UserError } from '@shared/errors'

/** Turns a failed write into one sentence; nothing that was on disk before is touched. */
export function writeError(path: string, thrown: unknown): UserError {
  const code = (thrown as NodeJS.ErrnoException).code
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new UserError(
      'failed',
      `The disk is full: ${path} could not be written. Earlier results are kept; free some space and run again.`,
      { cause: thrown }
    )
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new UserError(
      'usage',
      `${path} cannot be written: no permission. Choose another folder.`,
      {
        cause: thrown
      }
    )
  }
  return new UserError('failed', `${path} could not be written (${code ?? String(thrown)}).`, {
    cause: thrown
  })
}

/** Writes a file whole or not at all: to a neighbour first, synced, then renamed over the old one. */
export async function writeFileAtomic(path: string, data: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    const file = await open(temporary, 'w')
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
}

/** Adds whole lines to a file and syncs it, so that a killed process loses at most the line being written. */
export async function appendLines(path: string, lines: string): Promise<void> {
  try {
    const file = await open(path, 'a')
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
