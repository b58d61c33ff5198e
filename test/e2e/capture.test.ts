/** Captures in the app: a folder that was opened by its path, its kernels, and what a product of them reaches. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { joined } from '@shared/profile/read/reader'
import { syntheticShard } from '../support/syntheticShard'
import { go, seriousFaultsInBothLooks } from './support/actions'
import { describeInBrowser, openPage, workerBrowser } from './support/browser'
import { startServerProcess, type StartedServer } from './support/server'

describeInBrowser('Capture', () => {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-e2e-capture-'))
  const capture = join(folder, 'step')
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    mkdirSync(capture)
    const record = { formatVersion: 1, kind: 'capture', command: ['python', 'train.py'] }
    writeFileSync(join(capture, 'capture.json'), JSON.stringify(record, null, 2))
    for (const pid of [41, 42]) {
      const form = { launches: 3000, kernels: 3, shapesOfKernel: 2, paths: 4, pid }
      writeFileSync(join(capture, `${pid}-1.shard`), joined([...syntheticShard(form)]))
    }
    server = await startServerProcess({ flags: [join(capture, 'capture.json')] })
    browser = await workerBrowser()
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true })
  })

  it('a folder that serve was given: tree, timeline and kernels of all its processes', async () => {
    const { page, context, errors } = await openPage(browser, `${server.url}&/capture`)
    const table = page.getByRole('grid', { name: 'Kernels' })
    await table.getByRole('row').nth(6).waitFor()
    expect(page.url()).toContain('#/capture')
    expect(await table.getAttribute('aria-rowcount')).toBe('7')
    const first = table.locator('[data-index="0"]')
    // Two processes of 3,000 launches over six shapes.
    expect(await first.textContent()).toMatch(/1,000.*128.*64.*32,768/)
    await page.getByText('By kernel').click()
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('4')
    expect(await first.textContent()).toMatch(/2,000.*varies/)
    await page.getByLabel('Search kernels').fill('/<1>/')
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('2')
    expect(await page.locator('.command code').textContent()).toBe(
      "blockscope launches step --by kernel --kernels '/<1>/'"
    )

    await first.click()
    const product = page.getByRole('region', { name: 'Product' })
    for (const [name, value] of [
      ['M', '256'],
      ['N', '256'],
      ['K', '64']
    ] as const)
      await product.getByLabel(name, { exact: true }).fill(value)
    await product
      .getByText(/TFLOP\/s at the median, .* of the roof\. It is 33 % of the kernels' time/)
      .waitFor()
    expect(await seriousFaultsInBothLooks(page)).toEqual([])

    await go(page, 'timeline')
    await page.getByRole('application').waitFor()
    await go(page, 'profile')
    await page.locator('[role=row]', { hasText: 'train.py 42' }).waitFor()
    expect(errors).toEqual([])
    await context.close()
  })
})
