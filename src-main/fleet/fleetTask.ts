/** What a task of a fleet has to do now, and which task a process is. */
import { sweepOf } from '@shared/contract/fleet'
import { UserError } from '@shared/errors'
import type { FleetFolder } from './fleetFolder'

/** Where a scheduler says which task a process is: an array of Slurm's, a step of srun's, torchrun. */
const variables = ['SLURM_ARRAY_TASK_ID', 'SLURM_PROCID', 'RANK']

export function taskOf(
  named: number | undefined,
  environment: Readonly<Record<string, string | undefined>>
): number {
  if (named !== undefined) return named
  const found = variables.find((name) => /^\d+$/.test(environment[name] ?? ''))
  if (found) return Number(environment[found])
  throw new UserError(
    'usage',
    `Which task? Name one with --task, or run under Slurm or torchrun (${variables.join(', ')}).`
  )
}

/**
 * Takes the next task of those that are left, for one of several GPUs: first of a sweep that it has not done (`done`, which is kept
 * here), so that copies of one sweep are each on another GPU. Undefined: none is left.
 */
export function takeTask(left: number[], sweeps: number, done: Set<number>): number | undefined {
  const isNew = (task: number) => !done.has(task % sweeps)
  const at = Math.max(0, left.findIndex(isNew))
  const [task] = left.splice(at, 1)
  if (task !== undefined) done.add(task % sweeps)
  return task
}

export interface TaskWork {
  /** Where its runs go. */
  store: string
  /** The run to go on with; absent: none was begun. */
  resume?: string
  /** Flags of its sweep. */
  sweep: readonly string[]
}

/** Undefined for a task that is done. Throws a UserError for one that another process does. */
export async function workOfTask(folder: FleetFolder, task: number): Promise<TaskWork | undefined> {
  const store = folder.storeOf(task).folder
  const { state, run } = await folder.status(task)
  if (state === 'done') return undefined
  if (state === 'running')
    throw new UserError('failed', `Task ${task} is being done by another process: ${run!.id}.`)
  const sweep = sweepOf(folder.plan, task)
  return { store, sweep, ...(state === 'cut-off' && { resume: run!.id }) }
}
