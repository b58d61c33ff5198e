/** Starts the program and follows it and its children until they have written what they did. */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { injectedLibrary } from '@shared/capture/captureFiles'
import type { CaptureSpec } from '@shared/contract/capture'
import { messageOf, UserError } from '@shared/errors'
import { builtFile } from '../engine/loadAddon'
import { isAlive, setState, shardHeaders } from './captureFolder'

/** What a child inherits, and what a program may have set for a profiler of its own. */
const injectionVariables = [
  'CUDA_INJECTION64_PATH',
  'NVTX_INJECTION64_PATH',
  'ROCP_TOOL_LIBRARIES'
] as const
/** As long as the library waits for the device, and a little. */
const longestWaitMs = 12_000
const lookMs = 50

/** The terminal's, or a tail of what is printed. */
export type ProgramStreams = 'inherit' | { take(part: Buffer): void }

export interface ProgramStart {
  file: string
  environment: NodeJS.ProcessEnv
  spec: CaptureSpec
  /** Of the capture. */
  folder: string
  streams: ProgramStreams
}

export interface ProgramEnd {
  code: number | null
  signal: NodeJS.Signals | null
}

/** @throws UserError where another profiler is asked for already, or the library was not built */
export function captureEnvironment(spec: CaptureSpec, folder: string): NodeJS.ProcessEnv {
  const given = { ...process.env, ...spec.environment }
  const set = injectionVariables.find((name) => given[name])
  if (set !== undefined)
    throw new UserError(
      'usage',
      `${set} is set to ${given[set]}: another profiler would be put out; unset it to capture.`
    )
  const library = builtFile(injectedLibrary)
  if (library === undefined)
    throw new UserError(
      'unavailable',
      'The library that is injected into programs was not built: captures need Linux, and npm rebuild where it is missing.'
    )
  const { range = '', kernels = '', only = '', wholeGraphs, python, counters } = spec
  return {
    ...given,
    CUDA_INJECTION64_PATH: library,
    NVTX_INJECTION64_PATH: library,
    ROCP_TOOL_LIBRARIES: library,
    LD_PRELOAD: [library, spec.environment.LD_PRELOAD ?? process.env.LD_PRELOAD]
      .filter(Boolean)
      .join(':'),
    BLOCKSCOPE_CAPTURE_FOLDER: folder,
    BLOCKSCOPE_CAPTURE_RANGE: range,
    BLOCKSCOPE_CAPTURE_KERNELS: kernels,
    BLOCKSCOPE_CAPTURE_ONLY: only,
    BLOCKSCOPE_CAPTURE_GRAPHS: wholeGraphs ? '1' : '',
    BLOCKSCOPE_CAPTURE_COUNTERS: counters.join(','),
    BLOCKSCOPE_CAPTURE_PYTHON: python ? '1' : ''
  }
}

/** A program under capture: `ended` when it has ended, `captured` when nothing more will be written. */
export class FollowedProgram {
  readonly ended: Promise<ProgramEnd>
  readonly captured: Promise<void>
  readonly pid: number
  private readonly abort = new AbortController()
  private endCapture!: () => void
  private beginCapture!: () => void
  private isEnding = false
  private hasBegun = false

  /** @throws UserError where the system does not start it */
  static async start(start: ProgramStart): Promise<FollowedProgram> {
    const { file, environment, spec, streams } = start
    const [name, ...words] = spec.command
    const child = spawn(file, words, {
      argv0: name,
      env: environment,
      cwd: spec.workingFolder,
      stdio: streams === 'inherit' ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      // A session of its own: Ctrl+C of the terminal is for the capture.
      detached: true
    })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (error) =>
        reject(new UserError('failed', `${file} does not start: ${messageOf(error)}.`))
      )
    })
    if (streams !== 'inherit')
      for (const stream of [child.stdout!, child.stderr!])
        stream.on('data', (part: Buffer) => streams.take(part))
    return new FollowedProgram(child, start)
  }

  private constructor(
    child: ReturnType<typeof spawn>,
    private readonly start: ProgramStart
  ) {
    this.pid = child.pid!
    this.ended = new Promise((resolve) =>
      child.once('exit', (code, signal) => resolve({ code, signal }))
    )
    const asked = new Promise<void>((resolve) => (this.endCapture = resolve))
    const begun = new Promise<void>((resolve) => (this.beginCapture = resolve))
    this.captured = this.follow(asked, begun)
  }

  get state(): 'waiting' | 'recording' | 'ending' {
    if (this.isEnding) return 'ending'
    return this.hasBegun ? 'recording' : 'waiting'
  }

  /** Begins the capture of one that waits; @returns false where it has begun already */
  begin(): boolean {
    const isFirst = this.state === 'waiting'
    this.beginCapture()
    return isFirst
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

  private async follow(asked: Promise<void>, begun: Promise<void>): Promise<void> {
    const { folder, spec } = this.start
    const { afterMs, forMs, waits, endProgram } = spec
    const over = Promise.race([this.ended, asked])
    if (waits || afterMs > 0) {
      const times = waits ? [] : [this.wait(afterMs)]
      const isOver = await Promise.race([
        over.then(() => true),
        ...[begun, ...times].map((beginning) => beginning.then(() => false))
      ])
      if (!isOver) setState(folder, 'recording')
    }
    this.hasBegun = true
    await Promise.race([over, ...(forMs === undefined ? [] : [this.wait(forMs)])])
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
    const until = performance.now() + longestWaitMs
    const isWriting = () =>
      shardHeaders(this.start.folder).some(
        ({ state, pid }) => (state === 'recording' || state === 'waiting') && isAlive(pid)
      )
    while (isWriting() && performance.now() < until) await sleep(lookMs)
  }
}

/** As a shell reports it. */
export function exitCodeOfProgram({ code, signal }: ProgramEnd): number {
  return code ?? 128 + (signal ? constants.signals[signal] : 0)
}
