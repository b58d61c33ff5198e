/** The Formats view in a real browser. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compareFormats, referenceQuantize } from '../../src-shared/formats/compare'
import { findBlockFormat } from '../../src-shared/formats/blockFormat'
import { seriousFaultsInBothLooks, steadyBox } from './support/actions'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'
import { writeCheckpoint } from '../support/writeCheckpoint'
import { program, startServerProcess, type StartedServer } from './support/server'

describeInBrowser('the Formats view', () => {
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await workerBrowser()
  })
  afterAll(async () => {
    await server?.stop()
  })

  async function show(page: Page, tab: string): Promise<void> {
    await page.evaluate(`location.hash = '#/formats?tab=${tab}'`)
    await page.getByRole('tab', { selected: true, name: new RegExp(tab, 'i') }).waitFor()
    await page.getByText('Computing…').waitFor({ state: 'hidden' })
  }

  it('draws every code, works out the one at hand, and slides by the scale', async () => {
    const { page, close, policyViolations, errors } = await openPage(browser, server.url)
    await show(page, 'codes')
    const worked = page.locator('[data-test=worked]')
    const combs = page.getByRole('slider', { name: /Code of a format/ })
    await combs.focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => worked.innerText()).toMatch(/e2m1\s+code 0x06/)
    expect(await worked.innerText()).toMatch(/= 4/)
    await page.keyboard.press('+')
    await expect.poll(() => worked.innerText()).toContain('at scale 2^1: 8')
    const e4m3 = page.locator('[data-test=comb-e4m3]')
    const box = await steadyBox(e4m3)
    await page.mouse.move(box.x + box.width / 2, box.y + 20)
    await expect.poll(() => worked.innerText()).toContain('e4m3')
    const scale = await steadyBox(page.locator('[data-test=comb-e8m0]'))
    await page.mouse.move(scale.x + 200, scale.y + 20)
    await page.mouse.down()
    await page.mouse.move(scale.x + 200 + (3 * scale.width) / 37.5, scale.y + 20)
    await page.mouse.up()
    await expect.poll(() => worked.innerText()).toContain('at scale 2^4')
    await page.getByText('A and B', { exact: true }).click()
    await page.getByLabel('K', { exact: true }).fill('0')
    await page.getByText('K must be from 1 to 1,048,576.').waitFor()
    await page.getByLabel('K', { exact: true }).fill('4096')
    const nvfp4 = page.locator('[data-test=saving]').filter({ hasText: /^nvfp4/ })
    await expect.poll(() => nvfp4.innerText()).toContain('18.0 MiB')
    const encoded = page.locator('[data-test=encoded]').first()
    expect(await encoded.innerText()).toContain('0x7D = 0.25')
    expect(policyViolations).toEqual([])
    expect(errors).toEqual([])
    await close()
  })

  it('moves a value by drag and by key, and says what becomes of it under every rule', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await show(page, 'block')
    const figures = page.locator('[data-test=block-figures]')
    const element = page.locator('[data-test=element]')
    const plot = page.getByRole('slider', { name: /Values of the block/ })
    await expect.poll(() => figures.innerText()).toContain('0x7E')
    const box = await steadyBox(plot)
    // Element 16 of 32, from where it is to beyond the top: the scale follows once it is past 4.
    const x = box.x + 10 + (box.width - 20) / 2
    await page.mouse.move(x, box.y + 150)
    await page.mouse.down()
    await page.mouse.move(x, box.y - 60)
    await page.mouse.up()
    await expect.poll(() => figures.innerText()).toContain('0x7F')
    await plot.focus()
    await page.keyboard.press('Home')
    await expect.poll(() => figures.innerText()).toContain('0x7E')
    const before = await element.innerText()
    await page.keyboard.press('Shift+ArrowUp')
    await expect.poll(() => element.innerText()).not.toBe(before)
    await page.getByRole('button', { name: 'mxfp8, ceil', exact: false }).click()
    await expect.poll(() => page.getByLabel('Format', { exact: true }).inputValue()).toBe('mxfp8')
    expect(await page.getByLabel('Scale rule').inputValue()).toBe('ceil')
    await page.getByLabel(/, or NaN$/).fill('nan')
    await page.getByText('every value of the block is lost').waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('shows the errors that the command line shows', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await show(page, 'error')
    const format = findBlockFormat('mxfp4')
    const [row] = await compareFormats([format], ['floor'], ['normal'], [64], 0, referenceQuantize)
    await page.getByText(row!.sqnr.toFixed(2)).first().waitFor()
    const sizes = page.getByRole('slider', { name: /Range of sizes/ })
    const all = await page.locator('[data-test=rms]').first().innerText()
    await sizes.focus()
    await page.keyboard.press('ArrowRight')
    await page.getByText(/share of values of .* rms by error/).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('share of all values by error').waitFor()
    // The range's end, and a format alone, from the keyboard too.
    await page.keyboard.press('Shift+ArrowLeft')
    await page.getByText(/share of values of .* rms by error/).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    const pale = page.locator('.ridge.faded')
    await expect.poll(() => pale.count()).toBeGreaterThan(0)
    await page.keyboard.press('Shift+Tab')
    await expect.poll(() => pale.count()).toBe(0)
    const box = await steadyBox(sizes)
    await page.mouse.move(box.x + box.width * 0.6, box.y + 200)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.75, box.y + 200)
    await page.mouse.up()
    await expect.poll(() => page.locator('[data-test=rms]').first().innerText()).not.toBe(all)
    expect(errors).toEqual([])
    await close()
  })

  it('measures rows of a real tensor as the command line does', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'blockscope-formats-'))
    const file = join(folder, 'weights.safetensors')
    const values = Float32Array.from({ length: 40 * 512 }, (_, i) => Math.sin(i * i) ** 3)
    const bytes = new Uint8Array(values.buffer)
    const tensor = { dtype: 'F32', bytes }
    writeCheckpoint(file, [{ name: 'w', shape: [40, 512], ...tensor }], {})
    const unknown = join(folder, 'unknown.safetensors')
    writeCheckpoint(unknown, [
      { name: 'w_codes', dtype: 'U8', shape: [4, 32], bytes: new Uint8Array(128).fill(0x21) },
      { name: 'w_scale', dtype: 'U8', shape: [4, 2], bytes: new Uint8Array(8).fill(120) }
    ])
    const flags = ['--file', file, '--tensor', 'w', '--rules', 'floor', '-K', '64,512', '--json']
    const printed = execFileSync(process.execPath, [program, 'formats', 'compare', ...flags], {
      encoding: 'utf8'
    })
    const { page, close, errors } = await openPage(browser, server.url)
    await show(page, 'error')
    await page.getByLabel('Values', { exact: true }).selectOption('tensor')
    for (const [name, content, words] of [
      ['x.safetensors', Buffer.from('x'), /x\.safetensors/],
      [
        'unknown.safetensors',
        readFileSync(unknown),
        /w_codes and w_scale look like codes and scales/
      ],
      ['weights.safetensors', readFileSync(file), /40 of 40 rows, 512 of 512 values/]
    ] as const) {
      const chooser = page.waitForEvent('filechooser')
      await page.getByRole('button', { name: 'Open a checkpoint' }).click()
      await (await chooser).setFiles({ name, mimeType: '', buffer: content })
      await page.getByText(words).first().waitFor()
      if (name !== 'unknown.safetensors') continue
      // What looks like codes and scales is taken as such; the person names them otherwise.
      await page.getByText('4 of 4 rows, 64 of 64 values').waitFor()
      await page.getByLabel('Order of the codes').selectOption('fp4_high_first')
      await page.getByText('--codes w_codes --scales w_scale --format mxfp4 --order').waitFor()
    }
    const rows = JSON.parse(printed) as { format: string; sqnr: number; maxError: number }[]
    for (const { format, sqnr } of rows.filter(({ format }) => format !== 'mxfp4_b16')) {
      const table = page.getByRole('grid', { name: 'Quantisation error' })
      const row = table.getByRole('row').filter({ hasText: format }).first()
      await row.getByText(sqnr.toFixed(2), { exact: true }).waitFor()
    }
    expect(errors).toEqual([])
    rmSync(folder, { recursive: true })
    await close()
  })

  it('has no serious accessibility problem, light and dark', async () => {
    const { page, close } = await openPage(browser, server.url)
    for (const tab of ['codes', 'block', 'error', 'speed']) {
      await show(page, tab)
      expect(await seriousFaultsInBothLooks(page), tab).toEqual([])
    }
    await close()
  })
})
