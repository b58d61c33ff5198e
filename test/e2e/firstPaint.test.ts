/** What stands on the screen before the scripts of the page have arrived. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser, openPage, workerBrowser } from './support/browser'
import { startServerProcess, type StartedServer } from './support/server'

/** Where the parts stand that a person sees first. */
const places = (page: Page) =>
  page.evaluate<[string, number, number, number, number][]>(
    `['h1', 'main button', 'nav', '.device'].map((selector) => {
      const { x, y, width, height } = document.querySelector(selector).getBoundingClientRect()
      return [selector, x, y, width, height]
    })`
  )

describeInBrowser('the first paint', () => {
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await workerBrowser()
  })
  afterAll(() => server?.stop())

  /** The page whose scripts do not come, but for the one that stands before the first paint. */
  async function withoutScripts(address: string, saved?: object) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    if (saved)
      await page.addInitScript(
        `localStorage.setItem('blockscope.settings', '${JSON.stringify(saved)}')`
      )
    const violations: string[] = []
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) violations.push(message.text())
    })
    await page.route(/assets\/index-.*\.js$/, (route) => route.abort())
    await page.goto(address)
    return { page, context, violations }
  }

  it('shows the first view where it stays, which takes no click yet', async () => {
    const { page, context, violations } = await withoutScripts(server.url)
    expect(await page.locator('h1').innerText()).toBe('Validate')
    const start = page.locator('main button').first()
    expect(await start.innerText()).toBe('Validate all formats')
    expect(await page.locator('#app').getAttribute('inert')).toBe('')
    const before = await places(page)
    await context.close()
    const live = await openPage(browser, server.url)
    await live.page.setViewportSize({ width: 1440, height: 900 })
    expect(await places(live.page)).toEqual(before)
    expect([violations, live.errors, live.policyViolations]).toEqual([[], [], []])
    await live.close()
  })

  it('has the look that was chosen', async () => {
    const { page, context } = await withoutScripts(server.url, { theme: 'dark', density: 'x' })
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    expect(await page.locator('html').getAttribute('data-density')).toBe('compact')
    await context.close()
  })

  it('shows nothing of the first view where the address names another', async () => {
    const { page, context } = await withoutScripts(`${server.url.split('#')[0]!}#/sweep`)
    expect(await page.locator('#app > *').count()).toBe(0)
    await context.close()
  })
})
