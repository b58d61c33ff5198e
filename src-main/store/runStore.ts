import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import type { Run, RunSummary } from '@shared/contract/run'
import { UserError, messageOf } from '@shared/errors'
import { writeError, writeFileAtomic } from './atomicFile'
import { claim, currentOwner, release } from './ownership'
import { readRunFolder, runFileName, samplesName, stringifyRun } from './runFile'
import { RunWriter } from './runWriter'

const trashName = '.trash'

/** Where runs are kept unless told otherwise: $BLOCKSCOPE_STORE, else the user's data folder. */
export function defaultStoreFolder(): string {
  if (process.env.BLOCKSCOPE_STORE) return resolve(process.env.BLOCKSCOPE_STORE)
  if (process.platform === 'win32' && process.env.APPDATA) {
    return join(process.env.APPDATA, 'blockscope', 'runs')
  }
  if (process.platform === 'darwin') {
    return join(homedir(), 'Library', 'Application Support', 'blockscope', 'runs')
  }
  return join(process.env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'blockscope', 'runs')
}

/** '20261120-142530-sweep-nvfp4-mxfp8': sorts by time and can be read. */
export function makeRunId(kind: string, formats: readonly string[], now: Date): string {
  const stamp = now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15)
  const what = formats.length > 3 ? `${formats.length}-formats` : formats.join('-')
  return `${stamp}-${kind}-${what}`.replace(/[^\w.-]/g, '_')
}

export function summarize(run: Run): RunSummary {
  return {
    id: run.id,
    kind: run.kind,
    label: run.label,
    notes: run.notes,
    createdAt: run.createdAt,
    status: run.status,
    device: run.device?.name ?? '',
    formats: run.spec.formats,
    steps: run.steps.length,
    passed: run.steps.filter((step) => step.disposition === 'passed').length,
    failed: run.steps.filter((step) => ['incorrect', 'error'].includes(step.disposition)).length
  }
}

/** A line of samples.jsonl. */
export interface StoredRound {
  step: number
  samplesNs: number[]
  samplesMHz: number[]
  /** Fields of a measurement; absent in runs of version 0.1.0 and in those of others. */
  [field: string]: unknown
}

/** The folder of runs. Each run is a folder of its own, readable without this program. */
export class RunStore {
  constructor(readonly folder: string) {}

  /** Makes the folder of a new run and writes its run.json; `id` gets a number when it is taken. */
  async create(run: Run, folder?: string): Promise<RunWriter> {
    const wanted = run.id
    for (let attempt = 1; ; attempt++) {
      if (attempt > 1) run.id = `${wanted}-${attempt}`
      const path = folder ?? join(this.folder, run.id)
      try {
        await mkdir(folder ? path : this.folder, { recursive: true })
        if (!folder) await mkdir(path)
        await claim(path)
      } catch (thrown) {
        const taken = (thrown as NodeJS.ErrnoException).code === 'EEXIST'
        if (taken && !folder && attempt < 1000) continue
        if (taken) {
          throw new UserError(
            'usage',
            `${path} holds a run that is being written. Choose another folder.`
          )
        }
        throw writeError(path, thrown)
      }
      try {
        const writer = new RunWriter(path, run)
        await writer.save()
        return writer
      } catch (thrown) {
        await release(path)
        throw thrown
      }
    }
  }

  /** Everything of this run is written; others may change it now. */
  async finish(writer: RunWriter): Promise<void> {
    try {
      await writer.finish()
    } finally {
      await release(writer.folder)
    }
  }

  /** Newest first. A folder that cannot be read is listed with its problem and left untouched. */
  async list(): Promise<RunSummary[]> {
    let names: string[]
    try {
      const entries = await readdir(this.folder, { withFileTypes: true })
      names = entries.filter((e) => e.isDirectory() && e.name !== trashName).map((e) => e.name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw new UserError(
        'usage',
        `The run folder ${this.folder} cannot be read: ${messageOf(error)}.`
      )
    }
    const summaries = await Promise.all(
      names.map(async (name) => {
        try {
          return summarize(await this.read(name))
        } catch (error) {
          return unreadable(name, messageOf(error))
        }
      })
    )
    return summaries.sort(
      (a, b) => b.createdAt.localeCompare(a.createdAt) || b.id.localeCompare(a.id)
    )
  }

  /** A run by id. One that was cut off (its writer is gone) is read as 'interrupted', with the steps it finished. */
  async read(id: string): Promise<Run> {
    const folder = this.folderOf(id)
    if (!existsSync(folder)) throw noSuchRun(id)
    const run = await readRunFolder(folder)
    run.id = basename(folder)
    const unfinished = run.status === 'running' || run.status === 'queued'
    if (unfinished && !(await currentOwner(folder))) {
      run.status = 'interrupted'
      run.reason = `The program that wrote this run ended before the run did; ${run.steps.length} steps are saved.`
    }
    return run
  }

  /** Every sample of a step, of all rounds in order. */
  async samples(id: string, step: number): Promise<{ samplesNs: number[]; samplesMHz: number[] }> {
    const rounds = await this.rounds(id, step)
    return {
      samplesNs: rounds.flatMap(({ samplesNs }) => samplesNs),
      samplesMHz: rounds.flatMap(({ samplesMHz }) => samplesMHz)
    }
  }

  /** The rounds of a step, or of all, as RunWriter.samples wrote them; empty where there are none. */
  async rounds(id: string, step?: number): Promise<StoredRound[]> {
    const rounds: StoredRound[] = []
    let text: string
    try {
      text = await readFile(join(this.folderOf(id), samplesName), 'utf8')
    } catch {
      return rounds
    }
    for (const line of text.split('\n')) {
      if (line === '' || (step !== undefined && !line.startsWith(`{"step":${step},`))) continue
      try {
        rounds.push(JSON.parse(line) as StoredRound)
      } catch {
        // A torn last line of a run that was cut off.
      }
    }
    return rounds
  }

  /** A file of the run, such as profile.hatchet. */
  async file(id: string, name: string): Promise<Uint8Array> {
    try {
      return await readFile(join(this.folderOf(id), name))
    } catch {
      throw new UserError('usage', `Run ${id} has no ${name}.`)
    }
  }

  async annotate(id: string, change: { label?: string; notes?: string }): Promise<RunSummary> {
    const run = await this.read(id)
    await this.refuseIfOwned(id)
    if (change.label !== undefined) run.label = change.label
    if (change.notes !== undefined) run.notes = change.notes
    await writeFileAtomic(join(this.folderOf(id), runFileName), stringifyRun(run, 1) + '\n')
    return summarize(run)
  }

  /** Moves a run to the trash folder inside the store. */
  async remove(id: string): Promise<void> {
    const folder = this.folderOf(id)
    await this.refuseIfOwned(id)
    const trash = join(this.folder, trashName)
    await mkdir(trash, { recursive: true })
    await rm(join(trash, id), { recursive: true, force: true })
    try {
      await rename(folder, join(trash, id))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw noSuchRun(id)
      throw writeError(folder, error)
    }
  }

  async restore(id: string): Promise<void> {
    try {
      await rename(join(this.folder, trashName, this.safeName(id)), this.folderOf(id))
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'ENOENT') throw new UserError('usage', `The trash holds no run "${id}".`)
      throw writeError(this.folderOf(id), error)
    }
  }

  folderOf(id: string): string {
    return join(this.folder, this.safeName(id))
  }

  private safeName(id: string): string {
    if (!/^\w[\w.-]*$/.test(id)) throw noSuchRun(id)
    return id
  }

  private async refuseIfOwned(id: string): Promise<void> {
    const owner = await currentOwner(this.folderOf(id))
    if (owner) {
      throw new UserError(
        'usage',
        `Run ${id} is being written by process ${owner.pid} on ${owner.host}; wait for its end or cancel it.`
      )
    }
  }
}

function noSuchRun(id: string): UserError {
  return new UserError(
    'usage',
    `There is no run "${id}". "blockscope runs list" shows what there is.`
  )
}

function unreadable(name: string, problem: string): RunSummary {
  return {
    id: name,
    kind: 'validate',
    label: '',
    notes: '',
    createdAt: '',
    status: 'failed',
    device: '',
    formats: [],
    steps: 0,
    passed: 0,
    failed: 0,
    problem
  }
}
