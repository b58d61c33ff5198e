/** A job in the terminal: starts it, prints each step as it ends, shows progress, and cancels on Ctrl-C. */
import { autoKernel } from '@shared/contract/devices'
import type { JobSpec } from '@shared/contract/jobs'
import type { JobEvent } from '@shared/contract/methods'
import type { Run, Step } from '@shared/contract/run'
import { dispositionWords } from '@shared/measurement/outcome'
import { columnsOf, heading, type Column } from '@shared/report/table'
import { columnWidths, tableLine } from '@shared/report/text'
import { counted } from '@shared/units'
import {
  clearProgress,
  print,
  printNote,
  showProgress,
  showsProgress,
  worksOnWithoutReader
} from '../ground/terminal'
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
  const id = await application.jobs.start(spec, options)
  const folder = options.folder ?? application.store.folderOf(id)
  const run = application.jobs.current(id)!
  const screen = new Screen(run, options.quiet)
  let interrupts = 0
  const interrupt = () => {
    if (++interrupts > 1) process.exit(130)
    printNote('Cancelling; what is done is kept. Ctrl-C again to leave at once.')
    void application.jobs.cancel(id)
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  try {
    const { signal } = new AbortController()
    await worksOnWithoutReader(() =>
      application.jobs.watch(id, signal, (event) => screen.show(event))
    )
  } finally {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
    clearProgress()
  }
  return { run, folder }
}

/** Words of columns that the first row need not have. */
const expectedWords: Record<string, string[]> = {
  result: [dispositionWords.baseline, dispositionWords['not-supported']]
}

/** Kernels that a run may have rows of: those that are named, else those of its device that compute a format of it. */
function kernelsOf({ spec, device }: Run): string[] {
  const named = spec.kernels.filter((name) => name !== autoKernel)
  if (named.length === spec.kernels.length && named.length > 0) return named
  const able = (device?.kernels ?? []).filter(
    ({ provider, capabilities }) =>
      (spec.providers.length === 0 || spec.providers.includes(provider)) &&
      capabilities.some(({ level }) => level !== 'unavailable' && level !== 'emulated')
  )
  return [...named, ...able.map(({ id }) => id)]
}

/** Rows go to stdout as steps end; progress and notices go to stderr. */
class Screen {
  private readonly columns: Column[]
  private widths: number[] | undefined
  private readonly kernels: readonly string[]
  private lastProgress = -Infinity

  constructor(
    run: Run,
    private readonly quiet: boolean
  ) {
    this.columns = columnsOf(run)
    this.kernels = kernelsOf(run)
  }

  show(event: JobEvent): void {
    if (event.type === 'notice') {
      printNote(event.message)
    }
    if (this.quiet) return
    if (event.type === 'snapshot' && event.secondsRange) this.planned(event)
    // A sweep's point is printed once per round; the last line of a point holds all its samples.
    if (event.type === 'step') this.row(event.step)
    if (event.type === 'progress') this.progress(event)
  }

  /** What is planned, before it is done. */
  private planned({ run, stepsPlanned, secondsRange }: JobEvent & { type: 'snapshot' }): void {
    const what = counted(stepsPlanned, run.kind === 'sweep' ? 'point' : 'step')
    printNote([
      ...(run.operandsRead ?? []),
      `${what} on ${run.device?.name ?? ''}, ${durationRange(secondsRange!)}.`
    ])
  }

  private row(step: Step): void {
    clearProgress()
    if (!this.widths) {
      const usual = this.columns.map((column) => {
        const expected =
          column.title === 'kernel' ? this.kernels : (expectedWords[column.title] ?? [])
        return Math.max(heading(column).length, 9, ...expected.map(({ length }) => length))
      })
      this.widths = columnWidths(this.columns, [step]).map((width, i) => Math.max(width, usual[i]!))
      print(tableLine(this.columns, undefined, this.widths))
    }
    print(tableLine(this.columns, step, this.widths))
    if (step.reason) print(step.reason.split('\n').map((line) => `  ${line}`))
  }

  private progress(event: JobEvent & { type: 'progress' }): void {
    const now = performance.now()
    if (now - this.lastProgress < (showsProgress() ? 100 : 10_000)) return
    this.lastProgress = now
    const percent = Math.floor(event.fraction * 100)
    const text = `${percent} %  ${event.activity}  ${duration(event.secondsLeft)} left`
    showProgress(text)
  }
}

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? `${minutes} min` : `${(seconds / 3600).toFixed(1)} h`
}

/** 'about 4 s to 9 s', 'about 2 min'. */
export function durationRange([from, to]: readonly [number, number]): string {
  const [low, high] = [duration(from), duration(to)]
  return low === high ? `about ${low}` : `about ${low} to ${high}`
}
