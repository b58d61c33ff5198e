/** Devices and Validate in a real browser, over the real server, engine and addon. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInBrowser,
  launchBrowser,
  openPage,
  takeScreenshots,
  themes
} from './support/browser'
import { startServerProcess, type StartedServer } from './support/server'

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8'
)

describeInBrowser('jobs in the page', () => {
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  async function go(page: Page, view: string): Promise<void> {
    await page.evaluate(`location.hash = '#/${view}'`)
  }

  async function validateAll(page: Page): Promise<void> {
    await go(page, 'validate')
    await page.getByRole('button', { name: /^Options/ }).click()
    for (const axis of ['M', 'N', 'K']) await page.getByLabel(axis, { exact: true }).fill('256')
    await page.getByRole('button', { name: 'Validate all formats' }).click()
    // The report can be saved when the job is over, not before.
    await page.getByText('36 passed').waitFor()
    await page.locator('button:has-text("Save report"):enabled').waitFor()
  }

  it('shows the device, what it can compute and what is missing', async () => {
    const { page, context, policyViolations, errors } = await openPage(browser, server.url)
    await go(page, 'devices')
    await page.getByRole('heading', { name: /Capabilit/ }).waitFor()
    await page.getByText('cpu-portable').first().waitFor()
    await page.getByText('CUDA driver').first().waitFor()
    expect(policyViolations).toEqual([])
    expect(errors).toEqual([])
    await context.close()
  })

  it('validates all formats with one button, in two pages at once, and saves the report', async () => {
    const { page, context, policyViolations, errors } = await openPage(browser, server.url)
    await validateAll(page)
    const second = await openPage(browser, server.url)
    await go(second.page, 'runs')
    await second.page.getByRole('row').nth(1).waitFor()
    await second.context.close()
    expect(await page.getByText(/\d+ failed/).count()).toBe(0)
    await page
      .getByRole('button', { name: /Save|Export/ })
      .first()
      .click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: /HTML/ }).click()
    ])
    expect(readFileSync(await download.path(), 'utf8')).toContain('<h1>blockscope: validate')
    expect(policyViolations).toEqual([])
    expect(errors).toEqual([])
    await context.close()
  })

  it('answers bad input in place', async () => {
    const { page, context } = await openPage(browser, server.url)
    await go(page, 'validate')
    await page.getByRole('button', { name: /^Options/ }).click()
    await page.getByLabel('K', { exact: true }).fill('many')
    await page
      .getByText(/whole number/i)
      .first()
      .waitFor()
    await context.close()
  })

  it.each(['devices', 'validate', 'sweep', 'runs'])(
    '%s has no serious accessibility problem, light and dark',
    async (view) => {
      for (const theme of themes) {
        const { page, context } = await openPage(browser, server.url, { theme })
        await go(page, view)
        await page.getByRole('main').waitFor()
        await page.waitForTimeout(500)
        await page.evaluate(axeSource)
        const serious = await page.evaluate(`axe.run().then(({ violations }) => violations
          .filter(({ impact }) => impact === 'serious' || impact === 'critical')
          .map(({ id, nodes }) => id + ' ' + nodes[0].html))`)
        expect(serious).toEqual([])
        await context.close()
      }
    }
  )

  it('is photographed', async () => {
    await takeScreenshots(browser, server.url, 'devices', async (page) => {
      await go(page, 'devices')
      await page.getByText('CUDA driver').first().waitFor()
    })
    await takeScreenshots(browser, server.url, 'validate', validateAll)
  })
})
