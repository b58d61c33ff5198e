import { existsSync } from 'node:fs'
import { readdir, readFile, rename } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, isAbsolute, join, resolve } from 'node:path'
import type { Run, RunSummary, StoredRound } from '@shared/contract/run'
import { isRunId } from '@shared/contract/runId'
import { UserError, messageOf } from '@shared/errors'
import { outcomeOf } from '@shared/measurement/outcome'
import { makeFolder, makeNewFolder, writeError, writeFileAtomic } from '../ground/files'
import { readError } from '../ground/named'
import { turns } from '../ground/turns'
import { askToCancel, Claim, currentOwner, forget, ownerName } from './ownership'
import { readRounds } from './rounds'
import { readRunFolder, runFileName, stringifyRun } from './runFile'
import { keepSummary, keptSummary, stateOf, summarize } from './runSummaries'
import { RunWriter } from './runWriter'

const changesInTurn = turns()
const trashName = '.trash'
/** Captures that the app started lie beside the runs. */
export const capturesName = 'captures'

/** Where runs are kept unless told otherwise: $BLOCKSCOPE_STORE, else the user's data folder. */
export function defaultStoreFolder(): string {
  if (process.env.BLOCKSCOPE_STORE) return resolve(process.env.BLOCKSCOPE_STORE)
  if (process.platform === 'win32' && process.env.APPDATA) {
    return join(process.env.APPDATA, 'blockscope', 'runs')
  }
  if (process.platform === 'darwin') {
    return join(homedir(), 'Library', 'Application Support', 'blockscope', 'runs')
  }
  return join(
    baseFolder('XDG_DATA_HOME') ?? join(homedir(), '.local', 'share'),
    'blockscope',
    'runs'
  )
}

/** A folder that a variable of the XDG base directory specification names: empty and relative ones count as not set. */
export function baseFolder(variable: string): string | undefined {
  const folder = process.env[variable]
  return folder && isAbsolute(folder) ? folder : undefined
}

/** '20261120-142530-sweep-nvfp4-mxfp8': sorts by time and can be read. */
export function makeRunId(kind: string, formats: readonly string[], now: Date): string {
  const stamp = now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15)
  const what = formats.length > 3 ? `${formats.length}-formats` : formats.join('-')
  return `${stamp}-${kind}-${what}`.replace(/[^\w.-]/g, '_')
}

/** A run, and the folder that its files lie in. */
export interface LocatedRun {
  run: Run
  folder: string
}

/** The folder of runs. Each run is a folder of its own, readable without this program. */
export class RunStore {
  constructor(readonly folder: string) {}

  /** Makes the folder of a new run and writes its run.json; `id` gets a number when it is taken. */
  async create(run: Run, folder?: string): Promise<RunWriter> {
    const wanted = run.id
    for (let attempt = 1; ; attempt++) {
      if (attempt > 1) run.id = `${wanted}-${attempt}`
      const path = folder ?? this.folderOf(run.id)
      let claim: Claim
      await makeFolder(folder ? path : this.folder)
      try {
        if (folder) await refuseUnlessEmpty(folder)
        else await makeNewFolder(path)
        claim = await Claim.take(path)
      } catch (thrown) {
        if (thrown instanceof UserError) throw thrown
        const taken = (thrown as NodeJS.ErrnoException).code === 'EEXIST'
        if (taken && !folder && attempt < 1000) continue
        throw taken ? notEmpty(path) : writeError(path, thrown)
      }
      try {
        const writer = new RunWriter(path, run, claim)
        await writer.save()
        return writer
      } catch (thrown) {
        await claim.release()
        throw thrown
      }
    }
  }

  /** Everything of this run is written; others may change it now. */
  async finish(writer: RunWriter): Promise<void> {
    try {
      await writer.finish()
      await keepSummary(writer.folder, await stateOf(writer.folder), summarize(writer.run))
    } finally {
      await writer.claim.release()
    }
  }

  /** Newest first. A folder that cannot be read is listed with its problem and left untouched. */
  async list(): Promise<RunSummary[]> {
    const ids = await this.ids()
    const kept = await Promise.all(ids.map((id) => this.kept(id)))
    const summaries: RunSummary[] = []
    // One whole run in memory at a time.
    for (const [at, id] of ids.entries()) {
      const summary = kept[at] ?? (await this.summarized(id))
      if (summary) summaries.push(summary)
    }
    return summaries.sort(
      (a, b) => b.createdAt.localeCompare(a.createdAt) || b.id.localeCompare(a.id)
    )
  }

  /**
   * The id that a person means: an id, the beginning of one that no other has, or "latest". Throws a UserError when there is
   * none or more than one.
   */
  async find(words: string): Promise<string> {
    if (isRunId(words) && existsSync(this.folderOf(words))) return words
    if (words === 'latest') {
      const [newest] = (await this.list()).filter(({ problem }) => problem === undefined)
      if (newest) return newest.id
      throw new UserError('usage', `There are no runs in ${this.folder} yet.`)
    }
    // 'x' means x, also once it is gone: never its namesake 'x-2'.
    const isMeant = (id: string) =>
      words !== '' && id.startsWith(words) && !/^-\d+$/.test(id.slice(words.length))
    const matching = (await this.ids()).filter(isMeant).sort()
    if (matching.length === 1) return matching[0]!
    if (matching.length === 0) throw holdsRun(words) ? notOfTheStore(words) : noSuchRun(words)
    const some = matching.slice(-4).join(', ')
    throw new UserError('usage', `${matching.length} runs begin with "${words}", such as ${some}.`)
  }

  /** The run that a person means: by a folder that holds one, of this store or not, or as find() does. */
  async locate(words: string): Promise<LocatedRun> {
    if (holdsRun(words)) return { run: await readAsItStands(words), folder: words }
    const id = await this.find(words)
    return this.located(id)
  }

  /** A run of this store, and where it lies. */
  async located(id: string): Promise<LocatedRun> {
    return { run: await this.read(id), folder: this.folderOf(id) }
  }

  private async ids(): Promise<string[]> {
    try {
      const entries = await readdir(this.folder, { withFileTypes: true })
      return entries
        .filter((entry) => entry.isDirectory() && ![trashName, capturesName].includes(entry.name))
        .map(({ name }) => name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw readError(`The store ${this.folder}`, error)
    }
  }

  /** What was kept of a run, where that is of its present state; of a run that is being written nothing is kept. */
  private async kept(id: string): Promise<RunSummary | undefined> {
    if (!isRunId(id)) return undefined
    const folder = this.folderOf(id)
    const kept = await keptSummary(folder, await stateOf(folder))
    return kept && { ...kept, id }
  }

  /** Undefined for one that was removed meanwhile. */
  private async summarized(id: string): Promise<RunSummary | undefined> {
    try {
      const folder = this.folderOf(id)
      const state = await stateOf(folder)
      const summary = summarize(await this.read(id))
      if (!isUnfinished(summary)) await keepSummary(folder, state, summary)
      return summary
    } catch (error) {
      return this.isThere(id) ? unreadable(id, messageOf(error)) : undefined
    }
  }

  private isThere(id: string): boolean {
    return existsSync(join(this.folder, id))
  }

  /** A run by id. One that was cut off (its writer is gone) is read as 'interrupted', with the steps it finished. */
  async read(id: string): Promise<Run> {
    const folder = this.folderOf(id)
    if (!existsSync(folder)) throw noSuchRun(id)
    const run = await readAsItStands(folder)
    run.id = basename(folder)
    return run
  }

  /** One that was listed; undefined where it was removed meanwhile. */
  async readListed(id: string): Promise<Run | undefined> {
    try {
      return await this.read(id)
    } catch (error) {
      if (this.isThere(id)) throw error
      return undefined
    }
  }

  /** Every sample of a step, of all rounds in order. */
  async samples(id: string, step: number): Promise<{ samplesNs: number[]; samplesMHz: number[] }> {
    const rounds = await this.rounds(id, step)
    return {
      samplesNs: rounds.flatMap(({ samplesNs }) => samplesNs),
      samplesMHz: rounds.flatMap(({ samplesMHz }) => samplesMHz)
    }
  }

  /** The rounds of a step, or of all, as RunWriter.samples wrote them; empty where there are none. Throws a UserError. */
  rounds(id: string, step?: number): Promise<StoredRound[]> {
    return readRounds(this.folderOf(id), step)
  }

  /** A file of the run, such as profile.hatchet. */
  async file(id: string, name: string): Promise<Uint8Array> {
    try {
      return await readFile(join(this.folderOf(id), name))
    } catch {
      throw new UserError('usage', `Run ${id} has no ${name}.`)
    }
  }

  annotate(id: string, change: { label?: string; notes?: string }): Promise<RunSummary> {
    return changesInTurn(this.folderOf(id), async () => {
      const run = await this.read(id)
      await this.refuseIfOwned(id)
      if (change.label !== undefined) run.label = change.label
      if (change.notes !== undefined) run.notes = change.notes
      await this.rewrite(run)
      return summarize(run)
    })
  }

  /**
   * Asks the process that writes a run to end it: 'asked'. Where that process is gone the run is written as interrupted:
   * 'ended'. Throws a UserError for a run that is over.
   */
  async cancel(id: string): Promise<'asked' | 'ended'> {
    const run = await this.read(id)
    const folder = this.folderOf(id)
    if (isUnfinished(run)) {
      await askToCancel(folder)
      return 'asked'
    }
    // What was cut off reads as interrupted from here on, whatever becomes of process ids.
    if (run.status === 'interrupted' && existsSync(join(folder, ownerName))) {
      await this.rewrite(run)
      await forget(folder)
      return 'ended'
    }
    throw new UserError('usage', `Run ${id} is not running: it is ${run.status}.`)
  }

  private async rewrite(run: Run): Promise<void> {
    await writeFileAtomic(join(this.folderOf(run.id), runFileName), stringifyRun(run, 1) + '\n')
  }

  /** Moves a run to the trash folder inside the store, beside earlier ones of its name. */
  async remove(id: string): Promise<void> {
    const folder = this.folderOf(id)
    if (!existsSync(folder)) throw noSuchRun(id)
    await this.refuseIfOwned(id)
    const trash = join(this.folder, trashName)
    await makeFolder(trash)
    const inTrash = await this.trashed(id)
    const number = inTrash.length === 0 ? 1 : inTrash.at(-1)!.number + 1
    try {
      await rename(folder, join(trash, number === 1 ? id : `${id}~${number}`))
    } catch (error) {
      throw writeError(folder, error)
    }
  }

  /** Brings back what was removed last under this id. */
  async restore(id: string): Promise<void> {
    const last = (await this.trashed(id)).at(-1)
    if (!last) {
      const names = await this.trashNames()
      const held = names.length > 0 ? ` It holds ${names.slice(-5).join(', ')}.` : ''
      throw new UserError('usage', `The trash holds no run "${id}".${held}`)
    }
    const folder = this.folderOf(id)
    if (existsSync(folder))
      throw new UserError('usage', `There is a run ${id} already; remove that one first.`)
    try {
      await rename(join(this.folder, trashName, last.name), folder)
    } catch (error) {
      throw writeError(folder, error)
    }
  }

  private async trashNames(): Promise<string[]> {
    return (await readdir(join(this.folder, trashName)).catch(() => [])).sort()
  }

  /** What the trash holds of an id, earliest first: 'id', 'id~2', ... No id has a tilde. */
  private async trashed(id: string): Promise<{ name: string; number: number }[]> {
    this.folderOf(id)
    return (await this.trashNames())
      .map((name) => ({ name, parts: name.split('~') }))
      .filter(({ parts }) => parts[0] === id)
      .map(({ name, parts }) => ({ name, number: Number(parts[1] ?? 1) }))
      .sort((a, b) => a.number - b.number)
  }

  /** The one way from an id to a path. */
  folderOf(id: string): string {
    if (!isRunId(id)) throw noSuchRun(id)
    return join(this.folder, id)
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

const isUnfinished = ({ status }: Pick<Run, 'status'>) =>
  status === 'running' || status === 'queued'

/** A run that was cut off (its writer is gone) is 'interrupted', with the steps it finished. */
async function readAsItStands(folder: string): Promise<Run> {
  const run = await readRunFolder(folder)
  if (isUnfinished(run) && !(await currentOwner(folder))) {
    run.status = 'interrupted'
    run.reason = `The program that wrote this run ended before the run did; what was done is saved.`
  }
  return run
}

const holdsRun = (folder: string) => existsSync(join(folder, runFileName))

const notEmpty = (path: string) =>
  new UserError('usage', `${path} is not empty; name a new folder for this run.`)

/** A folder that a person named: what is in it is not this run's to replace or to add to. */
async function refuseUnlessEmpty(path: string): Promise<void> {
  if ((await readdir(path)).length > 0) throw notEmpty(path)
}

const notOfTheStore = (folder: string) =>
  new UserError(
    'usage',
    `${folder} holds a run that is not of this store. "blockscope runs import ${folder}" brings it in.`
  )

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
    shape: '',
    options: '',
    outcome: outcomeOf({ kind: 'validate', status: 'failed', steps: [] }),
    problem
  }
}
