/** A job in the terminal: starts it, prints each step as it ends, shows progress, and cancels on Ctrl-C. */
import type { JobSpec } from '@shared/contract/jobs'
import type { JobEvent } from '@shared/contract/methods'
import type { Run, Step } from '@shared/contract/run'
import { columnsOf, heading, type Column } from '@shared/report/table'
import { columnWidths, tableLine } from '@shared/report/text'
import type { Application } from '../jobs/handlers'

export interface FollowOptions {
  /** Print nothing but errors. */
  quiet: boolean
  /** Folder of this run, instead of one in the store. */
  folder?: string
}

export async function followJob(
  application: Application,
  spec: JobSpec,
  options: FollowOptions
): Promise<{ run: Run; folder: string }> {
  const id = await application.jobs.start(spec, options.folder)
  const folder = options.folder ?? application.store.folderOf(id)
  const run = application.jobs.current(id)!
  const screen = new Screen(run, options.quiet)
  let interrupts = 0
  const interrupt = () => {
    if (++interrupts > 1) process.exit(130)
    process.stderr.write('\nCancelling; what is done is kept. Ctrl-C again to leave at once.\n')
    application.jobs.cancel(id)
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  try {
    await application.jobs.watch(id, new AbortController().signal, (event) => screen.show(event))
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
    screen.clearProgress()
  }
  return { run, folder }
}

/** Rows go to stdout as steps end; progress and notices go to stderr. */
class Screen {
  private readonly columns: Column[]
  private widths: number[] | undefined
  private lastProgress = 0
  private progressShown = false

  constructor(
    run: Run,
    private readonly quiet: boolean
  ) {
    this.columns = columnsOf(run)
  }

  show(event: JobEvent): void {
    if (event.type === 'notice') {
      this.clearProgress()
      process.stderr.write(`${event.message}\n`)
    }
    if (this.quiet) return
    // A sweep's point is printed once per round; the last line of a point holds all its samples.
    if (event.type === 'step') this.row(event.step)
    if (event.type === 'progress') this.progress(event)
  }

  private row(step: Step): void {
    this.clearProgress()
    if (!this.widths) {
      const usual = this.columns.map((column) => Math.max(heading(column).length, 9))
      this.widths = columnWidths(this.columns, [step]).map((width, i) => Math.max(width, usual[i]!))
      process.stdout.write(tableLine(this.columns, undefined, this.widths) + '\n')
    }
    process.stdout.write(tableLine(this.columns, step, this.widths) + '\n')
    if (step.reason) process.stdout.write(`  ${step.reason.replaceAll('\n', '\n  ')}\n`)
  }

  private progress(event: JobEvent & { type: 'progress' }): void {
    const now = Date.now()
    const terminal = process.stderr.isTTY
    if (now - this.lastProgress < (terminal ? 100 : 10_000)) return
    this.lastProgress = now
    const percent = Math.floor(event.fraction * 100)
    const text = `${percent} %  ${event.activity}  ${duration(event.secondsLeft)} left`
    if (!terminal) process.stderr.write(`${text}\n`)
    else {
      process.stderr.write(`\r\x1b[K${text.slice(0, (process.stderr.columns ?? 100) - 1)}`)
      this.progressShown = true
    }
  }

  clearProgress(): void {
    if (this.progressShown) process.stderr.write('\r\x1b[K')
    this.progressShown = false
  }
}

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? `${minutes} min` : `${(seconds / 3600).toFixed(1)} h`
}
