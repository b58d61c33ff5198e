import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { describe, it } from 'vitest'
import { patience } from '../../support/patience'
import { browserFlags, browserPath } from './browserFlags'

if (browserPath === undefined)
  console.warn(
    'Browser tests are skipped: no Chromium is found. Install one (apt-get install chromium) or name it in BLOCKSCOPE_CHROMIUM.'
  )

/** describe, for tests that need a browser; skipped where there is none. */
export const describeInBrowser = describe.skipIf(browserPath === undefined)

/** Chromium with pinned rendering, so that screenshots do not depend on the machine. */
const launch = () =>
  chromium.launch({
    executablePath: browserPath,
    timeout: patience,
    args: [
      '--font-render-hinting=none',
      '--force-device-scale-factor=1',
      '--hide-scrollbars',
      '--js-flags=--random-seed=1',
      ...browserFlags
    ]
  })

let launched: Promise<Browser> | undefined

/** The browser of this worker, for all the files that run in it; it ends with the worker. Every page has a context of its own. */
export function workerBrowser(): Promise<Browser> {
  launched ??= launch()
  return launched
}

export const sizes = {
  narrow: { width: 1024, height: 640 },
  wide: { width: 1920, height: 1080 }
} as const
export type Size = keyof typeof sizes

export const themes = ['light', 'dark'] as const
export type Theme = (typeof themes)[number]

export interface OpenedPage {
  page: Page
  context: BrowserContext
  /** What the security policy blocked: directive and what it was. To be empty at the end of every test. */
  policyViolations: string[]
  /** Errors in the console and errors nobody caught. To be empty too. */
  errors: string[]
}

/** Opens a page in a context of its own and keeps an ear on it. */
export async function openPage(
  browser: Browser,
  url: string,
  { theme = 'light', size = 'wide' }: { theme?: Theme; size?: Size } = {}
): Promise<OpenedPage> {
  const context = await browser.newContext({
    viewport: sizes[size],
    colorScheme: theme,
    reducedMotion: 'reduce',
    acceptDownloads: true
  })
  context.setDefaultTimeout(patience)
  const page = await context.newPage()
  const policyViolations: string[] = []
  const errors: string[] = []
  await page.exposeFunction('reportPolicyViolation', (what: string) => policyViolations.push(what))
  await page.addInitScript(
    `document.addEventListener('securitypolicyviolation', (event) =>
       reportPolicyViolation(event.effectiveDirective + ' ' + event.blockedURI))`
  )
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  await page.goto(url)
  // The page is live a moment after it is loaded: a key that is pressed before goes nowhere.
  await page.locator('#app:not([inert]) > *').first().waitFor({ state: 'attached' })
  return { page, context, policyViolations, errors }
}

/** Photographs are for docs/screenshots: on request, UPDATE_SCREENSHOTS=1. */
export const isPhotographed = process.env.UPDATE_SCREENSHOTS === '1'

/** The looks of docs/screenshots, the widest first. */
export const photographs = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 420, height: 900 }
].flatMap((size) => themes.map((theme) => ({ theme, ...size })))

/** it, for tests that only take photographs: they run when photographs are asked for. */
export const itIsPhotographed = it.runIf(isPhotographed)

/** Saves what the page looks like as docs/screenshots/NAME.png, when UPDATE_SCREENSHOTS=1. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (!isPhotographed) return
  const path = fileURLToPath(new URL(`../../../docs/screenshots/${name}.png`, import.meta.url))
  mkdirSync(dirname(path), { recursive: true })
  // What the pointer happens to lie on after the last click would stand out.
  await page.mouse.move(0, 0)
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' })
}
