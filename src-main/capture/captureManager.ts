/** Captures that the app starts and keeps: one at a time runs, each in a folder of its own. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { captureFileName } from '@shared/capture/captureFiles'
import {
  captureIdSchema,
  type CaptureEvent,
  type CaptureSpec,
  type CaptureSummary
} from '@shared/contract/capture'
import { messageOf, UserError } from '@shared/errors'
import type { CaptureRecord } from './captureRecord'
import type { ProgramEnd } from './followProgram'
import { captureCounts, stampOf, startCapture, type RunningCapture } from './runCapture'

/** Asked before a program is started; where a caller may start none it says who may. */
export type AllowProgram = (spec: CaptureSpec) => Promise<boolean>

const lookMs = 500
/** Of what the program printed. */
const keptOutput = 16_384

interface Current {
  id: string
  spec: CaptureSpec
  running: RunningCapture
  printed: { tail: string }
  summary: CaptureSummary | undefined
  failure: unknown
  /** When the capture, and when its program, has ended and is recorded. */
  captured: Promise<void>
  over: Promise<void>
  isOver: boolean
}

export class CaptureManager {
  private current: Current | undefined
  private isStarting = false

  constructor(
    readonly folder: string,
    private readonly allow: AllowProgram | undefined
  ) {}

  folderOf(id: string): string {
    return join(this.folder, id)
  }

  /** @returns undefined where the person at this machine said no */
  async start(spec: CaptureSpec): Promise<string | undefined> {
    if (!this.allow)
      throw new UserError(
        'usage',
        'A capture starts a program: the desktop app of this machine does, and serve --allow-capture.'
      )
    if (this.isStarting || (this.current && !this.current.isOver))
      throw new UserError(
        'usage',
        'The program of a capture still runs: end it before another is started.'
      )
    this.isStarting = true
    try {
      if (!(await this.allow(spec))) return undefined
      const id = this.freeId(new Date())
      this.current = await this.follow(id, spec)
      return id
    } finally {
      this.isStarting = false
    }
  }

  begin(id: string): void {
    this.runningOf(id).program.begin()
  }

  stop(id: string, what: 'capture' | 'program'): void {
    const { program } = this.runningOf(id)
    program.end()
    if (what === 'program') program.signal('SIGINT')
  }

  /** Until its program has ended, or who watches leaves. */
  async watch(
    id: string,
    signal: AbortSignal,
    report: (event: CaptureEvent) => void
  ): Promise<CaptureSummary> {
    const current = this.currentOf(id)
    if (!current) return this.read(id)
    const left = new Promise<void>((leave) =>
      signal.addEventListener('abort', () => leave(), { once: true })
    )
    while (!current.isOver && !signal.aborted) {
      report(eventOf(current))
      const pause = new Promise<void>((wake) => setTimeout(wake, lookMs))
      const next = current.summary ? current.over : current.captured
      await Promise.race([pause, next, left])
    }
    if (current.failure !== undefined) throw current.failure
    report(eventOf(current))
    return current.summary ?? this.read(id)
  }

  /** Newest first; what has no record that can be read is left out. */
  list(): { captures: CaptureSummary[]; running: string | null } {
    const names = existsSync(this.folder) ? readdirSync(this.folder) : []
    const ids = names
      .filter((name) => v.is(captureIdSchema, name))
      .sort()
      .reverse()
    const captures = ids.flatMap((id) => {
      try {
        return [this.read(id)]
      } catch {
        return []
      }
    })
    return { captures, running: this.current && !this.current.isOver ? this.current.id : null }
  }

  /** Ends what runs, and its program, and waits until that is on disk. */
  async close(): Promise<void> {
    const { current } = this
    if (!current || current.isOver) return
    this.stop(current.id, 'program')
    await current.captured
  }

  private runningOf(id: string): RunningCapture {
    const current = this.currentOf(id)
    if (!current) throw new UserError('usage', `Capture ${id} does not run.`)
    return current.running
  }

  private currentOf = (id: string) =>
    this.current?.id === id && !this.current.isOver ? this.current : undefined

  private freeId(date: Date): string {
    const stamp = stampOf(date)
    let id = stamp
    for (let more = 2; existsSync(this.folderOf(id)); more++) id = `${stamp}-${more}`
    return id
  }

  private async follow(id: string, spec: CaptureSpec): Promise<Current> {
    const printed = { tail: '' }
    const take = (part: Buffer) => {
      printed.tail = (printed.tail + part.toString()).slice(-keptOutput)
    }
    const running = await startCapture(spec, this.folderOf(id), { streams: { take } })
    const { program } = running
    const recorded = async (end: ProgramEnd | null) => {
      made.summary = summaryOf(id, await running.record(end))
    }
    const fail = (error: unknown) => {
      made.failure = error
    }
    const captured = program.captured.then(() => recorded(null)).catch(fail)
    const over = Promise.all([captured, program.ended])
      .then(([, end]) => recorded(end))
      .catch(fail)
      .finally(() => (made.isOver = true))
    const made: Current = {
      ...{ id, spec, running, printed, summary: undefined, failure: undefined },
      ...{ isOver: false, captured, over }
    }
    return made
  }

  private read(id: string): CaptureSummary {
    const file = join(this.folderOf(id), captureFileName)
    try {
      return summaryOf(id, JSON.parse(readFileSync(file, 'utf8')) as CaptureRecord)
    } catch (error) {
      const why = messageOf(error)
      throw new UserError('usage', `Capture ${id} has no record that can be read: ${why}.`, {
        cause: error
      })
    }
  }
}

function eventOf({ running, spec, printed, summary }: Current): CaptureEvent {
  const seconds = (performance.now() - running.startedMs) / 1000
  const state = summary ? 'ended' : running.program.state
  return {
    ...{ state, seconds, output: printed.tail },
    command: [...spec.command],
    counts: captureCounts(running.folder),
    ...(summary && { summary })
  }
}

const summaryOf = (id: string, record: CaptureRecord): CaptureSummary => ({
  id,
  startedAt: record.startedAt,
  command: [...record.command],
  processes: record.totals.processes,
  kernels: record.totals.kernels,
  lostKernels: record.totals.lostKernels,
  notes: [...record.notes],
  program: record.program
})
