/** The flame graph in a real browser: gestures, keys, search, sandwich, colours, diff, export, accessibility. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { drop, saved, seriousFaultsInBothLooks, steadyBox } from './support/actions'
import {
  describeInBrowser,
  workerBrowser,
  openPage,
  type OpenedPage,
  type Theme
} from './support/browser'
import { startServerProcess, type StartedServer } from './support/server'

const path = 'test/fixtures/h200/triton_mxfp8_h200.hatchet'

describeInBrowser('Flame graph', () => {
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    browser = await workerBrowser()
    server = await startServerProcess()
  })
  afterAll(async () => {
    await server?.stop()
  })

  async function openProfile(theme: Theme = 'light'): Promise<OpenedPage> {
    const opened = await openPage(browser, server.url, { theme })
    await opened.page.getByRole('link', { name: 'Profile' }).click()
    await opened.page.getByText('Drop a profile here').waitFor()
    await drop(opened.page, basename(path), readFileSync(path))
    await pictureOf(opened.page).waitFor()
    return opened
  }

  const pictureOf = (page: Page) => page.getByRole('application', { name: /^Flame graph/ })
  /** What part of the whole is shown, in per cent. */
  async function part(page: Page): Promise<number> {
    const text = await page
      .getByRole('slider', { name: 'Part that is shown', exact: true })
      .getAttribute('aria-valuetext')
    const [, from, to] = /from (\d+) to (\d+)/.exec(text!)!
    return Number(to) - Number(from)
  }
  const selectedRow = (page: Page) => page.locator('[role=row][aria-selected=true]')

  it('zooms and pans by wheel, drag, letters and double click; Escape shows all', async () => {
    const { page, close, errors, policyViolations } = await openProfile()
    const box = await steadyBox(pictureOf(page))
    await page.mouse.move(box.x + box.width * 0.4, box.y + 30)
    await page.mouse.wheel(0, -500)
    await expect.poll(() => part(page)).toBeLessThan(50)
    const zoomed = await part(page)
    await page.mouse.wheel(0, 200)
    await expect.poll(() => part(page)).toBeGreaterThan(zoomed)
    const slider = page.getByRole('slider', { name: 'Part that is shown', exact: true })
    const place = () => slider.getAttribute('aria-valuetext')
    let before = await place()
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.2, box.y + 34, { steps: 3 })
    await page.mouse.up()
    await expect.poll(place).not.toBe(before)
    for (const key of ['w', 'a', 'd', 's']) {
      before = await place()
      await page.keyboard.press(key)
      await expect.poll(place).not.toBe(before)
    }
    await page.keyboard.press('Escape')
    await expect.poll(() => part(page)).toBe(100)
    // A scope of the second level: it fills the picture, wherever that stands by now.
    const { x, y, width } = await steadyBox(pictureOf(page))
    await page.mouse.dblclick(x + width * 0.3, y + 30)
    await expect.poll(() => part(page)).toBeLessThan(90)
    await slider.focus()
    await page.keyboard.press('Home')
    await expect.poll(() => part(page)).toBe(100)
    expect([errors, policyViolations]).toEqual([[], []])
    await close()
  })

  it('selects with the table, both ways, by the arrow keys too, and says what is selected', async () => {
    const { page, close, errors } = await openProfile()
    const box = await steadyBox(pictureOf(page))
    await page.mouse.click(box.x + box.width * 0.4, box.y + 30)
    await selectedRow(page).waitFor()
    const spoken = page.getByRole('status', { name: 'Selected box' })
    const nameOf = async () =>
      (await selectedRow(page).locator('[role=gridcell]').first().getAttribute('aria-label'))!
    await expect
      .poll(async () => (await spoken.textContent())!.startsWith(await nameOf()))
      .toBe(true)
    await pictureOf(page).focus()
    const names = [await nameOf()]
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowUp']) {
      await page.keyboard.press(key)
      await expect.poll(nameOf).not.toBe(names.at(-1))
      names.push(await nameOf())
      await expect.poll(() => spoken.textContent()).toContain(names.at(-1))
    }
    expect(names.at(-1)).toBe('ROOT')
    await page.locator('[role=row][data-index="2"]').click()
    await expect
      .poll(async () => (await spoken.textContent())!.startsWith(await nameOf()))
      .toBe(true)
    await page.keyboard.press('z')
    await expect.poll(() => part(page)).toBeLessThan(100)
    await page.keyboard.press('Escape')
    await expect.poll(() => part(page)).toBe(100)
    await pictureOf(page).focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => part(page)).toBeLessThan(100)
    // The card at the pointer says the same as the table.
    await page.mouse.move(box.x + box.width * 0.5, box.y + 10)
    await page.locator('.card').getByText('of all').waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('shows the sandwich of a frame, and nothing that axe finds, light and dark', async () => {
    const { page, close, errors } = await openProfile()
    const search = page.getByRole('textbox', { name: 'Search' })
    await search.fill('matmul')
    const found = page.getByRole('status', { name: 'Found' })
    await expect.poll(() => found.textContent()).toMatch(/^\d+ found$/)
    await search.press('Enter')
    await expect.poll(() => found.textContent()).toMatch(/^1 of \d+$/)
    expect(await seriousFaultsInBothLooks(page)).toEqual([])
    await page.getByText('Sandwich', { exact: true }).click()
    await page.getByRole('application', { name: /^Sandwich/ }).waitFor()
    const lists = page.getByRole('region', { name: 'Callers and called frames' })
    await lists.getByText(/^Called from/).waitFor()
    expect(await seriousFaultsInBothLooks(page)).toEqual([])
    const name = () =>
      page
        .getByRole('region', { name: /^Details/ })
        .locator('h2')
        .textContent()
    const before = await name()
    await lists.getByRole('button').first().click()
    await expect.poll(name).not.toBe(before)
    expect(errors).toEqual([])
    await close()
  })

  it('colours by what is asked for, and is saved as it is shown, with title and command', async () => {
    const { page, close, errors } = await openProfile()
    const legend = page.locator('.legend .entry')
    await legend.first().waitFor()
    await page.getByLabel('Colour').selectOption({ label: 'time/ms' })
    await legend.filter({ hasText: 'time/ms' }).waitFor()
    await page.getByLabel('Order').selectOption({ label: 'Heaviest left' })
    const svg = await saved(page, 'Export', /Picture.*SVG/)
    expect(svg.name).toBe('triton_mxfp8_h200.flame.svg')
    expect(svg.text).toContain(`Flame graph of ${basename(path)}`)
    expect(svg.text).toContain('blockscope view')
    expect(svg.text).toContain('ROOT')
    const png = await saved(page, 'Export', /Picture.*PNG/)
    expect(png.bytes.subarray(1, 4).toString()).toBe('PNG')
    await page.getByRole('button', { name: 'Diff with baseline' }).click()
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('menuitem', { name: 'A file…' }).click()
    await (await chooser).setFiles(path)
    await legend.filter({ hasText: 'gone' }).waitFor()
    await page.getByLabel('Match by').selectOption({ label: 'Similar names' })
    await expect
      .poll(() => page.locator('.command code, code').last().textContent())
      .toContain('--by-name')
    expect(errors).toEqual([])
    await close()
  })
})
