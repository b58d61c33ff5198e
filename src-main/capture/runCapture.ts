/** A capture from its start to its record: what the command line and the app do. */
import type { CaptureCounts, CaptureSpec } from '@shared/contract/capture'
import { UserError } from '@shared/errors'
import { isFolder } from '../ground/named'
import { prepareFolder, shardHeaders } from './captureFolder'
import { writeRecord, type CaptureRecord } from './captureRecord'
import {
  captureEnvironment,
  FollowedProgram,
  type ProgramEnd,
  type ProgramStreams
} from './followProgram'
import { doubtsAbout, findProgram } from './programFile'

export interface RunningCapture {
  folder: string
  /** By performance.now(). */
  startedMs: number
  /** Why the program itself may not be captured. */
  doubts: readonly string[]
  program: FollowedProgram
  /** Reads what was written so far and records it; `end` is null while the program runs. */
  record(end: ProgramEnd | null): Promise<CaptureRecord>
}

/** @throws UserError where the folder, the program or the library are not as they must be: nothing was started */
export async function startCapture(
  spec: CaptureSpec,
  folder: string,
  { force = false, streams = 'inherit' }: { force?: boolean; streams?: ProgramStreams } = {}
): Promise<RunningCapture> {
  if (process.platform !== 'linux')
    throw new UserError('unavailable', 'capture works on Linux: other systems inject differently.')
  const { workingFolder } = spec
  if (workingFolder !== undefined && !isFolder(workingFolder))
    throw new UserError('usage', `${workingFolder} is no folder to start the program in.`)
  const startedAt = new Date()
  const startedMs = performance.now()
  const file = findProgram(spec.command[0]!, { folder: workingFolder, path: spec.environment.PATH })
  const doubts = doubtsAbout(file)
  const environment = captureEnvironment(spec, folder)
  await prepareFolder(folder, spec.waits || spec.afterMs > 0, force)
  const program = await FollowedProgram.start({ file, environment, spec, folder, streams })
  return {
    ...{ folder, startedMs, doubts, program },
    record: (end) => writeRecord({ spec, folder, startedAt, program: end, doubts })
  }
}

/** 20261122-091502 */
export const stampOf = (date: Date): string =>
  date.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')

/** In the order of native/inject/shard.h: what a header says before its shard's names are read. */
const shown = { kernelLaunches: 0, graphLaunches: 3, kernelRecords: 9, droppedRecords: 17 }

/** How far the processes of a capture are. */
export function captureCounts(folder: string): CaptureCounts {
  const headers = shardHeaders(folder)
  const sum = (at: number) => headers.reduce((total, one) => total + (one.counters[at] ?? 0), 0)
  return {
    processes: headers.length,
    launches: sum(shown.kernelLaunches) + sum(shown.graphLaunches),
    kernels: sum(shown.kernelRecords),
    dropped: sum(shown.droppedRecords),
    bytes: headers.reduce((total, { fileBytes }) => total + fileBytes, 0)
  }
}
