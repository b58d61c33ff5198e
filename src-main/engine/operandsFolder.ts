/** Folders for operands that Python kernels read, each named after the engine process that made it. */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRunning } from '../ground/processes'

const folderName = /^blockscope-operands-(\d+)-/
const dayMs = 24 * 60 * 60 * 1000

interface Found {
  pid: number
  path: string
}

async function folders(): Promise<Found[]> {
  return (await readdir(tmpdir())).flatMap((name) => {
    const pid = folderName.exec(name)?.[1]
    return pid === undefined ? [] : [{ pid: Number(pid), path: join(tmpdir(), name) }]
  })
}

const remove = (path: string) => rm(path, { recursive: true, force: true }).catch(() => {})

/**
 * A new one. Those of processes that ended with their parent, a day ago or more, are removed: a younger one may be of a
 * container that has process ids of its own.
 */
export async function makeOperandsFolder(): Promise<string> {
  for (const { pid, path } of await folders()) {
    if (isRunning(pid)) continue
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }))
    // Another user's stay.
    // eslint-disable-next-line no-restricted-properties -- a file's time is the wall clock's
    if (Date.now() - mtimeMs > dayMs) await remove(path)
  }
  return mkdtemp(join(tmpdir(), `blockscope-operands-${process.pid}-`))
}

/** Removes what an engine left that was ended; for its parent, which knows that this process id was the engine's. */
export async function removeOperandsOf(engine: number): Promise<void> {
  const found = await folders().catch(() => [])
  await Promise.all(found.filter(({ pid }) => pid === engine).map(({ path }) => remove(path)))
}
