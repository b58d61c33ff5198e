/** A stored sweep that is opened in the Sweep view: how long until its chart and table stand, and what held the page meanwhile. */
import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import type { Run } from '../../../src-shared/contract/run'
import { addRun } from '../../e2e/support/server'
import { openPage, runs } from './measurements'

/** Kernels beside one another, each over as many K. */
const mostLines = 10

/** The points of a run that an H200 made, at as many K as make so many of them. */
function sweepOf(count: number): Run {
  const run = JSON.parse(readFileSync('docs/results/h200-k-sweep/run.json', 'utf8')) as Run
  const measured = run.steps.filter(({ measurement }) => measurement)
  const lines = [
    ...new Map(measured.map((step) => [`${step.format} ${step.kernel}`, step])).values()
  ].slice(0, mostLines)
  const steps = Array.from({ length: count }, (_, index) => ({
    ...lines[index % lines.length]!,
    index,
    k: 128 * (1 + Math.floor(index / lines.length))
  }))
  return { ...run, id: `points-${count}`, steps }
}

const openIt = (id: string) => `new Promise((done) => {
  const tasks = []
  const began = performance.now()
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask' })
  const look = () => {
    const stands = document.querySelector('main canvas') &&
      document.querySelector('[role=grid][aria-label=Sweep] [role=row][data-index]')
    if (!stands) return requestAnimationFrame(look)
    const ms = performance.now() - began
    setTimeout(() => done({ ms, tasks }), 500)
  }
  location.hash = '#/sweep?run=${id}'
  look()
})`

interface Opened {
  ms: number
  /** Above 50 ms, each. */
  tasks: number[]
}

/** The median by time of several openings, each in a page whose cache is empty and that has the view without a run. */
export async function measureOpenRun(
  browser: Browser,
  { url, storeFolder }: { url: string; storeFolder: string },
  points: number
): Promise<Opened> {
  const id = addRun(storeFolder, sweepOf(points))
  const opened: Opened[] = []
  for (let run = 0; run < runs; run++) {
    const { page, context } = await openPage(browser, url)
    await page.getByRole('link', { name: 'Sweep', exact: true }).click()
    await page.waitForTimeout(1000)
    opened.push(await page.evaluate<Opened>(openIt(id)))
    await context.close()
  }
  return opened.sort((a, b) => a.ms - b.ms)[runs >> 1]!
}
