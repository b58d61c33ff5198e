import { readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** While a process writes a run, the folder says which: two programs on one store never write the same run. */
const ownerName = 'owner.json'

export interface Owner {
  pid: number
  host: string
}

export async function claim(folder: string): Promise<void> {
  const owner: Owner = { pid: process.pid, host: hostname() }
  await writeFile(join(folder, ownerName), JSON.stringify(owner), { flag: 'wx' })
}

export async function release(folder: string): Promise<void> {
  await rm(join(folder, ownerName), { force: true })
}

/** The process writing this run now; undefined when nobody is, also when the one who did is gone. */
export async function currentOwner(folder: string): Promise<Owner | undefined> {
  let owner: Owner
  try {
    owner = JSON.parse(await readFile(join(folder, ownerName), 'utf8')) as Owner
  } catch {
    return undefined
  }
  if (owner.host !== hostname()) return owner
  try {
    process.kill(owner.pid, 0)
    return owner
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? owner : undefined
  }
}
