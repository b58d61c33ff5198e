/** The Formats view in a real browser. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compareFormats, referenceQuantize } from '../../src-shared/formats/compare'
import { findBlockFormat } from '../../src-shared/formats/blockFormat'
import { seriousFaults } from './support/actions'
import {
  describeInBrowser,
  launchBrowser,
  openPage,
  itIsPhotographed,
  takeScreenshots,
  themes
} from './support/browser'
import { writeCheckpoint } from '../support/writeCheckpoint'
import { program, startServerProcess, type StartedServer } from './support/server'

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
    const format = findBlockFormat('mxfp4')
    const [row] = await compareFormats([format], ['floor'], ['normal'], [64], 0, referenceQuantize)
    await page.getByText(row!.sqnr.toFixed(2)).first().waitFor()
    expect(policyViolations).toEqual([])
    expect(errors).toEqual([])
    await context.close()
  })

  it('measures rows of a real tensor as the command line does', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'blockscope-formats-'))
    const file = join(folder, 'weights.safetensors')
    const values = Float32Array.from({ length: 40 * 512 }, (_, i) => Math.sin(i * i) ** 3)
    const bytes = new Uint8Array(values.buffer)
    const tensor = { dtype: 'F32', bytes }
    writeCheckpoint(file, [{ name: 'w', shape: [40, 512], ...tensor }], {})
    const flags = ['--file', file, '--tensor', 'w', '--rules', 'floor', '-K', '64,512', '--json']
    const printed = execFileSync(process.execPath, [program, 'formats', 'compare', ...flags], {
      encoding: 'utf8'
    })
    const { page, context, errors } = await openPage(browser, server.url)
    await show(page)
    await page.getByLabel('Values', { exact: true }).selectOption('tensor')
    for (const [name, content, words] of [
      ['x.safetensors', Buffer.from('x'), /x\.safetensors/],
      ['weights.safetensors', readFileSync(file), /40 of 40 rows, 512 of 512 values/]
    ] as const) {
      const chooser = page.waitForEvent('filechooser')
      await page.getByRole('button', { name: 'Open .safetensors' }).click()
      await (await chooser).setFiles({ name, mimeType: '', buffer: content })
      await page.getByText(words).first().waitFor()
    }
    const rows = JSON.parse(printed) as { format: string; sqnr: number; maxError: number }[]
    for (const { format, sqnr } of rows.filter(({ format }) => format !== 'mxfp4_b16')) {
      const table = page.getByRole('grid', { name: 'Quantisation error' })
      const row = table.getByRole('row').filter({ hasText: format }).first()
      await row.getByText(sqnr.toFixed(2), { exact: true }).waitFor()
    }
    expect(errors).toEqual([])
    rmSync(folder, { recursive: true })
    await context.close()
  })

  it('has no serious accessibility problem, light and dark', async () => {
    for (const theme of themes) {
      const { page, context } = await openPage(browser, server.url, { theme })
      await show(page)
      expect(await seriousFaults(page)).toEqual([])
      await context.close()
    }
  })

  itIsPhotographed('every look', async () => {
    await takeScreenshots(browser, server.url, 'formats', show)
  })
})
