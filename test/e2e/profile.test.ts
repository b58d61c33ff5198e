/** The Profile view in a real browser: files dropped on it, filter, keys, bad files, accessibility. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Browser } from 'playwright-core'
import { boxOf, drop, dropFiles, seriousFaultsInBothLooks } from './support/actions'
import {
  describeInBrowser,
  workerBrowser,
  openPage,
  type OpenedPage,
  type Size,
  type Theme
} from './support/browser'
import { startServerProcess, type StartedServer } from './support/server'
import { generateProfile } from '../bench/generateProfile'

const folder = 'test/fixtures/proton/synthetic'
/** Every profile among the fixtures, so that a new one is covered by itself. */
const profiles = ['test/fixtures/proton', 'test/fixtures/h200']
  .flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).map((f) => join(root, f))
  )
  .filter((path) => /\.(hatchet|hatchet_msgpack|chrome_trace|json)$/.test(path))
  .sort()

/** Whether the selected row lies below the head of the table and above its end. */
const insideTable = `(() => {
  const table = document.querySelector('[role=treegrid]')
  const row = table.querySelector('[role=row][aria-selected=true]')
  if (!row) return false
  const [outer, head, own] = [table, table.querySelector('.head'), row].map((element) =>
    element.getBoundingClientRect())
  return own.top >= head.bottom - 1 && own.bottom <= outer.bottom + 1
})()`

describeInBrowser('Profile view', () => {
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    browser = await workerBrowser()
    server = await startServerProcess()
  })
  afterAll(async () => {
    await server?.stop()
  })

  async function openProfileView(look: { theme?: Theme; size?: Size } = {}): Promise<OpenedPage> {
    const opened = await openPage(browser, server.url, look)
    await opened.page.getByRole('link', { name: 'Profile' }).click()
    await opened.page.getByText('Drop a profile here').waitFor()
    return opened
  }

  it('opens every fixture that is dropped on it', async () => {
    expect(profiles.length).toBeGreaterThan(30)
    const { page, close, errors, policyViolations } = await openProfileView()
    for (const path of profiles) {
      await drop(page, basename(path), readFileSync(path))
      await page.locator('strong', { hasText: basename(path) }).waitFor()
      await page.locator('[role=row][data-index="0"]').waitFor()
      const [shown] = (await page.locator('.wraps > [aria-live]').textContent())!.trim().split(' ')
      expect(Number(shown!.replaceAll(',', '')), path).toBeGreaterThan(0)
    }
    expect([errors, policyViolations]).toEqual([[], []])
    await close()
  })

  it('filters, answers bad files and bad input in place, light and dark', async () => {
    const opened = await openProfileView({ size: 'narrow' })
    const { page } = opened
    const path = 'test/fixtures/h200/triton_mxfp8_h200.hatchet'
    await drop(page, basename(path), readFileSync(path))
    await page.getByRole('treegrid').waitFor()
    await drop(page, 'picture.png', Buffer.from('not a profile'))
    expect(await page.getByRole('alert').textContent()).toContain('picture.png')
    await drop(page, 'half.hatchet', readFileSync(path).subarray(0, 300))
    await page.getByRole('alert').filter({ hasText: 'half.hatchet' }).waitFor()
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByLabel('Include').fill('/(/')
    await page.getByText('not a regular expression').first().waitFor()
    await page.getByLabel('Include').fill('no such name')
    await page.getByText('The filter leaves no node.').waitFor()
    await page.getByLabel('Include').fill('')
    await page.getByLabel('At least').fill('much')
    await page.getByText('A number is needed.').waitFor()
    await page.getByLabel('At least').fill('')
    await page.getByLabel('Depth').fill('0')
    await page.getByText('A whole number above 0 is needed.').waitFor()
    await page.getByLabel('Depth').fill('')
    expect(await seriousFaultsInBothLooks(page)).toEqual([])
    await page.keyboard.press('Escape')
    expect(await seriousFaultsInBothLooks(page)).toEqual([])
    expect(opened.policyViolations).toEqual([])
    expect(opened.errors).toEqual([])
    await opened.close()
  })

  it('is walked from the keyboard; columns come and go; the command shows the same', async () => {
    const { page, close, errors } = await openProfileView()
    const path = `${folder}/modern_a.hatchet`
    await drop(page, basename(path), readFileSync(path))
    const row = (index: number) => page.locator(`[role=row][data-index="${index}"]`)
    await row(0).focus()
    await page.keyboard.press('ArrowLeft')
    await row(1).waitFor({ state: 'detached' })
    await page.keyboard.press('*')
    await row(5).waitFor()
    await page.keyboard.press('End')
    await page.locator('[data-index="5"]:focus').waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.locator('[data-index="4"]:focus').waitFor()
    await page.keyboard.press('Home')
    await page.locator('[data-index="0"]:focus').waitFor()
    // Keys that outrun the worker: its older answer takes the focused row away for a moment.
    await page.evaluate(`for (const key of ['ArrowLeft', '*', 'End'])
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))`)
    await page.locator('[data-index="5"]:focus').waitFor()
    const headers = page.locator('[role=columnheader]')
    const before = await headers.count()
    for (const count of [before + 1, before]) {
      await page.getByRole('button', { name: 'Columns' }).click()
      await page.getByRole('menuitem', { name: 'gbyte/s' }).click()
      await expect.poll(() => headers.count()).toBe(count)
    }
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByRole('button', { name: 'Hot path' }).click()
    await page.getByLabel('Depth').fill('2')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Filter, 2 set' }).waitFor()
    await expect.poll(() => page.locator('[role=row][data-index]').count()).toBe(2)
    const command = (await page.locator('.command code, code').last().textContent())!
    expect(command).toContain('--hot-path')
    const [, ...words] = command.trim().split(' ')
    const printed = execFileSync(
      process.execPath,
      ['out/node/blockscope.js', ...words.map((word) => (word === basename(path) ? path : word))],
      { encoding: 'utf8' }
    )
    const names = await page
      .locator('[role=row][data-index] [role=gridcell]:first-child')
      .allTextContents()
    const shown = printed.split('\n').slice(1, 3)
    names.forEach((name, at) => expect(shown[at]).toContain(name.replace(/[▾▸]/, '').trim()))
    expect(errors).toEqual([])
    await close()
  })

  it('turns calls into callers, and shows one subtree, as the command says', async () => {
    const { page, close, errors } = await openProfileView()
    const path = 'test/fixtures/h200/triton_mxfp8_h200.hatchet'
    await drop(page, basename(path), readFileSync(path))
    const row = (index: number) => page.locator(`[role=row][data-index="${index}"]`)
    await page.getByText('Callers', { exact: true }).click()
    await row(1).getByText('▸').waitFor()
    await row(1).click()
    await page.locator('[data-index="1"]:focus').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.locator('[data-index="2"][aria-level="3"]').waitFor()
    await page.getByRole('button', { name: 'Only this' }).click()
    await page.getByText('Only ROOT > ').waitFor()
    const command = (await page.locator('.command code, code').last().textContent())!
    expect(command).toContain('--inverted')
    const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, a, b]) => a ?? b!)
    const printed = execFileSync(
      process.execPath,
      ['out/node/blockscope.js', ...words.slice(1).map((w) => (w === basename(path) ? path : w))],
      { encoding: 'utf8' }
    )
    const rows = await page.locator('[role=row][data-index] [role=gridcell]:first-child').all()
    expect(rows.length).toBeGreaterThan(2)
    for (const cell of rows) {
      const name = (await cell.textContent())!.replace(/[▾▸]/, '').trim()
      expect(printed).toContain(name)
    }
    await page.locator('body').press('f')
    await expect.poll(() => page.getByText('Only ROOT > ').count()).toBe(0)
    expect(errors).toEqual([])
    await close()
  })

  it('compares two profiles that are dropped together, the older as baseline', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await page.getByRole('link', { name: 'Devices' }).click()
    await page.getByText('CUDA driver').first().waitFor()
    await dropFiles(page, [
      { name: 'after.hatchet', bytes: readFileSync(`${folder}/modern_c.hatchet`), modified: 2_000 },
      { name: 'before.hatchet', bytes: readFileSync(`${folder}/modern_a.hatchet`), modified: 1_000 }
    ])
    await page.getByRole('columnheader', { name: 'change', exact: true }).waitFor()
    await page.getByText('after.hatchet is compared with before.hatchet, the older one.').waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('compares with a run of the store', async () => {
    execFileSync(process.execPath, [
      ...['out/node/blockscope.js', 'validate', '--formats', 'mxfp4', '-M', '64', '-N', '64'],
      ...['-K', '64', '--store', server.storeFolder]
    ])
    const { page, close, errors } = await openProfileView()
    await drop(page, 'modern_a.hatchet', readFileSync(`${folder}/modern_a.hatchet`))
    await page.getByRole('button', { name: 'Diff with baseline' }).click()
    await page.getByRole('menuitem', { name: /^Validate mxfp4/ }).click()
    await page.getByRole('columnheader', { name: 'change', exact: true }).waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('shows a run by the time of one operation, its diff too, and says so', async () => {
    const run = 'test/fixtures/runs/h200-8192/run.json'
    const { id } = JSON.parse(readFileSync(run, 'utf8')) as { id: string }
    execFileSync(process.execPath, [
      ...['out/node/blockscope.js', 'runs', 'import', run, '--store', server.storeFolder]
    ])
    const { page, close, errors } = await openProfileView()
    await page.evaluate(`location.hash = '#/profile?run=${id}'`)
    const row = page.getByRole('row', { name: /wgmma mxfp4 / })
    await row.waitFor()
    // 1905.92 us and 576.9 TFLOP/s: the median in the run's table, not the 51.5 ms that were sampled.
    expect(await row.textContent()).toMatch(/1\.91.*577/)
    await page.getByText('Times and rates are of one operation').waitFor()
    const command = await page.locator('.command code, code').last().textContent()
    const [, ...words] = command!.trim().replace(/^\$ /, '').split(' ')
    const printed = execFileSync(process.execPath, ['out/node/blockscope.js', ...words], {
      env: { ...process.env, BLOCKSCOPE_STORE: server.storeFolder }
    })
    expect(printed.toString()).toMatch(/^ +1\.906 +3\.579 +576\.893 .* wgmma mxfp4 /m)
    await page.getByRole('button', { name: 'Diff with baseline' }).click()
    await page
      .getByRole('menuitem', { name: /H200|4 formats|mxfp4, mxfp8/ })
      .first()
      .click()
    await page.getByRole('columnheader', { name: 'ratio', exact: true }).waitFor()
    expect(await row.textContent()).toMatch(/1\.91\s*1\.91\s*0.*1/)
    expect(errors).toEqual([])
    await close()
  })

  it('opens a profile that is dropped in another view', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await page.getByRole('link', { name: 'Devices' }).click()
    await page.getByText('CUDA driver').first().waitFor()
    await drop(page, 'modern_a.hatchet', readFileSync(`${folder}/modern_a.hatchet`))
    await page.getByRole('treegrid').waitFor()
    await expect.poll(() => page.url()).toContain('#/profile')
    expect(errors).toEqual([])
    await close()
  })

  it('stops reading when it is told to, and opens the next', async () => {
    const work = mkdtempSync(join(tmpdir(), 'blockscope-profile-'))
    const large = join(work, 'large.hatchet')
    generateProfile(large, 300_000)
    const { page, close, errors } = await openProfileView()
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Open a profile' }).click()
    await (await chooser).setFiles(large)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Drop a profile here').waitFor()
    await drop(page, 'modern_a.hatchet', readFileSync(`${folder}/modern_a.hatchet`))
    await page.getByRole('treegrid').waitFor()
    rmSync(work, { recursive: true })
    expect(errors).toEqual([])
    await close()
  })

  it('finds by / and Ctrl+F, counts, and shows every match clear of the head, without a shift', async () => {
    const work = mkdtempSync(join(tmpdir(), 'blockscope-profile-'))
    const large = join(work, 'large.hatchet')
    generateProfile(large, 20_000)
    const { page, close, errors } = await openProfileView({ size: 'narrow' })
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Open a profile' }).click()
    await (await chooser).setFiles(large)
    const table = page.getByRole('treegrid')
    await table.waitFor()
    const place = async () => (await boxOf(table)).y
    const before = await place()
    await page.keyboard.press('/')
    const name = await page.locator('[role=row][data-index="3"] .words').textContent()
    await page.keyboard.type(name!.trim().slice(0, 4))
    const found = page.getByRole('status', { name: 'Found' })
    await expect.poll(() => found.textContent()).toMatch(/^[\d,]+ found$/)
    const all = /^[\d,]+/.exec((await found.textContent())!)![0]
    expect(await place()).toBe(before)
    for (const key of ['Enter', 'Enter', 'Shift+Enter', 'Shift+Enter']) {
      await page.keyboard.press(key)
      await expect.poll(() => found.textContent()).toMatch(new RegExp(`^[\\d,]+ of ${all}$`))
      await page.locator('[role=row][aria-selected=true]').waitFor()
      await expect.poll(() => page.evaluate(insideTable)).toBe(true)
    }
    await page.locator('body').press('Tab')
    await page.keyboard.press('Control+f')
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Search')
    await page.keyboard.press('Escape')
    rmSync(work, { recursive: true })
    expect(errors).toEqual([])
    await close()
  })

  it('groups by what a name holds, and columns take the width they are given', async () => {
    const { page, close, errors } = await openProfileView()
    const path = 'test/fixtures/h200/triton_mxfp8_h200.hatchet'
    await drop(page, basename(path), readFileSync(path))
    await page.getByRole('treegrid').waitFor()
    await page.getByText('Groups', { exact: true }).click()
    await page.getByLabel(/^Grouped by/).fill(String.raw`K=?(\d+)`)
    const command = page.locator('.command code').last()
    await expect.poll(() => command.textContent()).toContain(String.raw`--group 'K=?(\d+)'`)
    await page.locator('[role=row][data-index="1"]').waitFor()
    await page.getByLabel(/^Grouped by/).fill('(')
    await page.getByRole('alert').filter({ hasText: 'regular expression' }).waitFor()
    await page.getByText('Calls', { exact: true }).click()
    const handle = page.getByRole('separator', { name: 'Width of time/ms' })
    const width = async () => (await boxOf(handle.locator('..'))).width
    const before = await width()
    await handle.focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(width).toBe(before + 16)
    await handle.dblclick()
    await expect.poll(width).toBe(before)
    expect(errors).toEqual([])
    await close()
  })

  it('comes back as it was left, without reading the run again', async () => {
    execFileSync(process.execPath, [
      ...['out/node/blockscope.js', 'validate', '--formats', 'mxfp4', '-M', '64', '-N', '64'],
      ...['-K', '64', '--store', server.storeFolder]
    ])
    const { page, close, errors } = await openPage(browser, server.url)
    await page.getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('row').nth(1).click()
    await page.getByRole('button', { name: 'Open as profile' }).click()
    await page.getByRole('treegrid').waitFor()
    await page.getByText('Kernels', { exact: true }).click()
    await page.getByRole('link', { name: 'Devices' }).click()
    await page.getByText('CUDA driver').first().waitFor()
    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByRole('treegrid').waitFor()
    await expect.poll(() => page.url()).toMatch(/profile\?run=/)
    expect(await page.getByRole('radio', { name: 'Kernels' }).isChecked()).toBe(true)
    expect(errors).toEqual([])
    await close()
  })

  it('compares with a baseline; new and gone are written, not only coloured', async () => {
    const { page, close, errors } = await openProfileView()
    await drop(page, 'modern_c.hatchet', readFileSync(`${folder}/modern_c.hatchet`))
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Diff with baseline' }).click()
    await page.getByRole('menuitem', { name: 'A file…' }).click()
    await (await chooser).setFiles(`${folder}/modern_a.hatchet`)
    await page.getByRole('columnheader', { name: 'change', exact: true }).waitFor()
    const marks = await page.locator('[role=row] .tag').allTextContents()
    expect(marks.length).toBeGreaterThan(0)
    expect(marks.every((mark) => ['new', 'gone'].includes(mark.trim()))).toBe(true)
    expect(errors).toEqual([])
    await close()
  })
})
