/** Validate in a real browser, over the real server, engine and CPU kernels. */
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { seriousFaultsInBothLooks } from './support/actions'
import { describeInBrowser, workerBrowser, openPage, type OpenedPage } from './support/browser'
import { startServerProcess, type StartedServer } from './support/server'

describeInBrowser('Validate', () => {
  let browser: Browser
  let server: StartedServer
  const pages: OpenedPage[] = []
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await workerBrowser()
  })
  afterAll(async () => {
    await server?.stop()
  })
  afterEach(async () => {
    for (const { close, policyViolations, errors } of pages.splice(0)) {
      await close()
      expect(policyViolations).toEqual([])
      expect(errors).toEqual([])
    }
  })

  async function open(options: Parameters<typeof openPage>[2] = {}): Promise<Page> {
    const opened = await openPage(browser, server.url, options)
    pages.push(opened)
    await opened.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await show(opened.page)
    return opened.page
  }
  const show = async (page: Page) => {
    await page.evaluate(`location.hash = '#/validate'`)
    await page.getByRole('button', { name: 'Validate all formats' }).waitFor()
  }
  const field = (page: Page, label: string) => page.getByLabel(label, { exact: true })

  interface Options {
    extent?: number
    /**
     * No tolerance, no allowance, and sums of 4096 positive products: float32 rounds them on the way, and some of these sums
     * then round to another float16 than the exact sum does.
     */
    tight?: boolean
  }
  async function setOptions(page: Page, { extent = 256, tight = false }: Options = {}) {
    const options = page.getByRole('button', { name: /^Options/ })
    if ((await options.getAttribute('aria-expanded')) === 'false') await options.click()
    for (const axis of ['M', 'N', 'K']) await field(page, axis).fill(String(extent))
    if (!tight) return
    await field(page, 'K').fill('4096')
    await field(page, 'Operands').selectOption('positive')
    await field(page, 'Absolute tolerance').fill('0')
    await field(page, 'Relative tolerance').fill('0')
    await field(page, 'What passes').selectOption('assert-close')
  }
  const start = (page: Page) => page.getByRole('button', { name: 'Validate all formats' }).click()
  const ended = (page: Page) => page.locator('button:has-text("Save report"):enabled').waitFor()
  const cells = (page: Page) =>
    page.getByRole('grid', { name: /^Validation/ }).getByRole('gridcell')
  const wrongCell = (page: Page) =>
    cells(page)
      .filter({ hasText: /[2-9] outside/ })
      .first()
  const clipboard = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

  async function save(page: Page, form: RegExp): Promise<{ name: string; text: string }> {
    await page.getByRole('button', { name: 'Save report' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: form }).click()
    ])
    return {
      name: download.suggestedFilename(),
      text: readFileSync(await download.path(), 'utf8')
    }
  }

  it('one click fills the matrix live and ends in a report, as HTML and JSON', async () => {
    const page = await open()
    await setOptions(page, { extent: 512 })
    await start(page)
    // While it runs some cells are done, and others wait.
    await cells(page).filter({ hasText: 'Passed' }).first().waitFor()
    expect(await cells(page).filter({ hasText: 'Waiting' }).count()).toBeGreaterThan(0)
    expect(await page.getByRole('button', { name: 'Save report' }).isDisabled()).toBe(true)
    await page.getByRole('progressbar', { name: 'Progress of the validation' }).waitFor()
    await ended(page)

    const count = await cells(page).count()
    expect(count).toBeGreaterThanOrEqual(9)
    expect(await cells(page).filter({ hasText: 'Passed' }).count()).toBe(count)
    const html = await save(page, /^Report/)
    expect(html.name).toMatch(/\.html$/)
    expect(html.text).toContain('<h1>Validate ')
    expect(html.text).toContain('mxfp8_e4m3_e5m2')
    expect(html.text).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)/)
    const json = await save(page, /^Run/)
    const run = JSON.parse(json.text) as { steps: { disposition: string; m: number }[] }
    expect(
      run.steps.filter(({ disposition, m }) => disposition === 'passed' && m === 512)
    ).toHaveLength(count)

    await page.getByRole('button', { name: 'Copy: Results' }).click()
    await expect.poll(() => clipboard(page)).toContain('cpu-portable\tnvfp4\tPassed\t')
    expect((await clipboard(page)).split('\n')).toHaveLength(count + 1)
  })

  it('a failed cell opens to figures, charts and elements that lead to their scales, accessible in both looks', async () => {
    const page = await open()
    await setOptions(page, { tight: true })
    await start(page)
    await ended(page)
    await page.getByText(/^Failed: .* \d+ failed/).waitFor()
    await wrongCell(page).getByRole('button').click()

    const details = page.getByRole('region', { name: /, \w+$/ }).filter({ hasText: 'Norm-wise' })
    const outside = await details
      .locator('dl > div', { hasText: 'Outside tolerance' })
      .locator('dd')
      .first()
      .innerText()
    expect(Number(outside.replaceAll(',', ''))).toBeGreaterThan(0)
    const histogram = await details
      .getByRole('img', { name: /^Histogram of ulp distances/ })
      .getAttribute('aria-label')
    const buckets = [...histogram!.matchAll(/\d+/g)].map(([text]) => Number(text))
    expect(buckets.reduce((sum, value) => sum + value, 0)).toBe(256 * 256)
    await details.getByRole('img', { name: /^Error map; the worst tile starts at/ }).waitFor()
    await details.locator('canvas').nth(1).waitFor()
    expect(await seriousFaultsInBothLooks(page)).toEqual([])

    // The copy carries what the charts draw.
    await details.getByRole('button', { name: 'Copy: Error figures' }).click()
    await expect.poll(() => clipboard(page)).toContain(`1 ulp\t${buckets[1]}\telements`)
    expect(await clipboard(page)).toMatch(/Tile at row \d+, column \d+\t/)

    // The other failing elements have blocks of their own.
    const rows = details.getByRole('group', { name: 'First failing elements' }).getByRole('row')
    const last = (await rows.count()) - 1
    await rows.nth(last).getByRole('button').click()
    const [row, column, , , , block] = await rows.nth(last).getByRole('cell').allInnerTexts()
    await details.getByText(`C[${row}, ${column}]`).waitFor()

    // The scale of B lies in the row of its column, in the column of its block.
    const scale = details.locator('a', { hasText: /scale/ }).nth(1)
    await scale.click()
    await page.locator('[data-test=offset]').waitFor()
    const params = new URLSearchParams((await page.evaluate<string>('location.hash')).split('?')[1])
    expect([params.get('rows'), params.get('row'), params.get('col')]).toEqual([
      '256',
      column,
      block!.trim()
    ])
    expect(params.get('layout')).toBe('linear')
    // The panel shows what is under the pointer, which came to rest on the grid.
    await page.mouse.move(2, 2)
    const shown = async () => (await page.locator('[data-test=place]').innerText()).trim()
    await expect.poll(shown).toBe(`${column}, ${block!.trim()}`)

    // Back leads to the opened cell again.
    await page.goBack()
    await page.getByText('First failing elements').first().waitFor()
  })

  it('the keyboard opens a cell, a link opens it too, and an unknown run is answered', async () => {
    const page = await open()
    await setOptions(page)
    await start(page)
    await ended(page)
    await cells(page).first().getByRole('button').focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    const title = await page.getByRole('heading', { name: '·' }).innerText()
    expect(title).toMatch(/^cpu-\S+ · mxfp4$/)

    const address = await page.evaluate<string>('location.hash')
    const linked = await openPage(browser, `${server.url}&${address.slice(1)}`)
    pages.push(linked)
    await linked.page.getByRole('heading', { name: title }).waitFor()
    await linked.page.getByRole('button', { name: 'Close details' }).click()
    await linked.page.getByRole('heading', { name: title }).waitFor({ state: 'detached' })

    await page.evaluate(`location.hash = '#/validate?run=no-such-run'`)
    await page.getByText('This run could not be opened.').waitFor()
  })

  it('cancel keeps what is done, and the report of it can be saved', async () => {
    const page = await open()
    await setOptions(page, { extent: 1024 })
    await start(page)
    await cells(page).filter({ hasText: 'Passed' }).first().waitFor()
    await page
      .getByRole('region', { name: 'Results' })
      .getByRole('button', { name: 'Cancel' })
      .click()
    await ended(page)
    await page.getByText('Incomplete', { exact: true }).first().waitFor()
    const passed = await cells(page).filter({ hasText: 'Passed' }).count()
    expect(passed).toBeGreaterThan(0)
    expect(passed).toBeLessThan(await cells(page).count())
    const run = JSON.parse((await save(page, /^Run/)).text) as {
      status: string
      steps: { disposition: string }[]
    }
    expect(run.status).toBe('cancelled')
    expect(run.steps.filter(({ disposition }) => disposition === 'passed')).toHaveLength(passed)
  })

  it('a second start waits for the first; Cancel ends the one that is shown', async () => {
    const [first, second] = [await open(), await open()]
    const cancel = (page: Page) =>
      page.getByRole('region', { name: 'Results' }).getByRole('button', { name: 'Cancel' })
    // Large enough to be at work, on any machine, until it is cancelled.
    await setOptions(first, { extent: 2048 })
    await setOptions(second, { extent: 128 })
    await start(first)
    // The other page shows the validation at work, and can ask for its own all the same.
    await cancel(second).waitFor()
    await start(second)
    await second.getByText('Waiting for the run before').waitFor()
    for (const page of [second, first]) {
      await cancel(page).click()
      await ended(page)
      await page.getByText('Incomplete', { exact: true }).first().waitFor()
    }
  })

  it('bad input in each field is answered beside it, and nothing starts', async () => {
    const page = await open()
    await setOptions(page)
    const button = page.getByRole('button', { name: 'Validate all formats' })
    const bad: [label: string, typed: string, answer: RegExp][] = [
      ['M', 'many', /^M must be a whole number\./],
      ['N', '0', /^N must be from 1 to 1,048,576\./],
      ['K', '12.5', /^K must be a whole number\./],
      ['Seed', '-1', /^The seed must be from 0 to/],
      ['Absolute tolerance', 'NaN', /^The absolute tolerance must be a number of at least 0/],
      ['Relative tolerance', '', /^The relative tolerance is missing\./]
    ]
    for (const [label, typed, answer] of bad) {
      const input = field(page, label)
      const before = await input.inputValue()
      await input.fill(typed)
      const note = page.locator(`[id="${await input.getAttribute('aria-describedby')}"]`)
      expect(await note.innerText(), label).toMatch(answer)
      expect(await input.getAttribute('aria-invalid'), label).toBe('true')
      expect(await button.isDisabled(), label).toBe(true)
      await input.fill(before)
      expect(await button.isEnabled(), label).toBe(true)
    }
    await page.getByRole('button', { name: 'Back to defaults' }).click()
    expect(await field(page, 'M').inputValue()).toBe('')
  })
})
