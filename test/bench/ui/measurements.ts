/** The measurements of the page, each on the real program in a real Chromium. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import {
  filterProbe,
  gestureProbe,
  referencePage,
  referenceProbe,
  referenceStartPage,
  scrollProbe,
  startProbe
} from './pageProbes'
import { mainThreadTasks, type TraceEvent } from './traceTasks'

export interface OpenPage {
  page: Page
  context: BrowserContext
}

const viewport = { width: 1920, height: 1080 }
const toTop = `document.querySelector('[role=treegrid]').scrollTop = 0`
const treeRows = '[role=treegrid] [role=row][data-index]'

/** A page in a context of its own: nothing is in its cache. */
export async function openPage(browser: Browser, url?: string): Promise<OpenPage> {
  const context = await browser.newContext({ viewport })
  const page = await context.newPage()
  await page.addInitScript(startProbe)
  if (url) await page.goto(url)
  return { page, context }
}

/**
 * Scripts fetched until the first view can be used, in kB after gzip; and the times of first paint, of that view and of its
 * first use, ms. `cpu` is what the page's thread worked until then, ms: other work on the machine does not change it.
 */
export async function measureStart(browser: Browser, url: string) {
  const { page, context } = await openPage(browser)
  const session = await context.newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const scripts: Promise<Buffer>[] = []
  let isStarting = true
  page.on('response', (response) => {
    if (isStarting && /\.js$/.test(new URL(response.url()).pathname)) scripts.push(response.body())
  })
  await page.goto(url, { waitUntil: 'commit' })
  const useful = await page.evaluate<number>('window.bench.useful')
  const live = await page.evaluate<number>('window.bench.live')
  isStarting = false
  const { metrics } = await session.send('Performance.getMetrics')
  const cpu = metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000
  const bodies = await Promise.all(scripts)
  const paint = await page.evaluate<number>(
    `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`
  )
  await context.close()
  const gzipKB = bodies.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0) / 1000
  return { gzipKB, files: bodies.length, useful, live, paint, cpu }
}

/** Clicks and keys in several views; the slowest from input to next paint, ms (Event Timing, steps of 8 ms). */
export async function measureInteractions(browser: Browser, url: string) {
  const { page, context } = await openPage(browser, url)
  const rail = ['Devices', 'Sweep', 'Formats', 'Layouts', 'Profile', 'Timeline', 'Runs', 'Validate']
  // The first visit loads a view's code; what is measured is the answer to a click, either way.
  for (const view of [...rail, ...rail]) {
    await page.getByRole('link', { name: view }).click()
    await page.waitForTimeout(250)
  }
  await page.getByRole('link', { name: 'Layouts' }).click()
  for (const key of ['Tab', 'Tab', 'Tab', 'ArrowDown', 'ArrowDown', 'ArrowUp']) {
    await page.keyboard.press(key)
    await page.waitForTimeout(60)
  }
  await page.keyboard.press('Control+k')
  await page.waitForTimeout(200)
  await page.keyboard.type('theme', { delay: 40 })
  await page.keyboard.press('Escape')
  await page.waitForTimeout(200)
  const slowest = await slowestInteraction(page)
  await context.close()
  return slowest
}

async function slowestInteraction(page: Page): Promise<{ ms: number; what: string }> {
  await page.waitForTimeout(300)
  const events = await page.evaluate<[string, number][]>('window.bench.events')
  const [what, ms] = events.reduce(
    (most, event) => (event[1] > most[1] ? event : most),
    ['none over 16 ms', 0]
  )
  return { ms, what }
}

/** Selects, closes, opens, sorts, searches. */
async function workThrough(page: Page): Promise<void> {
  const row = page.locator('[role=treegrid] [role=row][data-index]')
  await page.evaluate(toTop)
  await page.waitForTimeout(300)
  await row.nth(3).click()
  const keys = ['ArrowDown', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'PageDown', 'End', 'Home', '*']
  for (const key of keys) {
    await page.keyboard.press(key)
    await page.waitForTimeout(250)
  }
  const heading = page.locator('[role=treegrid] [role=columnheader] button').first()
  for (let click = 0; click < 3; click++) {
    await heading.click()
    await page.waitForTimeout(800)
  }
  await page.getByLabel('Search').click()
  await page.keyboard.type('kernel', { delay: 80 })
  await page.waitForTimeout(500)
  await page.getByLabel('Search').fill('')
}

/** Works through the open profile five times; of the slowest interaction of each, the median. */
export async function slowestOfRuns(page: Page): Promise<{ ms: number; what: string }> {
  const slowest: { ms: number; what: string }[] = []
  for (let run = 0; run < runs; run++) {
    await page.evaluate('window.bench.events = []')
    await workThrough(page)
    slowest.push(await slowestInteraction(page))
  }
  return slowest.sort((a, b) => a.ms - b.ms)[runs >> 1]!
}

/** Chooses a file in the Profile view; ms until its rows stand, and how often the progress bar moved on the way. */
export async function openProfile(page: Page, path: string) {
  await page.getByRole('link', { name: 'Profile' }).click()
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Open a profile' }).first().click()
  const chosen = await chooser
  await page.evaluate(`
    window.bench.progress = new Set()
    new MutationObserver(() => {
      const bar = document.querySelector('main [role=progressbar]')
      if (bar) window.bench.progress.add(bar.getAttribute('aria-valuenow'))
    }).observe(document.body, { subtree: true, childList: true, attributes: true })`)
  const began = performance.now()
  await chosen.setFiles(path)
  await page.locator(treeRows).nth(5).waitFor({ timeout: 120_000 })
  const ms = performance.now() - began
  return { ms, steps: await page.evaluate<number>('window.bench.progress.size') }
}

/**
 * Scrolls the open tree from top to bottom, a step per frame: every row is another one in each. Frames over 50 ms are counted
 * by the gaps between frames, of five runs the median; tasks over 50 ms by the trace of one run more, which costs time itself.
 */
export async function measureScroll(page: Page) {
  let blankFrames = 0
  const scroll = async () => {
    await page.evaluate(toTop)
    await page.waitForTimeout(300)
    const { gaps, blank } = await page.evaluate<{ gaps: number[]; blank: number }>(
      scrollProbe('[role=treegrid]', framesPerRun)
    )
    blankFrames += blank
    return gaps
  }
  const frames = await medianFrames(scroll)
  const { events } = await traced(page, scroll)
  const tasks = mainThreadTasks(events)
  return {
    ...frames,
    slowTasks: tasks.filter((task) => task > 50).length,
    longestTask: Math.max(...tasks),
    tasks: tasks.length,
    blankFrames
  }
}

/** The same with a mouse wheel, as a person scrolls. */
export async function measureWheel(page: Page, turns: number) {
  await page.evaluate(toTop)
  await page.locator(treeRows).nth(8).hover()
  const { events } = await traced(page, async () => {
    for (let turn = 0; turn < turns; turn++) await page.mouse.wheel(0, 400)
  })
  const tasks = mainThreadTasks(events)
  return { slowTasks: tasks.filter((task) => task > 50).length, longestTask: Math.max(...tasks) }
}

/** From the input event to the painted answer; the slowest of several filters, ms. */
export const runs = 5

/** The slowest of a list of filters, each the median of five runs. */
export async function measureFilters(page: Page): Promise<{ ms: number; each: string }> {
  await page.getByRole('button', { name: /^Filter/ }).click()
  const filters = [
    ['Include', 'matmul_mxfp4_3'],
    ['Include', '/operator_[35]/'],
    ['Include', ''],
    ['Exclude', 'cutlass'],
    ['Exclude', ''],
    ['At least', '0.9'],
    ['At least', '']
  ] as const
  const times = filters.map((): number[] => [])
  for (let run = 0; run < runs; run++) {
    for (const [at, [label, text]] of filters.entries()) {
      times[at]!.push(await page.evaluate<number>(filterProbe(label, text)))
      await page.waitForTimeout(300)
    }
  }
  await page.keyboard.press('Escape')
  const medians = times.map((each) => each.sort((a, b) => a - b)[runs >> 1]!)
  const each = filters
    .map(([label, text], at) => `${label} ${text || 'cleared'} ${medians[at]!.toFixed(0)}`)
    .join(', ')
  return { ms: Math.max(...medians), each }
}

export const framesPerRun = 120

interface Frames {
  /** Of five runs, the median. */
  slow: number
  longest: number
}

/** Zoom and pan of the flame graph of the open profile; each figure is the median of five runs. */
export async function measureFlame(page: Page): Promise<Frames> {
  const picture = 'canvas[role=application]'
  await page.locator(picture).waitFor()
  return medianFrames(async () => {
    const gaps: number[] = []
    for (const gesture of ['zoom in', 'pan', 'zoom out'] as const)
      gaps.push(
        ...(await page.evaluate<number[]>(gestureProbe(picture, gesture, framesPerRun / 3)))
      )
    return gaps
  })
}

/** A page of one heading and one button: what starting any page takes here. */
export async function measureReferenceStart(browser: Browser): Promise<number> {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end(referenceStartPage)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { page, context } = await openPage(browser)
  await page.goto(`http://127.0.0.1:${port}/`, { waitUntil: 'commit' })
  const useful = await page.evaluate<number>('window.bench.useful')
  await context.close()
  server.close()
  return useful
}

/** The same frames of a page that never changes, in the same browser. */
export async function measureReference(browser: Browser): Promise<Frames> {
  const { page, context } = await openPage(browser)
  await page.setContent(referencePage)
  const frames = await medianFrames(() => page.evaluate<number[]>(referenceProbe(framesPerRun)))
  await context.close()
  return frames
}

async function medianFrames(run: () => Promise<number[]>): Promise<Frames> {
  const each: Frames[] = []
  for (let at = 0; at < runs; at++) {
    const gaps = await run()
    each.push({ slow: gaps.filter((gap) => gap > 50).length, longest: Math.max(...gaps) })
  }
  const median = (of: (frames: Frames) => number) => each.map(of).sort((a, b) => a - b)[runs >> 1]!
  return { slow: median(({ slow }) => slow), longest: median(({ longest }) => longest) }
}

/** Runs something while Chromium traces itself. */
async function traced<T>(
  page: Page,
  work: () => Promise<T>
): Promise<{ result: T; events: TraceEvent[] }> {
  const session = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  session.on('Tracing.dataCollected', ({ value }) => {
    for (const event of value) events.push(event as unknown as TraceEvent)
  })
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: {
      includedCategories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline']
    }
  })
  const result = await work()
  await endTracing(session)
  await session.detach()
  return { result, events }
}

function endTracing(session: CDPSession): Promise<void> {
  return new Promise((resolve, reject) => {
    session.once('Tracing.tracingComplete', () => resolve())
    session.send('Tracing.end').catch(reject)
  })
}
