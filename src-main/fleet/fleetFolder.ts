/** The folder of a fleet, on a file system that all its hosts see. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as v from 'valibot'
import {
  collectedSchema,
  fleetPlanSchema,
  mostTasks,
  submissionSchema,
  taskCount,
  type FleetPlan,
  type Submission
} from '@shared/contract/fleet'
import type { RunSummary } from '@shared/contract/run'
import { UserError, messageOf } from '@shared/errors'
import { describeIssues } from '@shared/schemaWords'
import { appendLines, makeFolder, writeFileAtomic, writeNewFile } from '../ground/files'
import { readNamed } from '../ground/named'
import { RunStore } from '../store/runStore'

const planName = 'plan.json'
const submissionsName = 'submissions.jsonl'
const collectedName = 'collected.json'

export type TaskState = 'done' | 'running' | 'cut-off' | 'damaged' | 'not-begun'

export interface TaskStatus {
  task: number
  state: TaskState
  /** The run that is done, is being made, or is to be resumed. */
  run: RunSummary | undefined
  /** Of runs that cannot be read: which, and why. */
  problems: string[]
}

/** Reads a plan. Throws a UserError that says what is wrong with it. */
export async function readPlan(path: string): Promise<FleetPlan> {
  const text = (await readNamed(path)).toString()
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new UserError('usage', `${path} is no plan: ${messageOf(error)}.`, { cause: error })
  }
  const parsed = v.safeParse(fleetPlanSchema, json)
  if (!parsed.success)
    throw new UserError('usage', `${path} is no plan: ${describeIssues(parsed.issues)}.`)
  const tasks = taskCount(parsed.output)
  if (tasks <= mostTasks) return parsed.output
  throw new UserError('usage', `${path} has ${tasks} tasks; ${mostTasks} are submitted at once.`)
}

export class FleetFolder {
  private constructor(
    readonly path: string,
    readonly plan: FleetPlan
  ) {}

  /** Throws a UserError for a folder that holds a fleet already. */
  static async create(path: string, plan: FleetPlan): Promise<FleetFolder> {
    const folder = resolve(path)
    await makeFolder(join(folder, 'tasks'))
    await makeFolder(join(folder, 'logs'))
    try {
      await writeNewFile(join(folder, planName), `${JSON.stringify(plan, null, 1)}\n`)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      throw new UserError(
        'usage',
        `${path} holds a fleet already; "fleet resubmit ${path}" submits what is left of it.`
      )
    }
    return new FleetFolder(folder, plan)
  }

  static isAt(path: string): boolean {
    return existsSync(join(path, planName))
  }

  static async open(path: string): Promise<FleetFolder> {
    const missing = [planName, 'tasks'].find((name) => !existsSync(join(path, name)))
    if (missing)
      throw new UserError('usage', `${path} holds no fleet: there is no ${missing} in it.`)
    return new FleetFolder(resolve(path), await readPlan(join(path, planName)))
  }

  get tasks(): number {
    return taskCount(this.plan)
  }

  /** Where a task keeps its runs. Throws a UserError for a task that the plan does not have. */
  storeOf(task: number): RunStore {
    if (Number.isInteger(task) && task >= 0 && task < this.tasks)
      return new RunStore(join(this.path, 'tasks', String(task).padStart(4, '0')))
    throw new UserError(
      'usage',
      `Task ${task} is none of this plan's: they are 0 to ${this.tasks - 1}.`
    )
  }

  async status(task: number): Promise<TaskStatus> {
    const runs = await this.storeOf(task).list()
    const problems = runs.flatMap(({ id, problem }) => (problem ? [`${id}: ${problem}`] : []))
    const readable = runs.filter(({ problem }) => problem === undefined)
    const find = (...statuses: string[]) => readable.find(({ status }) => statuses.includes(status))
    const [done, running, left] = [find('done'), find('running', 'queued'), readable[0]]
    const run = done ?? running ?? left
    const state = done
      ? 'done'
      : running
        ? 'running'
        : left
          ? 'cut-off'
          : problems.length > 0
            ? 'damaged'
            : 'not-begun'
    return { task, state, run, problems }
  }

  /** Of all tasks, in order. */
  async all(): Promise<TaskStatus[]> {
    const all: TaskStatus[] = []
    for (let task = 0; task < this.tasks; task++) all.push(await this.status(task))
    return all
  }

  async submissions(): Promise<Submission[]> {
    const text = await readOr(join(this.path, submissionsName), '')
    return text.split('\n').flatMap((line) => {
      const parsed = v.safeParse(submissionSchema, jsonOr(line))
      return parsed.success ? [parsed.output] : []
    })
  }

  async submitted(submission: Submission): Promise<void> {
    await appendLines(join(this.path, submissionsName), `${JSON.stringify(submission)}\n`)
  }

  /** Runs that were collected, each with the runs of tasks that it is made of. */
  async collected(): Promise<{ run: string; shards: string[] }[]> {
    const parsed = v.safeParse(
      collectedSchema,
      jsonOr(await readOr(join(this.path, collectedName), ''))
    )
    return parsed.success ? parsed.output.collected : []
  }

  async keepCollected(run: string, shards: string[]): Promise<void> {
    const collected = [...(await this.collected()), { run, shards }]
    await writeFileAtomic(
      join(this.path, collectedName),
      `${JSON.stringify({ collected }, null, 1)}\n`
    )
  }
}

async function readOr(path: string, otherwise: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise
    throw error
  }
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
