import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { describe, it, onTestFailed } from 'vitest'
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

/** The browser of this worker, for all the files that run in it; it ends with the worker. Pages open beside one another have contexts of their own. */
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
  /** Every opened page is closed by its test; one that a failed test left is used by no other. */
  close(): Promise<void>
}

/** A window of the browser, and where what happens in it is kept. */
interface Tab {
  page: Page
  context: BrowserContext
  origin: string
  policyViolations: string[]
  errors: string[]
}

/** Of the server, where it has no page; that it has none, and no icon of none, is no error of a test. */
const nowhere = '/nothing'
const ofNowhere = [nowhere, '/favicon.ico']

/** Tabs that a test has done with. A page of the same server comes again in the same process, its scripts compiled, for less than two thirds of what a new one costs. */
let idle: Tab[] = []

async function newTab(browser: Browser, origin: string): Promise<Tab> {
  const context = await browser.newContext({ reducedMotion: 'reduce', acceptDownloads: true })
  context.setDefaultTimeout(patience)
  const page = await context.newPage()
  const tab: Tab = { page, context, origin, policyViolations: [], errors: [] }
  await page.exposeFunction('reportPolicyViolation', (what: string) =>
    tab.policyViolations.push(what)
  )
  await page.addInitScript(
    `document.addEventListener('securitypolicyviolation', (event) =>
       reportPolicyViolation(event.effectiveDirective + ' ' + event.blockedURI))`
  )
  page.on('pageerror', (error) => tab.errors.push(String(error)))
  page.on('console', (message) => {
    // What putBack went to is told when it likes, also after the tab was taken again.
    const { url } = message.location()
    if (message.type() === 'error' && !ofNowhere.some((path) => url === `${origin}${path}`))
      tab.errors.push(`${message.text()} (${url})`)
  })
  return tab
}

/** An idle tab of this server, or a new one. Those of other servers are closed: their files have ended. */
async function takeTab(browser: Browser, origin: string): Promise<Tab> {
  const others = idle.filter((tab) => tab.origin !== origin)
  idle = idle.filter((tab) => tab.origin === origin)
  await Promise.all(others.map(({ context }) => context.close()))
  return idle.pop() ?? newTab(browser, origin)
}

/** Leaves nothing of the page in its tab: no script that goes on, nothing stored, no permission, no pointer on it. */
async function putBack(tab: Tab): Promise<void> {
  const { page, context, origin } = tab
  tab.errors = []
  await page.goto(`${origin}${nowhere}`)
  await page.evaluate('localStorage.clear(), sessionStorage.clear()')
  await page.mouse.move(-1, -1)
  await context.clearPermissions()
  idle.push(tab)
}

/** What a page shows when its test fails tells more than what it did not show in time. */
function sayOfFailure(tab: Tab): void {
  const { page } = tab
  try {
    onTestFailed(async () => {
      if (page.isClosed() || idle.includes(tab)) return
      const shown = await page.innerText('body').catch(String)
      console.error(`The page at ${page.url()} shows:\n${shown.slice(0, 4000)}`)
    })
  } catch {
    // Opened outside of a test, for all of a file.
  }
}

/** Opens a page as in a browser that was never at its server, and keeps an ear on it. */
export async function openPage(
  browser: Browser,
  url: string,
  { theme = 'light', size = 'wide' }: { theme?: Theme; size?: Size } = {}
): Promise<OpenedPage> {
  const tab = await takeTab(browser, new URL(url).origin)
  const { page, context } = tab
  const policyViolations: string[] = (tab.policyViolations = [])
  const errors: string[] = (tab.errors = [])
  sayOfFailure(tab)
  await page.setViewportSize(sizes[size])
  await page.emulateMedia({ colorScheme: theme })
  await page.goto(url)
  // The page is live a moment after it is loaded: a key that is pressed before goes nowhere.
  await page.locator('#app:not([inert]) > *').first().waitFor({ state: 'attached' })
  const close = () => putBack(tab)
  return { page, context, policyViolations, errors, close }
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
  // Nothing moves where little motion is asked for; to end animations would scroll what fades at its side to its end.
  await page.screenshot({ path, caret: 'hide' })
}
