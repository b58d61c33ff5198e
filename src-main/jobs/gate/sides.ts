/** What a gate compares: kernels that are timed now, or times that a run or a baseline holds. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { autoKernel, type Detection, type Device } from '@shared/contract/devices'
import type { DeviceState } from '@shared/contract/deviceState'
import { deviceStateOf, differencesOf } from '@shared/contract/deviceState'
import type { BaselineFile, BaselineState, GateProblem, GateSide } from '@shared/contract/gate'
import type { SweepSpec } from '@shared/contract/jobs'
import { UserError, messageOf } from '@shared/errors'
import { methodOf } from '@shared/measurement/compareRuns'
import { methodName, methodOn, nameOfMethod } from '@shared/measurement/presets'
import { pointOf } from '@shared/measurement/ratios'
import type { KernelSide } from '../../engine/kernelManifests'
import type { Run, StoredRound } from '@shared/contract/run'
import { readRounds } from '../../store/rounds'
import { readRunFolder, runFileName } from '../../store/runFile'
import type { RunStore } from '../../store/runStore'
import { whyNoGpu } from '../plan'
import { gitFolder } from './gitFolder'

/** Words of a command line, sorted by what they name; nothing is detected or read yet but git's folder. */
export type NamedSide =
  | { kind: 'folder'; name: string; path: string; remove?: () => Promise<void> }
  | { kind: 'run'; name: string; path: string }
  | { kind: 'words'; name: string }

/** A folder with a manifest, or of a run; REF:FOLDER of git; else a kernel's id or a run, which only the device and the store tell apart. */
export async function namedSide(words: string): Promise<NamedSide> {
  if (existsSync(join(words, 'manifest.json')))
    return { kind: 'folder', name: words, path: resolve(words) }
  if (existsSync(join(words, runFileName)))
    return { kind: 'run', name: words, path: resolve(words) }
  if (words.includes(':')) return { kind: 'folder', ...(await gitFolder(words)) }
  if (existsSync(words))
    throw new UserError(
      'usage',
      `${words} has no manifest.json of kernels, and is no folder of a run.`
    )
  return { kind: 'words', name: words }
}

/** Kernels that are timed now, by the names under which base and new are compared. */
export interface TimedSide {
  kind: 'timed'
  name: string
  /** Ids that the device knows them by. */
  kernels: Map<string, string>
}

export interface RecordedPoint extends GateProblem, GateSide {}

/** Times that were taken before. */
export interface RecordedSide {
  kind: 'recorded'
  name: string
  device: DeviceState
  /** 'bs-3' */
  method: string
  mode: string
  output: string
  /** Of a run: what it was asked for; new kernels are timed the same way. */
  spec?: SweepSpec
  points: RecordedPoint[]
}

export type Side = TimedSide | RecordedSide

/** Kernels of the two folders stand beside one another under their ids and these. */
const suffixes = { base: '@base', new: '@new' } as const
export type Role = keyof typeof suffixes

export const kernelSideOf = (side: NamedSide, role: Role): KernelSide[] =>
  side.kind === 'folder' ? [{ path: side.path, suffix: suffixes[role] }] : []

/** Throws a UserError for what is neither a kernel of the device nor a run of a sweep, and for a folder that has none. */
export async function openSide(
  side: NamedSide,
  role: Role,
  { detection, device, store }: { detection: Detection; device: Device; store: RunStore }
): Promise<Side> {
  const { name } = side
  const { kernels } = device
  if (side.kind === 'run') return recordedFolder(side.path, name)
  if (side.kind === 'folder') {
    const ids = kernels.map(({ id }) => id).filter((id) => id.endsWith(suffixes[role]))
    if (ids.length === 0)
      throw new UserError(
        'unavailable',
        `${name} has no kernel for ${device.id}. ${whyNoGpu(detection.libraries)}`.trimEnd()
      )
    const plain = (id: string) => id.slice(0, -suffixes[role].length)
    return { kind: 'timed', name, kernels: new Map(ids.map((id) => [plain(id), id])) }
  }
  if (name.toLowerCase() === autoKernel)
    return { kind: 'timed', name: autoKernel, kernels: new Map([['', autoKernel]]) }
  const kernel = kernels.find(({ id }) => id.toLowerCase() === name.toLowerCase())
  if (!kernel) return recordedRun(store, name)
  if (kernel.python)
    throw new UserError(
      'usage',
      `${kernel.id} is a Python kernel: it runs in a process of its own, and a gate times pairs in one.`
    )
  // The one kernel of its side, whatever the other side's is called.
  return { kind: 'timed', name: kernel.id, kernels: new Map([['', kernel.id]]) }
}

async function recordedRun(store: RunStore, words: string): Promise<RecordedSide> {
  let id: string
  try {
    id = await store.find(words)
  } catch (error) {
    const what =
      'is no folder with a manifest.json, no REF:FOLDER of git and no kernel here, and as a run'
    throw new UserError('usage', `${words} ${what}: ${messageOf(error)}`)
  }
  return recorded(await store.read(id), await store.rounds(id), id)
}

/** A run wherever it lies: of --out-dir, or an artifact of CI. */
const recordedFolder = async (path: string, name: string): Promise<RecordedSide> =>
  recorded(await readRunFolder(path), await readRounds(path), name)

function recorded(run: Run, rounds: readonly StoredRound[], name: string): RecordedSide {
  if (run.spec.kind !== 'sweep')
    throw new UserError(
      'usage',
      `${name} is a validation; a gate compares times, which a sweep has.`
    )
  if (!run.device) throw new UserError('usage', `${name} does not say on which device it was made.`)
  const points = run.steps.flatMap((step): RecordedPoint[] => {
    const { format, kernel, m, n, k, groups, sourceHash, measurement } = step
    const own = rounds.filter((round) => round.step === step.index)
    if (!measurement || own.length === 0) return []
    const { meanMHz, badges } = measurement
    const samplesNs = own.map((round) => round.samplesNs)
    const problem = { format, m, n, k, ...(groups && { groups }) }
    return [{ ...problem, kernel, sourceHash, samplesNs, meanMHz, badges }]
  })
  const { mode, output } = run.spec
  const device = deviceStateOf(run.device, run.libraries)
  const method = nameOfMethod(methodOf(run))
  return { kind: 'recorded', name, device, method, mode, output, spec: run.spec, points }
}

type Asked = { mode: string; output: string }

/** What keeps times from being compared, in words; empty: nothing. */
export function differencesOfTimed(
  before: Pick<RecordedSide, 'device' | 'method'>,
  now: Pick<RecordedSide, 'device' | 'method'>
): string[] {
  const isCpu = now.device.driver === ''
  const isOther = methodOn(isCpu, before.method) !== methodOn(isCpu, now.method)
  return [
    ...differencesOf(before.device, now.device),
    ...(isOther ? [`method ${before.method} then, ${now.method} now`] : [])
  ]
}

/** The part of a baseline that was recorded in exactly this state; undefined where there is none. */
export const stateOfBaseline = (
  { states }: BaselineFile,
  device: DeviceState,
  { mode, output }: Asked
): BaselineState | undefined =>
  states.find(
    (one) =>
      differencesOfTimed(one, { device, method: methodName }).length === 0 &&
      one.mode === mode &&
      one.output === output
  )

export function recordedState(state: BaselineState, name: string): RecordedSide {
  const { device, method, mode, output } = state
  const points = state.points.map(({ visitsNs, ...point }): RecordedPoint => ({
    ...point,
    // One observation stands for each visit.
    samplesNs: visitsNs.map((ns) => [ns]),
    badges: []
  }))
  return { kind: 'recorded', name, device, method, mode, output, points }
}

/** What is compared has this in common; the names of single kernels differ. */
export const keyOf = (kernel: string, problem: GateProblem): string =>
  `${kernel} ${pointOf(problem)}`

export const stateNow = (detection: Detection, id: string): DeviceState =>
  deviceStateOf(
    detection.devices.find((device) => device.id === id)!,
    detection.libraries
  )
