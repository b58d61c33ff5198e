/** The Sweep view in a real browser, over the real server, engine and addon. */
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readHatchet } from '@shared/profile/read/readHatchet'
import { runSchema, type Run } from '@shared/contract/run'
import * as v from 'valibot'
import { go, saved, seriousFaultsInBothLooks, sweptRows } from './support/actions'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'
import { addRun, program, startServerProcess, type StartedServer } from './support/server'

describeInBrowser('Sweep view', () => {
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await workerBrowser()
  })
  afterAll(async () => {
    await server?.stop()
  })

  /** mxfp4 by one kernel, at the values of K given; one that is to be cancelled is measured by the longest method. */
  async function fill(page: Page, k: string, preset: 'Quick' | 'Thorough' = 'Quick') {
    await go(page, 'sweep')
    for (const format of ['nvfp4', 'mxfp8', 'mixed']) {
      const box = page.getByRole('checkbox', { name: format, exact: true })
      await box.uncheck({ force: true })
    }
    await page.getByRole('checkbox', { name: 'cpu-portable' }).first().check({ force: true })
    for (const axis of ['M', 'N']) await page.getByLabel(axis, { exact: true }).fill('64')
    await page.getByLabel('K', { exact: true }).fill(k)
    await page.getByText(preset, { exact: true }).click()
  }
  const start = (page: Page) => page.getByRole('button', { name: 'Start sweep' }).click()
  const cancel = (page: Page) => page.getByRole('button', { name: 'Cancel', exact: true })
  const status = (page: Page, text: RegExp) =>
    page.locator('section[aria-labelledby=sweep-title] header').getByText(text)
  const passed = (page: Page) => status(page, /^Passed$/).waitFor()

  it('plans, runs with a live chart, and writes every export', async () => {
    const { page, close, policyViolations, errors } = await openPage(browser, server.url)
    await fill(page, '64..512 step 64')
    await page.getByText(/points, about/).waitFor()
    await start(page)
    await page.locator('canvas').first().waitFor()
    await page.getByText(/\d+ of \d+ points/).waitFor()
    await passed(page)
    const points = (await sweptRows(page).count()) - 1
    expect(points).toBeGreaterThanOrEqual(8)

    const json = await saved(page, 'Export', /^Run JSON/)
    const run: Run = v.parse(runSchema, JSON.parse(json.text))
    expect(run.status).toBe('done')
    const measured = run.steps.filter((step) => step.measurement)
    expect(measured).toHaveLength(points)
    const csv = await saved(page, 'Export', /^Table CSV/)
    expect(csv.text.trim().split('\n')).toHaveLength(points + 1)
    const tree = readHatchet((await saved(page, 'Export', /^Profile tree/)).bytes, 'exported')
    expect(tree.count).toBeGreaterThan(points)
    const trace = JSON.parse((await saved(page, 'Export', /^Timeline/)).text) as {
      traceEvents: { ph: string; dur?: number }[]
    }
    expect(trace.traceEvents.filter(({ ph }) => ph === 'X').length).toBeGreaterThanOrEqual(points)
    const png = await saved(page, 'Save chart', /^PNG/)
    expect(png.bytes.subarray(1, 4).toString()).toBe('PNG')
    expect(png.bytes.readUInt32BE(16)).toBe(2000)
    const svg = await saved(page, 'Save chart', /^SVG/)
    expect(svg.text).toMatch(/^<svg[^]*mxfp4[^]*<\/svg>/)

    await page.getByText('Roofline', { exact: true }).click()
    await page.locator('canvas').first().waitFor()
    expect([policyViolations, errors]).toEqual([[], []])
    await close()
  })

  it('lays an earlier run over a new one, and takes it away', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await fill(page, '64, 128')
    await start(page)
    await passed(page)
    const alone = await sweptRows(page).count()
    await page.getByRole('button', { name: 'Overlay' }).click()
    await page.getByRole('menuitem').first().click()
    await page.getByRole('button', { name: /Remove overlay/ }).waitFor()
    await expect.poll(() => sweptRows(page).count()).toBeGreaterThan(alone)
    await page.getByRole('button', { name: /Remove overlay/ }).click()
    await expect.poll(() => sweptRows(page).count()).toBe(alone)
    expect(errors).toEqual([])
    await close()
  })

  it('says of a point measured on an H200 what stands out', async () => {
    const imported = execFileSync(process.execPath, [
      ...['out/node/blockscope.js', 'runs', 'import', 'test/fixtures/runs/h200-8192/run.json'],
      ...['--store', server.storeFolder]
    ])
    const id = /Imported as (\S+?)\.?\s/.exec(imported.toString())![1]
    const { page, close, errors } = await openPage(browser, server.url)
    await page.evaluate(`location.hash = '#/sweep?run=${id}'`)
    await page
      .getByRole('region', { name: 'Table' })
      .getByRole('row')
      .filter({ hasText: 'wgmma' })
      .filter({ hasText: 'mxfp4' })
      .first()
      .click()
    await page.keyboard.press('Enter')
    await page.getByText(/takes 5 % of the time; of an operand that stays the same/).waitFor()
    await page.getByText('The run was imported without its samples').waitFor()
    expect(errors).toEqual([])
    await close()
    // The other tests look at sweeps of this machine.
    rmSync(join(server.storeFolder, id!), { recursive: true })
  })

  it('begins with bandwidth, and its share of a plain read, where all products have few rows of A', async () => {
    const whole = JSON.parse(readFileSync('docs/results/h200-gpt-oss-120b/run.json', 'utf8')) as Run
    const path = join(server.storeFolder, 'few.json')
    writeFileSync(path, JSON.stringify({ ...whole, steps: whole.steps.filter(({ m }) => m <= 16) }))
    const imported = execFileSync(process.execPath, [
      ...['out/node/blockscope.js', 'runs', 'import', path, '--store', server.storeFolder]
    ])
    rmSync(path)
    const id = /Imported as (\S+?)\.?\s/.exec(imported.toString())![1]
    const { page, close, errors } = await openPage(browser, server.url)
    await page.evaluate(`location.hash = '#/sweep?run=${id}'`)
    const kinds = page.getByRole('group', { name: 'What the chart shows' })
    await expect.poll(() => kinds.getByRole('radio', { name: /B\/s$/ }).isChecked()).toBe(true)
    const titles = page.getByRole('region', { name: 'Table' }).getByRole('columnheader')
    const order = (await titles.allTextContents()).filter((title) =>
      /Bandwidth|Of read|Rate/.test(title)
    )
    expect(order.map((title) => /Bandwidth|Of read|Rate/.exec(title)![0])).toEqual([
      'Bandwidth',
      'Of read',
      'Rate'
    ])
    await kinds.getByRole('radio', { name: /FLOP\/s$/ }).check({ force: true })
    await expect.poll(() => page.url()).toContain('metric=tflops')
    expect(errors).toEqual([])
    await close()
    rmSync(join(server.storeFolder, id!), { recursive: true })
  })

  it('shows a sweep of one K as sorted dots, beside a baseline that a key chooses', async () => {
    const imported = execFileSync(process.execPath, [
      ...['out/node/blockscope.js', 'runs', 'import', 'test/fixtures/runs/h200-8192/run.json'],
      ...['--store', server.storeFolder]
    ])
    const id = /Imported as (\S+?)\.?\s/.exec(imported.toString())![1]
    const { page, close, errors } = await openPage(browser, server.url)
    await go(page, `sweep?run=${id}`)
    const dots = page.getByRole('table', { name: /of each kernel, sorted/ })
    await dots.waitFor()
    expect(await page.locator('canvas').count()).toBe(0)
    const row = (text: string) => dots.locator('tr[data-row]').filter({ hasText: text })
    await dots.getByRole('columnheader', { name: '× Triton' }).waitFor()
    expect(await row('wgmma-fp8-p256').textContent()).toContain('3.57 ×')
    // From the keyboard: the second row becomes what all are compared with.
    await row('wgmma-fp8-p256').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('b')
    await dots.getByRole('columnheader', { name: '× wgmma-fp8-p128' }).waitFor()
    expect(await row('wgmma-fp8-p128').textContent()).toContain('1.00 ×')
    await expect.poll(() => page.url()).toContain('baseline=')
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'wgmma-fp8-p128, mxfp4, K 8192' }).waitFor()
    expect((await saved(page, 'Save chart', /^SVG/)).text).toContain('>wgmma-fp8-p256<')
    await page.getByText('By kernel', { exact: true }).click()
    await dots.getByRole('columnheader', { name: 'Format', exact: true }).waitFor()
    await page.getByLabel('Sort', { exact: true }).selectOption({ label: 'By name' })
    await expect.poll(() => row('').first().textContent()).toContain('triton')
    await expect.poll(() => page.url()).toMatch(/by=kernel/)
    await expect.poll(() => page.url()).toMatch(/sort=name/)
    expect(errors).toEqual([])
    await close()
    rmSync(join(server.storeFolder, id!), { recursive: true })
  })

  it('opens the bundled sweep over K by arrow and Enter; points and roofs of its roofline are chosen', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await go(page, 'sweep')
    await page.getByRole('button', { name: /A sweep on an NVIDIA H200/ }).focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.getByText('85 of 85 measured, 40 reference only').waitFor()
    await page.getByText(/Best here, × Triton: mxfp4 2\.90–5\.68 ×/).waitFor()
    // Triton compiles no nvfp4: its panel of ratios says with what there is one.
    await page.getByRole('button', { name: 'Use cublaslt-bf16 as baseline' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText(/Best here, × cublaslt-bf16: .*nvfp4/).waitFor()
    await page.getByText('Roofline', { exact: true }).click()
    const list = page.getByRole('complementary', { name: 'Share of its own roof' })
    await list
      .getByRole('button', { name: /triton/ })
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Roofs 5 of 5' }).press('Enter')
    await page.getByRole('checkbox', { name: /no tensor core/ }).press('Space')
    await page.getByRole('button', { name: 'Roofs 4 of 5' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Points 6 of 6' }).click()
    await page.getByRole('checkbox', { name: 'triton', exact: true }).uncheck({ force: true })
    await page.getByRole('button', { name: 'Points 5 of 6' }).waitFor()
    expect(await list.getByRole('button', { name: /triton/ }).count()).toBe(0)
    expect(errors).toEqual([])
    await close()
    rmSync(join(server.storeFolder, '20261122-192105-sweep-4-formats'), { recursive: true })
  })

  it('resumes a cancelled sweep: what was measured is there at once', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await fill(page, '32..1024 step 32', 'Thorough')
    await start(page)
    await expect.poll(() => sweptRows(page).count()).toBeGreaterThan(1)
    await cancel(page).click()
    const before = await page.evaluate<string>('location.hash')
    await page.getByRole('button', { name: 'Resume' }).click()
    await expect.poll(() => page.evaluate<string>('location.hash')).not.toBe(before)
    await cancel(page).waitFor()
    await expect.poll(() => sweptRows(page).count()).toBeGreaterThan(1)
    await page.getByText(/Resumes .*-sweep-/).waitFor()
    await cancel(page).click()
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('keeps what is measured when it is cancelled, and says so when the engine dies', async () => {
    const { page, close, policyViolations } = await openPage(browser, server.url)
    await fill(page, '32..1024 step 32', 'Thorough')
    await start(page)
    await expect.poll(() => sweptRows(page).count()).toBeGreaterThan(2)
    const engines = execFileSync('ps', ['-o', 'pid=', '--ppid', String(server.pid)], {
      encoding: 'utf8'
    })
    process.kill(Number(engines.split('\n')[0]), 'SIGKILL')
    await page
      .getByText(/engine was ended by SIGKILL/i)
      .first()
      .waitFor()
    await cancel(page).click()
    await status(page, /\(cancelled\)$/).waitFor()
    expect(await sweptRows(page).count()).toBeGreaterThan(2)
    const other = await openPage(browser, server.url)
    await go(other.page, page.url().replace(/^.*#\//, ''))
    await status(other.page, /\(cancelled\)$/).waitFor()
    // The last steps may come to the first page after its end did.
    const difference = async () =>
      (await sweptRows(other.page).count()) - (await sweptRows(page).count())
    await expect.poll(difference).toBe(0)
    await other.close()
    expect(policyViolations).toEqual([])
    await close()
  })

  it('answers bad input in every field, in place, and plans nothing', async () => {
    const { page, close } = await openPage(browser, server.url)
    await go(page, 'sweep')
    await page.getByText('More', { exact: true }).click()
    for (const [field, wrong, words] of [
      ['M', '-1', /must be from 1 to .* values of M as/],
      ['N', 'ten', /whole number/],
      ['K', '512..', /K/],
      ['Samples per point', '0', /Samples must/],
      ['Rounds', '99', /Rounds must/],
      ['Seed', 'x', /seed/i]
    ] as const) {
      const input = page.getByLabel(field, { exact: true })
      const before = await input.inputValue()
      await input.fill(wrong)
      const note = page.locator(`#${await input.getAttribute('aria-describedby')}`)
      expect(await note.textContent()).toMatch(words)
      expect(await page.getByRole('button', { name: 'Start sweep' }).isDisabled()).toBe(true)
      await input.fill(before)
    }
    for (const format of ['nvfp4', 'mxfp4', 'mxfp8', 'mixed'])
      await page.getByText(format, { exact: true }).first().click()
    await page.getByText('Choose at least one format.').waitFor()
    await close()
  })

  it('draws of 10,000 points only what is on the screen', async () => {
    importLargeRun(server.storeFolder)
    const { page, close, errors } = await openPage(browser, server.url)
    await go(page, 'sweep?run=large')
    await page.getByText('10,000 rows').waitFor()
    await sweptRows(page).nth(5).waitFor()
    expect(await sweptRows(page).count()).toBeLessThan(100)
    expect(errors).toEqual([])
    await close()
  })

  it('has no serious accessibility problem with results', async () => {
    const { page, close } = await openPage(browser, server.url)
    await go(page, `sweep?run=${finishedSweep(server.storeFolder)}`)
    await page.locator('canvas').first().waitFor()
    expect(await seriousFaultsInBothLooks(page)).toEqual([])
    await close()
  })
})

interface Listed {
  id: string
  kind: string
  status: string
}

function runsOf(storeFolder: string): Listed[] {
  const text = execFileSync(
    process.execPath,
    [program, 'runs', 'list', '--json', '--store', storeFolder],
    {
      encoding: 'utf8'
    }
  )
  return JSON.parse(text) as Listed[]
}

function finishedSweep(storeFolder: string): string {
  const sweeps = runsOf(storeFolder).filter(
    ({ id, kind, status }) => id !== 'large' && kind === 'sweep' && status === 'done'
  )
  return sweeps.at(-1)!.id
}

/** The finished sweep with its points repeated, as a run of its own. */
function importLargeRun(storeFolder: string): void {
  const from = join(storeFolder, finishedSweep(storeFolder), 'run.json')
  const run = JSON.parse(readFileSync(from, 'utf8')) as Run
  const points = run.steps.filter((step) => step.measurement)
  const steps = Array.from({ length: 10_000 }, (_, index) => ({
    ...points[index % points.length]!,
    index,
    k: 32 * (index + 1)
  }))
  addRun(storeFolder, { ...run, id: 'large', steps })
}
