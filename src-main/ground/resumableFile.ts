/**
 * A large file that takes long to make: until it is whole it is NAME.partial, and NAME.partial.journal beside it says what
 * is done, so that the same command goes on where a killed one stopped. A step is written down only after its bytes are on
 * the disk.
 */
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import * as v from 'valibot'
import { UserError } from '@shared/errors'
import { checkOutput, giveName, writeError, type OutputOptions } from './files'
import { isAtWork, ownerSchema, thisProcess } from './processes'

export interface ResumablePlan {
  /** Says what the file is made from and how: only the same plan goes on with what is there. */
  identity: string
  /** The first bytes of the file. */
  head: Uint8Array
  /** Of the whole file. */
  bytes: number
}

const lineSchema = v.object({
  identity: v.optional(v.string()),
  owner: v.optional(ownerSchema),
  step: v.optional(v.unknown())
})
type JournalLine = v.InferOutput<typeof lineSchema>

/** How often what is done goes to the disk, the first step at once: what a kill costs at most. */
const flushAfterMs = 2000

export class ResumableFile {
  private readonly pending: unknown[] = []
  private flushing: Promise<void> | undefined
  private failure: unknown
  private lastFlush = -Infinity

  private constructor(
    readonly path: string,
    /** Where the bytes go until the file is whole. */
    readonly partial: string,
    private readonly options: OutputOptions,
    private readonly file: FileHandle,
    private readonly journal: FileHandle,
    /** Steps that earlier runs wrote down, in their order. */
    readonly done: readonly unknown[]
  ) {}

  /** Throws a UserError when a file of the name is there, or an unfinished one of another plan, unless `force`. */
  static async open(
    path: string,
    { identity, head, bytes }: ResumablePlan,
    options: OutputOptions
  ): Promise<ResumableFile> {
    checkOutput(path, options)
    const partial = `${path}.partial`
    const journalPath = `${partial}.journal`
    const done = earlierSteps(path, partial, journalPath, identity, options)
    const owner = thisProcess()
    let file: FileHandle | undefined
    let journal: FileHandle | undefined
    try {
      journal = await open(journalPath, done ? 'a' : 'w', 0o600)
      // A line that a kill cut off would spoil the one written after it.
      if (done) await journal.truncate(done.journalBytes)
      await journal.appendFile(lineOf(done ? { owner } : { identity, owner }))
      await journal.datasync()
      file = await open(partial, done ? 'r+' : 'w', 0o600)
      if (!done) {
        await file.truncate(bytes)
        await writeWhole(file, head, 0)
      }
      return new ResumableFile(path, partial, options, file, journal, done?.steps ?? [])
    } catch (thrown) {
      await file?.close()
      await journal?.close()
      throw writeError(path, thrown)
    }
  }

  async write(position: number, bytes: Uint8Array): Promise<void> {
    try {
      await writeWhole(this.file, bytes, position)
    } catch (thrown) {
      throw writeError(this.path, thrown)
    }
  }

  /** What was done, as JSON can hold it; now and then everything so far goes to the disk, beside further work. */
  record(step: unknown): void {
    this.pending.push(step)
    if (performance.now() - this.lastFlush < flushAfterMs || this.flushing) return
    this.flushing = this.flush().then(
      () => (this.flushing = undefined),
      (error: unknown) => {
        this.failure ??= error
        this.flushing = undefined
      }
    )
  }

  /** Everything is written: from here on the file bears its name. */
  async commit(): Promise<void> {
    await this.settle()
    try {
      await this.file.sync()
    } catch (thrown) {
      throw writeError(this.path, thrown)
    }
    await this.closeAll()
    giveName(this.partial, this.path, this.path, this.options)
    rmSync(`${this.partial}.journal`, { force: true })
  }

  /** Leaves what is done for the next run. */
  async leave(): Promise<void> {
    try {
      await this.settle()
    } finally {
      await this.closeAll()
    }
  }

  private async settle(): Promise<void> {
    await this.flushing
    if (this.failure) throw this.failure
    await this.flush()
  }

  private async flush(): Promise<void> {
    const steps = this.pending.splice(0)
    this.lastFlush = performance.now()
    if (steps.length === 0) return
    try {
      await this.file.datasync()
      await this.journal.appendFile(steps.map((step) => lineOf({ step })).join(''))
      await this.journal.datasync()
    } catch (thrown) {
      throw writeError(this.path, thrown)
    }
    this.lastFlush = performance.now()
  }

  private async closeAll(): Promise<void> {
    await this.file.close()
    await this.journal.close()
  }
}

const lineOf = (line: JournalLine) => `${JSON.stringify(line)}\n`

async function writeWhole(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}

/** What there is to go on with; undefined to begin. Throws a UserError when it is not this command's to go on with. */
function earlierSteps(
  path: string,
  partial: string,
  journalPath: string,
  identity: string,
  { force }: OutputOptions
): { steps: unknown[]; journalBytes: number } | undefined {
  const { lines, bytes } = existsSync(journalPath)
    ? journalLines(readFileSync(journalPath, 'utf8'))
    : { lines: [], bytes: 0 }
  const owner = lines.findLast((line) => line.owner)?.owner
  if (owner && owner.pid !== process.pid && isAtWork(owner, lastWrite(partial, journalPath))) {
    throw new UserError('usage', `${path} is being written by process ${owner.pid}; wait for it.`)
  }
  const isThere = existsSync(partial)
  if (isThere && lines[0]?.identity === identity) {
    const steps = lines.flatMap(({ step }) => (step === undefined ? [] : [step]))
    return { steps, journalBytes: bytes }
  }
  if (isThere && !force) {
    throw new UserError(
      'usage',
      `${partial} was begun by another command or from other files; run that one again to finish it, or replace it with --force.`
    )
  }
  return undefined
}

/** When something was last written, in milliseconds since 1970. */
const lastWrite = (...paths: string[]) =>
  Math.max(0, ...paths.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0))

/** Up to the first line that a kill cut off. */
function journalLines(text: string): { lines: JournalLine[]; bytes: number } {
  const lines: JournalLine[] = []
  let bytes = 0
  for (const line of text.split('\n').slice(0, -1)) {
    let parsed: unknown
    try {
      parsed = JSON.parse(line)
    } catch {
      break
    }
    const found = v.safeParse(lineSchema, parsed)
    if (!found.success) break
    lines.push(found.output)
    bytes += Buffer.byteLength(line) + 1
  }
  return { lines, bytes }
}
