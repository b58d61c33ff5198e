/**
 * The page against its budgets: `npm run bench:ui`. Starts `blockscope serve` and Chromium, opens a generated profile of
 * a million nodes (or of --nodes N). With --strict it exits 1 when a budget is missed.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromium, type Browser } from 'playwright-core'
import { browserFlags, browserPath } from '../../e2e/support/browserFlags'
import { program, startServerProcess, type StartedServer } from '../../e2e/support/server'
import { generateProfile } from '../generateProfile'
import { measureOpenRun } from './openRun'
import { measureTimeline } from './timeline'
import {
  measureFilters,
  measureFlame,
  measureInteractions,
  framesPerRun,
  measureReference,
  measureReferenceStart,
  measureScroll,
  measureStart,
  measureWheel,
  openPage,
  openProfile,
  runs,
  slowestOfRuns
} from './measurements'

interface Line {
  what: string
  value: number
  unit: string
  /** The most that is allowed; none: shown only. */
  budget?: number
  note?: string
}

const starts = 5
/** Reading and rolling up a profile in the page, by what the command line takes for the same. */
const mostTimesCommandLine = 2

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      strict: { type: 'boolean', default: false },
      nodes: { type: 'string', default: '1000000' },
      slices: { type: 'string', default: '1000000' }
    }
  })
  if (browserPath === undefined)
    throw new Error('No Chromium is found: install it or name it in BLOCKSCOPE_CHROMIUM.')
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-bench-ui-'))
  const server = await startServerProcess()
  const browser = await chromium.launch({
    executablePath: browserPath,
    args: browserFlags
  })
  try {
    const lines = [
      ...(await startLines(browser, server.url)),
      ...(await runLines(browser, server)),
      ...(await profileLines(browser, server.url, folder, Number(values.nodes))),
      ...(await timelineLines(browser, server.url, folder, Number(values.slices)))
    ]
    console.log(`${cpus().length} x ${cpus()[0]?.model.trim()}, Chromium ${browser.version()}`)
    print(lines)
    if (values.strict && lines.some(isMissed)) process.exitCode = 1
  } finally {
    await browser.close()
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

async function startLines(browser: Browser, url: string): Promise<Line[]> {
  const measured: Awaited<ReturnType<typeof measureStart>>[] = []
  for (let run = 0; run < starts; run++) measured.push(await measureStart(browser, url))
  const median = (of: (run: (typeof measured)[number]) => number) =>
    measured.map(of).sort((a, b) => a - b)[starts >> 1]!
  const references: number[] = []
  for (let run = 0; run < starts; run++) references.push(await measureReferenceStart(browser))
  const reference = references.sort((a, b) => a - b)[starts >> 1]!
  const slowest = await measureInteractions(browser, url)
  return [
    {
      what: 'Initial JS, gzip',
      value: measured[0]!.gzipKB,
      unit: 'kB',
      budget: 150,
      note: `${measured[0]!.files} files until the first view can be used`
    },
    { what: 'First contentful paint', value: median((run) => run.paint), unit: 'ms', budget: 500 },
    {
      what: 'First useful paint',
      value: median((run) => run.useful),
      unit: 'ms',
      budget: 400,
      note: `heading and controls of the first view; median of ${starts} cold starts; a page of one button beside it ${reference.toFixed(0)} ms`
    },
    {
      what: 'The first view can be used',
      value: median((run) => run.live),
      unit: 'ms',
      note: `${median((run) => run.cpu).toFixed(0)} ms of work until then`
    },
    {
      what: 'Slowest interaction, all views',
      value: slowest.ms,
      unit: 'ms',
      budget: 100,
      note: slowest.what
    }
  ]
}

const points = 600

async function runLines(browser: Browser, server: StartedServer): Promise<Line[]> {
  const { ms, tasks } = await measureOpenRun(browser, server, points)
  return [
    {
      what: 'Open a run in Sweep',
      value: ms,
      unit: 'ms',
      note: `${points} points, until chart and table stand; longest task ${Math.max(0, ...tasks).toFixed(0)} ms, ${tasks.length} over 50 ms`
    }
  ]
}

async function profileLines(
  browser: Browser,
  url: string,
  folder: string,
  nodes: number
): Promise<Line[]> {
  const file = join(folder, 'generated.hatchet')
  generateProfile(file, nodes)
  const { page, context } = await openPage(browser, url)
  const opened = await openProfile(page, file)
  const commandLineMs = measureCommandLine(file)
  await page.waitForTimeout(1000)
  const reference = await measureReference(browser)
  const flame = await measureFlame(page)
  const scroll = await measureScroll(page)
  const wheel = await measureWheel(page, 100)
  const filters = await measureFilters(page)
  const slowest = await slowestOfRuns(page)
  const heap = await page.evaluate<number>('performance.memory.usedJSHeapSize / 2 ** 20')
  await context.close()
  const size = `${nodes} nodes, ${(statSync(file).size / 1e6).toFixed(0)} MB`
  return [
    {
      what: 'Open the profile',
      value: opened.ms,
      unit: 'ms',
      budget: mostTimesCommandLine * commandLineMs,
      note: `${size}; progress moved ${opened.steps} times; the command line ${commandLineMs.toFixed(0)} ms`
    },
    {
      what: 'Flame graph: frames over 50 ms',
      value: flame.slow,
      unit: '',
      budget: 0,
      note: `zoom and pan, median of five; longest ${flame.longest.toFixed(0)} ms, of a fixed page beside it ${reference.longest.toFixed(0)} ms (${reference.slow} over 50 ms)`
    },
    {
      what: 'Scroll: frames over 50 ms',
      value: scroll.slow,
      unit: '',
      budget: 0,
      note: `median of ${runs} times ${framesPerRun}; longest ${scroll.longest.toFixed(0)} ms; ${scroll.blankFrames} without rows`
    },
    {
      what: 'Scroll: main-thread tasks over 50 ms',
      value: scroll.slowTasks,
      unit: '',
      budget: 0,
      note: `longest ${scroll.longestTask.toFixed(0)} ms of ${scroll.tasks}, from the trace`
    },
    {
      what: 'Wheel: main-thread tasks over 50 ms',
      value: wheel.slowTasks,
      unit: '',
      budget: 0,
      note: `longest ${wheel.longestTask.toFixed(0)} ms`
    },
    {
      what: 'Slowest filter',
      value: filters.ms,
      unit: 'ms',
      budget: 150,
      note: `each the median of ${runs}: ${filters.each}`
    },
    {
      what: 'Slowest interaction, open profile',
      value: slowest.ms,
      unit: 'ms',
      budget: 100,
      note: `${slowest.what}; median of ${runs} runs`
    },
    { what: 'Heap of the page', value: heap, unit: 'MiB' }
  ]
}

async function timelineLines(
  browser: Browser,
  url: string,
  folder: string,
  slices: number
): Promise<Line[]> {
  const { what, openMs, gestures, searchMs, reference } = await measureTimeline(
    browser,
    url,
    folder,
    slices
  )
  return [
    { what: 'Open the timeline', value: openMs, unit: 'ms', note: what },
    ...gestures.map(({ name, median, longest, over50, frames }) => ({
      what: `Timeline, ${name}: frames over 50 ms`,
      value: over50,
      unit: '',
      budget: 0,
      note: `median ${median.toFixed(1)} ms, longest ${longest.toFixed(0)} ms of ${frames}; of a fixed page beside it ${reference.longest.toFixed(0)} ms (${reference.slow} over 50 ms)`
    })),
    { what: 'Timeline, search', value: searchMs, unit: 'ms', budget: 200 }
  ]
}

/** The whole command, which loads, rolls up and prints the first levels; ms. */
function measureCommandLine(file: string): number {
  const began = performance.now()
  execFileSync(process.execPath, [program, 'view', file, '--depth', '2'], { maxBuffer: 2 ** 28 })
  return performance.now() - began
}

const isMissed = ({ value, budget }: Line) => budget !== undefined && !(value <= budget)

function print(lines: readonly Line[]): void {
  const number = (value: number) => (Number.isInteger(value) ? String(value) : value.toFixed(1))
  console.log(['measured'.padEnd(38), 'value'.padStart(12), 'budget'.padStart(12)].join(''))
  for (const line of lines) {
    const { what, value, unit, budget, note } = line
    const shown = (of: number) => `${number(of)} ${unit}`.trim().padStart(12)
    const verdict = budget === undefined ? '' : isMissed(line) ? 'MISS' : 'pass'
    const allowed = budget === undefined ? ''.padStart(12) : shown(budget)
    console.log(`${what.padEnd(38)}${shown(value)}${allowed}  ${verdict.padEnd(4)}  ${note ?? ''}`)
  }
}

await main()
