/** The Formats view in a real browser. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compareFormats } from '../../src-shared/formats/compare'
import { findBlockFormat } from '../../src-shared/formats/blockFormat'
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

describeInBrowser('the Formats view', () => {
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

  async function show(page: Page): Promise<void> {
    await page.evaluate(`location.hash = '#/formats'`)
    await page.getByText('Computing…').waitFor({ state: 'hidden' })
    await page.getByLabel('M', { exact: true }).waitFor()
  }

  it('shows sizes, codes and the errors that the command line shows', async () => {
    const { page, context, policyViolations, errors } = await openPage(browser, server.url)
    await show(page)
    await page.getByLabel('K', { exact: true }).fill('0')
    await page.getByText('K must be from 1 to 1,048,576.').waitFor()
    await page.getByLabel('K', { exact: true }).fill('4096')
    const encoded = page.locator('[data-test=encoded]').first()
    await expect.poll(() => encoded.innerText()).toContain('0x01 = 0.5')
    const [row] = compareFormats([findBlockFormat('mxfp4')], ['floor'], ['normal'], [64])
    await page.getByText(row!.sqnr.toFixed(2)).first().waitFor()
    expect(policyViolations).toEqual([])
    expect(errors).toEqual([])
    await context.close()
  })

  it('has no serious accessibility problem, light and dark', async () => {
    for (const theme of themes) {
      const { page, context } = await openPage(browser, server.url, { theme })
      await show(page)
      await page.evaluate(axeSource)
      const serious = await page.evaluate(`axe.run().then(({ violations }) => violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ' ' + nodes[0].html))`)
      expect(serious).toEqual([])
      await context.close()
    }
  })

  it('is photographed', async () => {
    await takeScreenshots(browser, server.url, 'formats', show)
  })
})
