/** The Timeline view under measurement: frames while it is zoomed and panned, and how long its answers take. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { generateTrace } from '../generateTrace'
import { measureReference, openPage } from './measurements'
import { gestureProbe, type Gesture } from './pageProbes'

export interface TimelineFigures {
  what: string
  openMs: number
  /** Between frames, ms, of each gesture. */
  gestures: { name: Gesture; median: number; longest: number; over50: number; frames: number }[]
  searchMs: number
  /** Of the page that never changes, in the same run: longest frame, ms, and frames over 50 ms. */
  reference: { longest: number; slow: number }
}

const frames = 240
/** Ten million slices on a machine that does other things too. */
const mostOpeningMs = 900_000

export async function measureTimeline(
  browser: Browser,
  url: string,
  folder: string,
  slices: number
): Promise<TimelineFigures> {
  const file = join(folder, 'generated.trace.json')
  const written = generateTrace(file, slices)
  const { page, context } = await openPage(browser, url)
  await page.getByRole('link', { name: 'Timeline' }).click()
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Open a trace' }).click()
  const began = performance.now()
  await (await chooser).setFiles(file)
  await page.getByText('Whole trace, sums by kernel').waitFor({ timeout: mostOpeningMs })
  const openMs = performance.now() - began
  await page.waitForTimeout(500)
  const reference = await measureReference(browser)
  await page.bringToFront()
  const gestures: TimelineFigures['gestures'] = []
  for (const gesture of ['zoom in', 'pan', 'range select', 'zoom out'] as const) {
    const gaps = await page.evaluate<number[]>(gestureProbe('.others canvas', gesture, frames))
    const sorted = [...gaps].sort((a, b) => a - b)
    gestures.push({
      name: gesture,
      median: sorted[sorted.length >> 1]!,
      longest: sorted[sorted.length - 1]!,
      over50: gaps.filter((gap) => gap > 50).length,
      frames: gaps.length
    })
  }
  await page.keyboard.press('/')
  const typed = performance.now()
  await page.keyboard.insertText('flash')
  await page.getByText(/^[\d,]+ found$/).waitFor()
  const searchMs = performance.now() - typed
  await context.close()
  const what = `${written} slices, ${(statSync(file).size / 1e6).toFixed(0)} MB`
  return { what, openMs, gestures, searchMs, reference }
}
