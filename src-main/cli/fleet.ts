/** `blockscope fleet`: one plan of sweeps over the GPUs of a host, or over a Slurm cluster. */
import { Command } from 'commander'
import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { columnLines } from '@shared/columns'
import type { FleetPlan } from '@shared/contract/fleet'
import type { Device } from '@shared/contract/devices'
import { UserError, exitCodeOf } from '@shared/errors'
import { formatNamed } from '@shared/formats/formatSets'
import { pointText } from '@shared/measurement/problemText'
import { outlierSentence, spreadOfPlaces, type PointSpread } from '@shared/measurement/placeSpread'
import { counted, percent, timeSpan } from '@shared/units'
import { collect as collectRuns } from '../fleet/collect'
import { FleetFolder, readPlan, type TaskStatus } from '../fleet/fleetFolder'
import { takeTask, taskOf, workOfTask } from '../fleet/fleetTask'
import { queued, submit as submitArray, type SlurmOptions } from '../fleet/slurm'
import { print, printJson, printNote } from '../ground/terminal'
import { defaultStoreFolder, RunStore } from '../store/runStore'
import { connectInProcess } from '../transports/inProcess'
import { positiveInteger, wholeNumber } from './arguments'
import { checkFlags } from './flagRules'
import { localApplication, programFolder } from './localApplication'
import { resume } from './runs'
import * as sweepCommand from './sweep'
import { sweep, sweepSpec, type SweepFlags } from './sweep'

interface StoreFlags {
  store?: string
  json?: boolean
}

export function register(program: Command): void {
  const fleet = program
    .command('fleet')
    .description(
      'One plan of sweeps over many GPUs: run, submit, status, resubmit, collect, compare.'
    )
  const withPlan = (name: string, description: string) =>
    fleet
      .command(name)
      .description(description)
      .argument(
        '<plan>',
        'plan.json: {"sweeps": [["--formats", "mxfp4", "-K", "512"]], "copies": 8}'
      )
      .requiredOption('--dir <folder>', 'folder of the fleet, which every host sees')
  const withSlurm = (command: Command) =>
    command
      .option('--partition <name>', 'partition of Slurm')
      .option('--nodes <n>', 'at most this many tasks at a time', positiveInteger)
      .option('--gpus <n>', 'GPUs of a task; 0 on a CPU', wholeNumber, 1)
      .option('--time <limit>', 'of a task, as Slurm writes it: 30, 1:00:00')
      .option('--account <name>', 'account of Slurm')
      .option('--json', 'print as JSON')
  const onFolder = (name: string, description: string) =>
    fleet.command(name).description(description).argument('<folder>', 'folder of the fleet')

  withPlan('run', 'do all tasks on this host, one at a time on each of its GPUs')
    .option('--workers <n>', 'on a CPU: this many tasks at a time', positiveInteger, 1)
    .option('--json', 'print as JSON; what the tasks print goes to stderr')
    .action(run)
  withSlurm(withPlan('submit', 'submit all tasks to Slurm, as one job array')).action(submit)
  withSlurm(onFolder('resubmit', 'submit what is neither done nor in the queue')).action(resubmit)
  onFolder('task', 'do one task, or go on with it: what the job array runs')
    .option('--task <n>', 'which; else Slurm or torchrun says it', wholeNumber)
    .option('--json', 'print its run as JSON')
    .action(task)
  onFolder('status', 'how every task stands').option('--json', 'print as JSON').action(status)
  onFolder('collect', 'make one run of what the tasks measured, one for each kind of GPU')
    .option('--partial', 'also where tasks are not done')
    .option('--store <folder>', 'folder of runs')
    .option('--json', 'print as JSON')
    .action(collect)
  fleet
    .command('compare')
    .description('how equal points differ over the GPUs of a collected run')
    .argument('<run>', 'id of the run, or "latest"')
    .option('--store <folder>', 'folder of runs')
    .option('--json', 'print as JSON')
    .action(compare)
}

const openStore = ({ store }: StoreFlags) =>
  new RunStore(store ? resolve(store) : defaultStoreFolder())

/** The words that begin a command line of this program, on any host that has it at the same place. */
const thisProgram = [process.execPath, join(programFolder, 'out', 'node', 'blockscope.js')]

/** A plan whose every sweep is one that this program would do. Throws a UserError. */
async function checkedPlan(path: string): Promise<FleetPlan> {
  const plan = await readPlan(path)
  for (const [at, words] of plan.sweeps.entries()) {
    const where = `${path}: sweep ${at}`
    const own = words.find((word) => /^--(store|out-dir|json)(=|$)/.test(word))
    if (own) throw new UserError('usage', `${where}: ${own} is the fleet's to say.`)
    try {
      // Devices and kernels are those of other machines; formats are everywhere.
      ;(await sweepSpec(flagsOfSweep(words))).formats.forEach(formatNamed)
    } catch (error) {
      const said = error instanceof Error ? error.message.replace(/^error: /, '') : String(error)
      throw new UserError('usage', `${where}: ${said}`)
    }
  }
  return plan
}

/** The flags of a sweep, by the parser of its command; nothing is run. */
function flagsOfSweep(words: readonly string[]): SweepFlags {
  const parser = new Command()
  sweepCommand.register(parser)
  const [command] = parser.commands
  let flags: SweepFlags | undefined
  command!
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .action((given: SweepFlags, action: Command) => {
      checkFlags(action)
      flags = given
    })
  parser.parse(['sweep', ...words], { from: 'user' })
  return flags!
}

async function submit(
  planPath: string,
  flags: SlurmOptions & { dir: string; json?: boolean }
): Promise<void> {
  const plan = await checkedPlan(planPath)
  const folder = await FleetFolder.create(flags.dir, plan)
  const tasks = Array.from({ length: folder.tasks }, (_, at) => at)
  await submitTasks(folder, tasks, flags)
}

async function submitTasks(
  folder: FleetFolder,
  tasks: number[],
  flags: SlurmOptions & { json?: boolean }
): Promise<void> {
  const { path, plan } = folder
  const array = { folder: path, name: plan.name, tasks, program: thisProgram }
  const job = await submitArray(array, flags)
  const submission = { at: new Date().toISOString(), job, tasks }
  await folder.submitted(submission)
  if (flags.json) return printJson(submission)
  print([
    `Job ${job}: ${tasks.length} of ${folder.tasks} tasks. Logs: ${join(path, 'logs')}`,
    `Then: blockscope fleet status ${path}`
  ])
}

async function resubmit(path: string, flags: SlurmOptions & { json?: boolean }): Promise<void> {
  const folder = await FleetFolder.open(path)
  const { rows, isAsked } = await standing(folder)
  if (!isAsked)
    throw new UserError(
      'unavailable',
      'squeue is not here or does not answer, so that what is in the queue is not known: nothing was submitted.'
    )
  const left = rows.filter(({ state, queue }) => state !== 'done' && state !== 'running' && !queue)
  if (left.length === 0)
    return flags.json ? printJson({ tasks: [] }) : print('Every task is done or in the queue.')
  await submitTasks(
    folder,
    left.map(({ task: number }) => number),
    flags
  )
}

interface Standing extends TaskStatus {
  /** 'PENDING', 'RUNNING on gpu-03'; empty where Slurm does not have it. */
  queue: string
}

/** Every task, as the folder and the queue have it. */
async function standing(folder: FleetFolder): Promise<{ rows: Standing[]; isAsked: boolean }> {
  const jobs = (await folder.submissions()).map(({ job }) => job)
  // The queue first: what ends meanwhile is done, and not lost.
  const inQueue = await queued(jobs)
  const rows = (await folder.all()).map((status) => {
    const found = inQueue?.find(({ task: number }) => number === status.task)
    return { ...status, queue: found ? [found.state, found.node].filter(Boolean).join(' on ') : '' }
  })
  return { rows, isAsked: inQueue !== undefined }
}

const stateWords: Record<TaskStatus['state'], string> = {
  done: 'done',
  running: 'running',
  'cut-off': 'cut off',
  damaged: 'damaged',
  'not-begun': 'not begun'
}

async function status(path: string, flags: { json?: boolean }): Promise<void> {
  const folder = await FleetFolder.open(path)
  const { rows } = await standing(folder)
  if (flags.json) return printJson(rows)
  const counts = (Object.keys(stateWords) as TaskStatus['state'][])
    .map((state) => [stateWords[state], rows.filter((row) => row.state === state).length] as const)
    .filter(([, tasks]) => tasks > 0)
  const queue = rows.filter((row) => row.queue).length
  const open = rows.filter(({ state }) => state !== 'done')
  print([
    `${counted(folder.tasks, 'task')}: ${counts.map(([state, tasks]) => `${tasks} ${state}`).join(', ')}; ${queue} in the queue.`,
    ...columnLines(
      open.map(({ task: number, state, queue: place, run: made }) => [
        String(number),
        stateWords[state],
        place,
        made ? `${made.id}, ${made.outcome.sentence}` : ''
      ]),
      (column) => column > 0
    ),
    ...rows.flatMap(({ task: number, problems }) =>
      problems.map(
        (problem) => `Task ${number} has a run that cannot be read, and stays as it is: ${problem}`
      )
    )
  ])
}

async function task(
  path: string,
  { task: named, json }: { task?: number; json?: boolean }
): Promise<void> {
  const folder = await FleetFolder.open(path)
  const number = taskOf(named, process.env)
  const work = await workOfTask(folder, number)
  if (!work)
    return json ? printJson({ task: number, state: 'done' }) : print(`Task ${number} is done.`)
  const { store, resume: id, sweep: words } = work
  if (id !== undefined) {
    try {
      return await resume(id, { store, json })
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      // On another device than before, for one.
      printNote(`Task ${number} is begun anew: ${error.message}`)
    }
  }
  await sweep({ ...flagsOfSweep(words), store, json })
}

/** This program as a child, with its signals; its exit code. */
function startProgram(
  words: readonly string[],
  env: Record<string, string>,
  stdout: 'inherit' | 'stderr'
): Promise<number> {
  const [node, script] = thisProgram as [string, string]
  const child = spawn(node, [script, ...words], {
    stdio: ['inherit', stdout === 'stderr' ? 2 : 'inherit', 'inherit'],
    env: { ...process.env, ...env }
  })
  const forward = (signal: NodeJS.Signals) => void child.kill(signal)
  process.on('SIGINT', forward)
  process.on('SIGTERM', forward)
  return new Promise((settle) => {
    child.on('close', (code) => {
      process.off('SIGINT', forward)
      process.off('SIGTERM', forward)
      settle(code ?? exitCodeOf.failed)
    })
  })
}

async function run(
  planPath: string,
  flags: { dir: string; workers: number; json?: boolean }
): Promise<void> {
  const plan = await checkedPlan(planPath)
  const folder = FleetFolder.isAt(flags.dir)
    ? await FleetFolder.open(flags.dir)
    : await FleetFolder.create(flags.dir, plan)
  if (JSON.stringify(folder.plan) !== JSON.stringify(plan))
    throw new UserError('usage', `${flags.dir} holds a fleet of another plan; name a new folder.`)
  const gpus = (await devicesHere()).filter(({ kind }) => kind !== 'cpu')
  const workers =
    gpus.length > 0
      ? gpus.map((gpu) => visibleAlone(gpu))
      : Array.from({ length: flags.workers }, () => ({}))
  const left = (await folder.all())
    .filter(({ state }) => state !== 'done' && state !== 'running')
    .map(({ task: number }) => number)
  const output = flags.json ? 'stderr' : 'inherit'
  let failed = 0
  await Promise.all(
    workers.map(async (env) => {
      const done = new Set<number>()
      const take = () => takeTask(left, plan.sweeps.length, done)
      for (let next = take(); next !== undefined; next = take())
        if (
          (await startProgram(
            ['fleet', 'task', folder.path, '--task', String(next)],
            env,
            output
          )) !== 0
        )
          failed++
    })
  )
  const where = gpus.length > 0 ? `${gpus.length} GPUs` : 'the CPU'
  if (flags.json) printJson({ folder: folder.path, tasks: folder.tasks, gpus: gpus.length, failed })
  else
    print(
      `${folder.tasks} tasks on ${where}, ${failed} failed. Then: blockscope fleet collect ${folder.path}`
    )
  if (failed > 0) process.exitCode = exitCodeOf.failed
}

async function devicesHere(): Promise<Device[]> {
  const application = localApplication({})
  try {
    const client = connectInProcess(application.handlers)
    return (await client.call('devices.detect', {})).devices
  } finally {
    await application.close()
  }
}

/** An environment in which a process sees this GPU alone, by the name that no order changes. */
function visibleAlone({ id, properties }: Device): Record<string, string> {
  const uuid = properties['uuid']
  return { CUDA_VISIBLE_DEVICES: typeof uuid === 'string' && uuid ? uuid : id.split(':').at(-1)! }
}

async function collect(path: string, flags: StoreFlags & { partial?: boolean }): Promise<void> {
  const folder = await FleetFolder.open(path)
  const found = await collectRuns(folder, await folder.all(), openStore(flags), {
    partial: flags.partial === true
  })
  if (flags.json) return printJson(found)
  print(
    found.map(({ run: id, device, shape: shapes, shards, isKnown }) =>
      isKnown
        ? `${id}: collected before, of the same ${counted(shards, 'task')} on ${device}.`
        : `${id}: ${counted(shards, 'task')} on ${device}, ${shapes}. blockscope fleet compare ${id}`
    )
  )
}

async function compare(words: string, flags: StoreFlags): Promise<void> {
  const points = spreadOfPlaces((await openStore(flags).locate(words)).run)
  if (flags.json)
    return printJson(points.map(({ step, ...rest }) => ({ ...pointOf(step), ...rest })))
  if (points.length === 0) return print('No point of this run was measured in more than one place.')
  print(
    columnLines(
      [['point', 'places', 'fastest', 'slowest', 'spread'], ...points.map(spreadRow)],
      (column) => column === 0
    )
  )
  const said = points.flatMap(pointSentences)
  print(['', ...(said.length > 0 ? said : ['No place stands out.'])])
}

const pointOf = ({ format, kernel, m, n, k }: PointSpread['step']) => ({ format, kernel, m, n, k })

const spreadRow = ({ step, places, fastestNs, slowestNs, spread }: PointSpread): string[] => [
  pointText(step),
  String(places.length),
  timeSpan(fastestNs),
  timeSpan(slowestNs),
  percent(spread)
]

function pointSentences({ step, outliers, choices }: PointSpread): string[] {
  const point = pointText(step)
  return [
    ...outliers.map((outlier) => `${point}: ${outlierSentence(outlier)}`),
    ...(choices > 1
      ? [`${point}: ${choices} choices of its source or tiles among the places.`]
      : [])
  ]
}
