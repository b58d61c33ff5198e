/**
 * While a process writes a run, the folder says which: two programs on one store never write the same run, and a run whose
 * writer is gone is known as cut off, wherever and however it ended.
 */
import { access, readFile, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { writeFileAtomic, writeNewFile } from '../ground/files'
import { isAtWork, ownerSchema, thisProcess, type Owner } from '../ground/processes'

export const ownerName = 'owner.json'
/** Left in the folder by who wants the run to end; its writer looks for it. */
const cancelName = 'cancel.json'

/** How often a writer says that it lives, and looks whether it shall end. */
const beatMs = 2000

/** The right to write a run's folder. */
export class Claim {
  private readonly abort = new AbortController()
  private readonly timer: NodeJS.Timeout

  private constructor(private readonly folder: string) {
    this.timer = setInterval(() => void this.beat(), beatMs)
    this.timer.unref()
  }

  /** Rejects with EEXIST when another process has it. */
  static async take(folder: string): Promise<Claim> {
    await writeNewFile(join(folder, ownerName), JSON.stringify(thisProcess()))
    return new Claim(folder)
  }

  /** Aborted when someone outside asked for the end of this run. */
  get cancelled(): AbortSignal {
    return this.abort.signal
  }

  async release(): Promise<void> {
    clearInterval(this.timer)
    await forget(this.folder)
  }

  private async beat(): Promise<void> {
    const now = new Date()
    // A folder that is gone, or on a share that is away: the next beat tries again.
    await utimes(join(this.folder, ownerName), now, now).catch(() => {})
    await access(join(this.folder, cancelName)).then(
      () => this.abort.abort(),
      () => {}
    )
  }
}

/** Asks the writer of a run, in whatever process it is, to end it. */
export async function askToCancel(folder: string): Promise<void> {
  await writeFileAtomic(join(folder, cancelName), `{"asked":"${new Date().toISOString()}"}\n`)
}

/** No process writes this run now. */
export async function forget(folder: string): Promise<void> {
  await rm(join(folder, ownerName), { force: true })
  await rm(join(folder, cancelName), { force: true })
}

/** The process writing this run now; undefined when nobody is, also when the one who did is gone. */
export async function currentOwner(folder: string): Promise<Owner | undefined> {
  const path = join(folder, ownerName)
  let text: string
  let beatAt: number
  try {
    text = await readFile(path, 'utf8')
    beatAt = (await stat(path)).mtimeMs
  } catch {
    return undefined
  }
  const owner = parseOwner(text) ?? unknownOwner
  return isAtWork(owner, beatAt) ? owner : undefined
}

const unknownOwner: Owner = { pid: 1, host: 'an unknown machine', machine: '' }

function parseOwner(text: string): Owner | undefined {
  try {
    const parsed = v.safeParse(ownerSchema, JSON.parse(text))
    return parsed.success ? parsed.output : undefined
  } catch {
    return undefined
  }
}
