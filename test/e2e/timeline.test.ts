/** The Timeline view in a real browser: every gesture, with the mouse and from the keyboard. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { generateTrace } from '../bench/generateTrace'
import { drop, go, seriousFaults, steadyBox } from './support/actions'
import {
  describeInBrowser,
  workerBrowser,
  openPage,
  type OpenedPage,
  type Size,
  type Theme
} from './support/browser'
import { addRun, program, startServerProcess, type StartedServer } from './support/server'

const name = 'moe_decode.trace.json'

describeInBrowser('Timeline view', () => {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-timeline-'))
  const trace = join(folder, name)
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    generateTrace(trace, 6000)
    browser = await workerBrowser()
    server = await startServerProcess()
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true })
  })

  async function openTrace(look: { theme?: Theme; size?: Size } = {}): Promise<OpenedPage> {
    const opened = await openPage(browser, server.url, look)
    await go(opened.page, 'timeline')
    await opened.page.getByText('Drop a trace here').waitFor()
    await drop(opened.page, name, readFileSync(trace))
    await opened.page.getByRole('application').waitFor()
    await opened.page.getByText('Whole trace, sums by kernel').waitFor()
    return opened
  }
  const canvas = (page: Page) => page.locator('.others canvas')
  const selected = (page: Page) => page.getByRole('status', { name: 'Selected' })
  const command = (page: Page) => page.locator('.command code').textContent()
  /** Where the window over the overview lies, per cent. */
  const middle = async (page: Page) =>
    Number(
      await page
        .getByRole('slider', { name: 'Shown time', exact: true })
        .getAttribute('aria-valuenow')
    )
  const shownLength = (page: Page) => page.locator('.corner strong').textContent()
  const isChanged = (from: unknown, now: () => Promise<unknown>) =>
    expect.poll(async () => (await now()) === from).toBe(false)

  it('has an example where nothing is open: its trace, from the keyboard, stays in this view', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await go(page, 'timeline')
    await page.getByRole('button', { name: /A trace of a sweep/ }).press('Enter')
    await page.getByText('Whole trace, sums by kernel').waitFor()
    await expect.poll(() => page.url()).toContain('#/timeline')
    expect(errors).toEqual([])
    await close()
  })

  it('zooms, pans, takes ranges whose sums the command line prints too, measures and walks through gaps', async () => {
    const { page, close, errors, policyViolations } = await openTrace()
    const box = await steadyBox(canvas(page))
    const stream = await steadyBox(page.locator('.lane', { hasText: 'stream 7' }))
    const y = stream.y + stream.height / 2
    const whole = await shownLength(page)
    await page.mouse.move(box.x + box.width * 0.25, y)
    for (let turn = 0; turn < 12; turn++) await page.mouse.wheel(0, -200)
    await isChanged(whole, () => shownLength(page))
    await expect.poll(() => middle(page)).toBeLessThan(40)
    for (const [key, then] of [
      ['d', (now: number, before: number) => now >= before],
      ['s', () => true],
      ['w', () => true]
    ] as const) {
      const [before, length] = [await middle(page), await shownLength(page)]
      await page.keyboard.press(key)
      if (key !== 'd') await isChanged(length, () => shownLength(page))
      expect(then(await middle(page), before)).toBe(true)
    }
    await page.mouse.move(box.x + box.width * 0.3, y)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.6, y + 10, { steps: 4 })
    await page.mouse.up()
    await page.getByRole('grid', { name: 'Selected range, sums by kernel' }).waitFor()
    await page.locator('.pill').waitFor()
    const words = (await command(page))!
      .replace(/^\W*blockscope /, '')
      .trim()
      .split(' ')
    expect(words).toContain('--range')
    const printed = JSON.parse(
      execFileSync(
        process.execPath,
        [program, ...words.map((word) => (word === name ? trace : word)), '--json'],
        { encoding: 'utf8' }
      )
    ) as { kernels: { name: string; count: number }[] }
    const grid = page.getByRole('grid', { name: 'Selected range, sums by kernel' })
    await expect
      .poll(async () => Number(await grid.getAttribute('aria-rowcount')))
      .toBe(printed.kernels.length + 1)
    const first = await grid.locator('[data-index="0"] [role=gridcell]').allTextContents()
    expect(first[0]!.trim()).toBe(printed.kernels[0]!.name)
    expect(first[2]!.trim()).toBe(String(printed.kernels[0]!.count))

    // Edges snap to those of slices: the range that is measured ends where slices do.
    await page.keyboard.press('Escape')
    await page.keyboard.press('m')
    await page.getByRole('button', { name: 'Measure', pressed: true }).waitFor()
    await page.keyboard.press('m')
    await page.keyboard.press(']')
    await expect.poll(async () => (await command(page))!.includes('--range')).toBe(true)
    const gap = await command(page)
    await page.keyboard.press(']')
    await isChanged(gap, () => command(page))
    await page.keyboard.press('[')
    await expect.poll(() => command(page)).toBe(gap)

    await canvas(page).dblclick({ position: { x: box.width * 0.5, y: 8 } })
    expect([errors, policyViolations]).toEqual([[], []])
    await close()
  })

  it('finds slices, walks among them with the keyboard, and leads to the launch, to the tree and back', async () => {
    const { page, close, errors } = await openTrace()
    await page.keyboard.press('/')
    await page.keyboard.type('flash_fwd')
    const found = page.getByRole('status', { name: 'Found' })
    await expect.poll(() => found.textContent()).toMatch(/^\d+ found$/)
    await page.keyboard.press('Enter')
    await expect.poll(() => selected(page).textContent()).toContain('flash_fwd')
    await expect.poll(() => found.textContent()).toMatch(/^1 of \d+$/)
    await page.keyboard.press('Enter')
    await expect.poll(() => found.textContent()).toMatch(/^2 of \d+$/)
    await page.getByLabel('Search slices').fill('(')
    await page.getByLabel('Search slices').fill('/(/')
    await expect.poll(() => found.textContent()).toContain('not a regular expression')
    await page.keyboard.press('Escape')

    const facts = page.getByRole('region', { name: 'Selected slice' })
    await expect.poll(() => facts.textContent()).toMatch(/grid132 x 1 x 1.*registers per thread228/)
    const kernel = await selected(page).textContent()
    await page.getByRole('application').focus()
    await page.keyboard.press('ArrowRight')
    await isChanged(kernel, () => selected(page).textContent())
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => selected(page).textContent()).toBe(kernel)
    await page.keyboard.press('Enter')
    await page.getByText('Selected range, sums by kernel').waitFor()
    // Measured from this slice to the next one that is chosen.
    const own = await page.locator('.pill').textContent()
    await page.keyboard.press('m')
    await page.keyboard.press('ArrowRight')
    await isChanged(own, () => page.locator('.pill').textContent())
    await page.keyboard.press('Escape')
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => selected(page).textContent()).toContain('on thread 4121')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => selected(page).textContent()).toContain('on stream 7')
    await page.getByRole('button', { name: 'Its launch' }).click()
    await expect.poll(() => selected(page).textContent()).toContain('cudaLaunchKernel')
    await page.getByRole('button', { name: 'What it launched' }).click()
    await expect.poll(() => selected(page).textContent()).toContain('on stream 7')
    const back = (await selected(page).textContent())!.split(',')[0]!
    await page.getByRole('button', { name: 'Show in the tree' }).click()
    const row = page.locator('[role=treegrid] [role=row][aria-selected=true]')
    await row.waitFor()
    await page.keyboard.press('t')
    await page.getByRole('application').waitFor()
    await expect.poll(() => selected(page).textContent()).toContain(back)

    // Lanes and tree at once: a slice chooses its row, a row its first slice; the address keeps which panes there are.
    await page.getByRole('group', { name: 'Panes' }).getByText('Both').click()
    await expect.poll(() => row.getAttribute('aria-rowindex')).not.toBeNull()
    const rowOfSlice = await row.getAttribute('aria-rowindex')
    await page.getByRole('application').focus()
    await page.keyboard.press('ArrowRight')
    await isChanged(rowOfSlice, () => row.getAttribute('aria-rowindex'))
    const sliceOfRow = await selected(page).textContent()
    await row.focus()
    await page.keyboard.press('ArrowUp')
    await isChanged(sliceOfRow, () => selected(page).textContent())
    await expect.poll(() => new URL(page.url()).hash).toContain('panes=both')
    expect(await seriousFaults(page)).toEqual([])
    await page.getByRole('group', { name: 'Panes' }).getByText('Tree', { exact: true }).click()
    await page.getByRole('application').waitFor({ state: 'detached' })
    await row.waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('folds, closes, hides and pins lanes; a profile of sums says what it lacks, a run has lanes', async () => {
    const { page, close, errors } = await openTrace({ size: 'narrow', theme: 'dark' })
    const process = page.getByRole('button', { name: 'python, CPU' })
    await process.click()
    await page.getByText('thread 4121', { exact: false }).waitFor({ state: 'detached' })
    await process.click()
    await page.locator('.lane', { hasText: 'stream 20' }).hover()
    await page.getByRole('button', { name: 'Keep stream 20 at the top' }).click()
    await page.locator('.pinned .lane', { hasText: 'stream 20' }).waitFor()
    await page.getByRole('button', { name: 'Lanes 4 of 4' }).click()
    await page.getByRole('button', { name: 'None' }).click()
    await page.getByText('Nothing runs in this range.').waitFor()
    await page.getByText('stream 22', { exact: true }).click()
    const grid = page.getByRole('grid', { name: 'Whole trace, sums by kernel' })
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('2')
    await page.keyboard.press('Escape')
    expect(await seriousFaults(page)).toEqual([])
    const sums = 'test/fixtures/h200/triton_mxfp8_h200.hatchet'
    await drop(page, 'sums.hatchet', readFileSync(sums))
    await page.getByText('sums.hatchet has no timeline').waitFor()
    const id = addRun(server.storeFolder, 'test/fixtures/runs/h200-8192/run.json')
    await go(page, `timeline?run=${id}`)
    const lane = page.locator('.lane', { hasText: 'wgmma-fp8-p256' }).first()
    await lane.waitFor()
    // However short its room, a name is read and copied in one piece.
    expect(await lane.locator('.title').innerText()).toBe('wgmma-fp8-p256')
    // Values of the counters are read by the arrow keys, from change to change.
    const read = page.getByRole('status', { name: 'Counters at a time' })
    await page.getByRole('group', { name: /^Counters/ }).focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => read.textContent()).toMatch(/^At .+: Clock \(MHz\) [\d,]+/)
    const at = await read.textContent()
    await page.keyboard.press('ArrowRight')
    await isChanged(at, () => read.textContent())
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => read.textContent()).toBe(at)
    await page.keyboard.press('Escape')
    await expect.poll(() => read.textContent()).toBe('')
    await page.setViewportSize({ width: 420, height: 900 })
    await expect
      .poll(() => lane.locator('[data-text]').getAttribute('data-text'))
      .toMatch(/^wg.*….*256$/)
    expect(await lane.locator('.title').innerText()).toBe('wgmma-fp8-p256')
    writeFileSync(join(folder, 'empty.json'), '{"traceEvents":[]}')
    await drop(page, 'empty.json', readFileSync(join(folder, 'empty.json')))
    await page.getByText('0 slices').first().waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('shows the range that its address names, at first and when it is followed', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    const id = addRun(server.storeFolder, 'resources/examples/h200-8192-mxfp4.json')
    const shows = (range: string) => expect.poll(() => command(page)).toContain(`--range ${range}`)
    const address = () => page.evaluate<string>('location.hash')
    await go(page, `timeline?run=${id}&range=1ms..3ms`)
    await shows('1ms..3ms')
    await expect.poll(() => shownLength(page)).toMatch(/^2\.\d* ms$/)
    // Followed while the page is at work, beyond when it would write the range before: that is no longer the address.
    await go(page, `timeline?run=${id}&range=2ms..3ms`)
    await Promise.all([
      page.evaluate('for (const end = performance.now() + 300; performance.now() < end; );'),
      go(page, `timeline?run=${id}&range=500us..900us`)
    ])
    await shows('500us..900us')
    expect(await page.locator('.pill').textContent()).toContain('400')
    await page.getByRole('application').focus()
    await page.keyboard.press('Escape')
    await expect.poll(address).not.toContain('range')
    await go(page, `timeline?run=${id}&range=3ms..1ms`)
    await page.getByText('it ends before it begins').waitFor()
    await expect.poll(address).not.toContain('range')
    expect(errors).toEqual([])
    await close()
  })

  it('has no serious accessibility problem, searched and with a range', async () => {
    const looks = [
      { theme: 'light', size: 'wide' },
      { theme: 'dark', size: 'narrow' }
    ] as const
    for (const { theme, size } of looks) {
      const { page, close } = await openTrace({ theme, size })
      const box = await steadyBox(canvas(page))
      await page.mouse.move(box.x + box.width * 0.5, box.y + 40)
      for (let turn = 0; turn < 10; turn++) await page.mouse.wheel(0, -175)
      await page.getByRole('application').focus()
      await page.keyboard.press('/')
      await page.keyboard.type('N=5760')
      for (let hit = 0; hit < 9; hit++) await page.keyboard.press('Enter')
      await expect
        .poll(() => page.getByRole('status', { name: 'Found' }).textContent())
        .toMatch(/^9 of /)
      await page.keyboard.press('Escape')
      await page.mouse.move(box.x + box.width * 0.3, box.y + 60)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width * 0.72, box.y + 62, { steps: 3 })
      await page.mouse.up()
      await page.mouse.move(0, 0)
      await page.getByText('Selected range, sums by kernel').waitFor()
      expect(await seriousFaults(page)).toEqual([])
      await close()
    }
  })
})
