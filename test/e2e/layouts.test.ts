/** The layout inspector in a real browser: its numbers are those of `blockscope layout locate`. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runBlockscope } from '../support/runBlockscope'
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

interface Found {
  offset: number
  linearIndex: number
  filled: string
  views: { name: string; coordinates: number[] }[]
}

describeInBrowser('the layout inspector', () => {
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

  async function show(page: Page, query: Record<string, string | number>): Promise<void> {
    const params = new URLSearchParams(
      Object.entries(query).map(([k, v]): [string, string] => [k, String(v)])
    )
    await page.evaluate(`location.hash = '#/layouts?${params}'`)
    await page.locator('[data-test=offset]').waitFor()
  }
  const shown = (page: Page, what: string) => page.locator(`[data-test="${what}"]`).innerText()

  it('shows the numbers of the command line for random elements', async () => {
    const { page, context, policyViolations, errors } = await openPage(browser, server.url)
    let seed = 7
    const random = (below: number) => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
      return Math.floor((seed / 2 ** 32) * below)
    }
    for (const layout of ['nvidia_32_4_4', 'cdna4_mfma16', 'cdna4_mfma32', 'deepgemm_ue8m0']) {
      const rows = 1 + random(700)
      const cols = 1 + random(60)
      const row = random(rows)
      const col = random(cols)
      await show(page, { layout, rows, cols, row, col })
      const flags = Object.entries({ layout, rows, cols, row, col }).flatMap(([name, value]) => [
        `--${name}`,
        String(value)
      ])
      const { stdout } = await runBlockscope(['layout', 'locate', ...flags, '--json'])
      const found = JSON.parse(stdout) as Found
      await expect.poll(() => shown(page, 'filled')).toBe(found.filled)
      expect(await shown(page, 'offset')).toBe(String(found.offset))
      expect(await shown(page, 'linear')).toBe(String(found.linearIndex))
      for (const { name, coordinates } of found.views) {
        expect(await shown(page, `view-${name}`)).toBe(`[${coordinates.join(', ')}]`)
      }
    }
    expect(policyViolations).toEqual([])
    expect(errors).toEqual([])
    await context.close()
  })

  it('works from the keyboard: arrows in both grids, jumps, and problems in words', async () => {
    const { page, context } = await openPage(browser, server.url, { size: 'narrow' })
    await show(page, { layout: 'nvidia_32_4_4', rows: 256, cols: 16, row: 0, col: 0 })
    await page.getByRole('grid', { name: 'Scale matrix' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => shown(page, 'offset')).toBe('17')
    await page.getByRole('grid', { name: 'Packed memory' }).focus()
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => shown(page, 'place')).toBe('0, 1')
    await page.getByLabel('Byte offset').fill('2048')
    await expect.poll(() => shown(page, 'place')).toBe('128, 0')
    await page.getByLabel('Byte offset').fill('99999')
    await page.getByText('Byte offset must be from 0 to 4,095.').waitFor()
    await page.getByLabel('K', { exact: true }).fill('100')
    await page.getByText('K must be a multiple of the scale block size 16').waitFor()
    await page.getByLabel('Paste bytes as hex').fill('7F 8G')
    await page.getByText('"G" is no hex digit').waitFor()
    await context.close()
  })

  it('has no serious accessibility problem, light and dark', async () => {
    for (const theme of themes) {
      const { page, context } = await openPage(browser, server.url, { theme })
      await show(page, { layout: 'nvidia_32_4_4', rows: 200, cols: 6, row: 3, col: 1 })
      await page.evaluate(axeSource)
      const serious = await page.evaluate(`axe.run().then(({ violations }) => violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ' ' + nodes[0].html))`)
      expect(serious).toEqual([])
      await context.close()
    }
  })

  it('is photographed', async () => {
    await takeScreenshots(browser, server.url, 'layouts', async (page) => {
      await show(page, { layout: 'nvidia_32_4_4', rows: 200, cols: 6, row: 3, col: 1 })
      await page.locator('.cell.active').first().waitFor()
    })
  })
})
