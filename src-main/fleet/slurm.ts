/** Slurm: one array of tasks is submitted, and its queue is asked for what waits and runs. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { UserError, messageOf } from '@shared/errors'
import { writeFileAtomic } from '../ground/files'

const run = promisify(execFile)

export interface SlurmOptions {
  partition?: string
  /** At most this many tasks at a time. */
  nodes?: number
  /** 0: none, as for sweeps of a CPU. */
  gpus: number
  time?: string
  account?: string
}

export interface TaskArray {
  /** Of the fleet. */
  folder: string
  name: string
  tasks: readonly number[]
  /** The words that begin a command line of this program. */
  program: readonly string[]
}

/**
 * Submits the tasks as one job array, and answers its id. Throws a UserError with Slurm's own sentence where it refuses, and one
 * of kind 'unavailable' where sbatch is not on the path.
 */
export async function submit(array: TaskArray, options: SlurmOptions): Promise<string> {
  const { folder, name, tasks, program } = array
  const script = join(folder, 'task.sh')
  await writeFileAtomic(
    script,
    `#!/bin/sh\nexec ${[...program, 'fleet', 'task', folder].map(quoted).join(' ')}\n`
  )
  const { partition, nodes, gpus, time, account } = options
  const words = [
    ...['--parsable', `--job-name=${name}`, '--ntasks=1', '--requeue', '--open-mode=append'],
    `--output=${join(folder, 'logs', '%A_%a.log')}`,
    `--array=${ranges(tasks)}${nodes === undefined ? '' : `%${nodes}`}`,
    ...(partition === undefined ? [] : [`--partition=${partition}`]),
    ...(gpus === 0 ? [] : [`--gpus-per-task=${gpus}`]),
    ...(time === undefined ? [] : [`--time=${time}`]),
    ...(account === undefined ? [] : [`--account=${account}`]),
    script
  ]
  const { stdout } = await asked('sbatch', words, `"fleet resubmit ${folder}" submits it.`)
  const job = /^\d+/.exec(stdout)?.[0]
  if (job) return job
  throw new UserError('failed', `sbatch answered "${stdout.trim()}", which is no job.`)
}

export interface Queued {
  task: number
  /** 'PENDING', 'RUNNING' */
  state: string
  node: string
}

/** What of these jobs waits or runs; undefined where there is no squeue here to ask. */
export async function queued(jobs: readonly string[]): Promise<Queued[] | undefined> {
  if (jobs.length === 0) return []
  let stdout: string
  try {
    const form = '%K|%T|%N'
    stdout = (await run('squeue', ['-h', '-r', '-j', jobs.join(','), '-o', form])).stdout
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    // Jobs that ended a while ago are unknown to it: none of them is in the queue.
    if (/Invalid job id/i.test((error as { stderr?: string }).stderr ?? '')) return []
    return undefined
  }
  return stdout.split('\n').flatMap((line) => {
    const [task, state, node = ''] = line.trim().split('|')
    return task && state && /^\d+$/.test(task) ? [{ task: Number(task), state, node }] : []
  })
}

async function asked(
  command: string,
  words: readonly string[],
  then: string
): Promise<{ stdout: string }> {
  try {
    return await run(command, [...words])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new UserError(
        'unavailable',
        `${command} is not on the path; ${then} Do so on a machine of a Slurm cluster, or use "fleet run" on one host.`
      )
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1)
    throw new UserError('failed', `Slurm refused: ${said || messageOf(error)}. ${then}`)
  }
}

/** '0-7,9' */
export function ranges(tasks: readonly number[]): string {
  const parts: string[] = []
  for (let at = 0; at < tasks.length;) {
    let end = at
    while (tasks[end + 1] === tasks[end]! + 1) end++
    parts.push(at === end ? `${tasks[at]}` : `${tasks[at]}-${tasks[end]}`)
    at = end + 1
  }
  return parts.join(',')
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
