/** capture.json: what was asked, where it ran, and what is missing. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { totalsOf, type ProcessAccount } from '@shared/capture/accounting'
import { accountSentences } from '@shared/capture/accountSentences'
import { captureFileName } from '@shared/capture/captureFiles'
import type { CaptureSpec } from '@shared/contract/capture'
import type { ControlCounts } from '@shared/capture/shardForm'
import { hatchetPieces } from '@shared/profile/write/writeHatchet'
import { version } from '../../package.json'
import { writeFileAtomic, writeOutput } from '../ground/files'
import { captureProfileName, controlCounts, openCapture, shardFiles } from './captureFolder'
import type { ProgramEnd } from './followProgram'

/** What tells how a program was placed on GPUs and ranks; nothing else of an environment is kept. */
const keptVariables =
  /^(CUDA_(VISIBLE_DEVICES|HOME|PATH|LAUNCH_BLOCKING|MODULE_LOADING)|(HIP|ROCR)_VISIBLE_DEVICES|ROCM_PATH|RANK|WORLD_SIZE|LOCAL_RANK|SLURM_(PROCID|NTASKS|LOCALID|JOB_ID)|OMPI_COMM_WORLD_\w+|LD_LIBRARY_PATH|VIRTUAL_ENV|CONDA_PREFIX)$/

export interface CaptureRecord {
  formatVersion: 1
  kind: 'capture'
  blockscope: string
  command: readonly string[]
  options: Pick<
    CaptureSpec,
    'range' | 'kernels' | 'only' | 'wholeGraphs' | 'python' | 'counters' | 'afterMs' | 'waits'
  > & {
    forMs: number | null
  }
  host: string
  startedAt: string
  endedAt: string
  environment: Record<string, string>
  /** Null while the program still runs. */
  program: ProgramEnd | null
  started: ControlCounts
  totals: ReturnType<typeof totalsOf>
  processes: readonly ProcessAccount[]
  /** What is missing, in sentences. */
  notes: readonly string[]
}

export interface CaptureFacts {
  spec: CaptureSpec
  folder: string
  startedAt: Date
  program: ProgramEnd | null
  doubts: readonly string[]
}

/** Reads the shards and writes the record and, where there is a kernel, the profile. */
export async function writeRecord({
  spec,
  folder,
  startedAt,
  program,
  doubts
}: CaptureFacts): Promise<CaptureRecord> {
  const { command, range, kernels, only, wholeGraphs, python, counters, afterMs, waits, forMs } =
    spec
  const hasShards = shardFiles(folder).length > 0
  const profile = hasShards ? openCapture(folder, false) : undefined
  const accounts = profile?.reader.accounts ?? []
  const started = controlCounts(folder)
  const notes = [
    ...doubts,
    ...(profile?.reader.warnings ?? []),
    ...missing(started, accounts),
    ...accountSentences(accounts)
  ]
  if (profile) {
    const { tree } = profile.finish()
    if (tree.count > 1)
      await writeOutput(join(folder, captureProfileName), hatchetPieces(tree), { force: true })
  }
  const environment = Object.entries({ ...process.env, ...spec.environment }).filter(([name]) =>
    keptVariables.test(name)
  )
  const record: CaptureRecord = {
    formatVersion: 1,
    kind: 'capture',
    blockscope: version,
    command,
    options: {
      ...(range !== undefined && { range }),
      ...(kernels !== undefined && { kernels }),
      ...(only !== undefined && { only }),
      wholeGraphs,
      python,
      counters,
      afterMs,
      waits,
      forMs: forMs ?? null
    },
    host: hostname(),
    startedAt: startedAt.toISOString(),
    endedAt: new Date().toISOString(),
    environment: Object.fromEntries(environment) as Record<string, string>,
    program,
    started,
    totals: totalsOf(accounts),
    processes: accounts,
    notes
  }
  await writeFileAtomic(join(folder, captureFileName), `${JSON.stringify(record, null, 2)}\n`)
  return record
}

function missing(started: ControlCounts, accounts: readonly ProcessAccount[]): string[] {
  if (started.withoutShard > 0)
    return [
      `${started.withoutShard} of ${started.started} processes could write no shard (errno ${started.shardErrno}): is the disk full, or the folder not theirs?`
    ]
  if (started.started > 0) return []
  if (started.passedOver > 0)
    return [`--only left out all ${started.passedOver} processes that started CUDA or HIP.`]
  return accounts.length > 0
    ? []
    : ['No process started CUDA, nor HIP where ROCm has rocprofiler-sdk: nothing was captured.']
}
