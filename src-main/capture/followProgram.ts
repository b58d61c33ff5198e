/** Starts the program and follows it and its children until they have written what they did. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, UserError } from '@shared/errors'
import { builtFile } from '../engine/loadAddon'
import { isAlive, setState, shardHeaders } from './captureFolder'

/** What a child inherits, and what a program may have set for a profiler of its own. */
const injectionVariables = ['CUDA_INJECTION64_PATH', 'NVTX_INJECTION64_PATH'] as const
/** As long as the library waits for the device, and a little. */
const longestWaitMs = 12_000
const lookMs = 50

export interface CaptureOptions {
  folder: string
  command: readonly [string, ...string[]]
  afterMs: number
  /** Infinity: until the program ends. */
  forMs: number
  range?: string
  kernels?: string
  only?: string
  wholeGraphs: boolean
  endProgram: boolean
}

export interface ProgramEnd {
  code: number | null
  signal: NodeJS.Signals | null
}

/** @throws UserError where another profiler is asked for already, or the library was not built */
export function captureEnvironment(options: CaptureOptions): NodeJS.ProcessEnv {
  const set = injectionVariables.find((name) => process.env[name])
  if (set !== undefined)
    throw new UserError(
      'usage',
      `${set} is set to ${process.env[set]}: another profiler would be put out; unset it to capture.`
    )
  const library = builtFile('blockscope_inject.node')
  if (library === undefined)
    throw new UserError(
      'unavailable',
      'The library that is injected into programs was not built: captures need Linux, and npm rebuild where it is missing.'
    )
  const { folder, range = '', kernels = '', only = '', wholeGraphs } = options
  return {
    ...process.env,
    CUDA_INJECTION64_PATH: library,
    NVTX_INJECTION64_PATH: library,
    LD_PRELOAD: [library, process.env.LD_PRELOAD].filter(Boolean).join(':'),
    BLOCKSCOPE_CAPTURE_FOLDER: folder,
    BLOCKSCOPE_CAPTURE_RANGE: range,
    BLOCKSCOPE_CAPTURE_KERNELS: kernels,
    BLOCKSCOPE_CAPTURE_ONLY: only,
    BLOCKSCOPE_CAPTURE_GRAPHS: wholeGraphs ? '1' : ''
  }
}

/** A program under capture: `ended` when it has ended, `captured` when nothing more will be written. */
export class FollowedProgram {
  readonly ended: Promise<ProgramEnd>
  readonly captured: Promise<void>
  readonly pid: number
  private readonly abort = new AbortController()
  private endCapture!: () => void
  private isEnding = false

  /** @throws UserError where the system does not start it */
  static async start(
    file: string,
    environment: NodeJS.ProcessEnv,
    options: CaptureOptions
  ): Promise<FollowedProgram> {
    const [, ...words] = options.command
    const child = spawn(file, words, {
      argv0: options.command[0],
      env: environment,
      stdio: 'inherit',
      // A session of its own: Ctrl+C of the terminal is for the capture.
      detached: true
    })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (error) =>
        reject(new UserError('failed', `${file} does not start: ${messageOf(error)}.`))
      )
    })
    return new FollowedProgram(child, options)
  }

  private constructor(
    child: ReturnType<typeof spawn>,
    private readonly options: CaptureOptions
  ) {
    this.pid = child.pid!
    this.ended = new Promise((resolve) =>
      child.once('exit', (code, signal) => resolve({ code, signal }))
    )
    const asked = new Promise<void>((resolve) => (this.endCapture = resolve))
    this.captured = this.follow(asked)
  }

  /** Ends the capture; the program goes on. @returns false where it was ending already */
  end(): boolean {
    const isFirst = !this.isEnding
    this.endCapture()
    return isFirst
  }

  signal(name: NodeJS.Signals): void {
    try {
      // Its group: what it started is meant too.
      process.kill(-this.pid, name)
    } catch {
      // It has ended meanwhile.
    }
  }

  private async follow(asked: Promise<void>): Promise<void> {
    const { folder, afterMs, forMs, endProgram } = this.options
    const over = Promise.race([this.ended, asked])
    if (afterMs > 0) {
      await Promise.race([over, this.wait(afterMs)])
      setState(folder, 'recording')
    }
    await Promise.race([over, ...(Number.isFinite(forMs) ? [this.wait(forMs)] : [])])
    this.isEnding = true
    this.abort.abort()
    setState(folder, 'ended')
    await this.untilWritten()
    if (endProgram) this.signal('SIGINT')
  }

  /** Rejects never: an end that comes first aborts it. */
  private wait(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.abort.signal }).catch(() => {})
  }

  /** What children do that outlive the program is not waited for longer than a device may take. */
  private async untilWritten(): Promise<void> {
    const until = Date.now() + longestWaitMs
    const isWriting = () =>
      shardHeaders(this.options.folder).some(
        ({ state, pid }) => (state === 'recording' || state === 'waiting') && isAlive(pid)
      )
    while (isWriting() && Date.now() < until) await sleep(lookMs)
  }
}

/** As a shell reports it. */
export function exitCodeOfProgram({ code, signal }: ProgramEnd): number {
  return code ?? 128 + (signal ? constants.signals[signal] : 0)
}
