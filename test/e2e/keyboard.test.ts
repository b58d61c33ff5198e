/** Every view's main job without a mouse. */
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'
import { startServerProcess, type StartedServer } from './support/server'

describeInBrowser('with the keyboard alone', () => {
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await workerBrowser()
  })
  afterAll(async () => {
    await server?.stop()
  })

  const title = (page: Page) => page.locator('h1')
  /** What has the focus: its name or text. */
  const focused = (page: Page) =>
    page.evaluate<string>(
      `(() => { const at = document.activeElement
        return at.getAttribute('aria-label') || at.labels?.[0]?.textContent.trim() || at.textContent.trim() })()`
    )
  /** Tab until what has the focus is called `name`; fails when it is never reached. */
  async function tabTo(page: Page, name: string | RegExp): Promise<void> {
    for (let i = 0; i < 120; i++) {
      const text = await focused(page)
      if (typeof name === 'string' ? text === name : name.test(text)) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`Tab does not reach "${String(name)}".`)
  }

  it('reaches every view by Alt and a digit, and by the palette; focus is seen and comes back', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    const views = [
      'Devices',
      'Validate',
      'Sweep',
      'Formats',
      'Layouts',
      'Profile',
      'Timeline',
      'Runs'
    ]
    for (const [at, view] of views.entries()) {
      await page.keyboard.press(`Alt+${at + 1}`)
      await expect.poll(() => title(page).textContent()).toContain(view)
    }
    for (const view of views) {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').waitFor()
      await page.keyboard.type(`Go to ${view}`)
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await expect.poll(() => title(page).textContent()).toContain(view)
    }
    await tabTo(page, 'Import')
    const outline = await page.evaluate<string>(
      'getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).boxShadow'
    )
    expect(outline).not.toBe('nonenone')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Import')
    expect(errors).toEqual([])
    await close()
  })

  it('skips to the content', async () => {
    const { page, close } = await openPage(browser, server.url)
    await page.getByRole('main').waitFor()
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN')
    await close()
  })

  it('validates, then opens a cell of the matrix', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await page.keyboard.press('Alt+2')
    await tabTo(page, /^Options/)
    await page.keyboard.press('Enter')
    for (const axis of ['M', 'N', 'K']) {
      await tabTo(page, axis)
      await page.keyboard.type('128')
    }
    await tabTo(page, 'Validate all formats')
    await page.keyboard.press('Enter')
    await page.locator('button:has-text("Save report"):enabled').waitFor()
    await page.getByText(/^[1-9]\d* of \d+ passed/).waitFor()
    await tabTo(page, /^\S+, nvfp4:/)
    await page.keyboard.press('ArrowRight')
    const cell = await focused(page)
    expect(cell).toMatch(/^\S+, mxfp4: *Passed/)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: cell.split(':')[0]! }).waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('starts a sweep and cancels it', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await page.keyboard.press('Alt+3')
    await tabTo(page, 'M')
    await page.keyboard.type('256')
    await tabTo(page, 'Start sweep')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor()
    await page.keyboard.press('Control+.')
    await page.locator('#sweep-title ~ *').getByText('Incomplete').waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('opens a profile, walks it, and closes nodes', async () => {
    const { page, close } = await openPage(browser, server.url)
    // Asked for before the key, so that the chooser cannot come before its listener.
    const chooser = page.waitForEvent('filechooser')
    await page.keyboard.press('Alt+6')
    await expect.poll(() => title(page).textContent()).toContain('Profile')
    await page.getByText('Drop a profile here').waitFor()
    await tabTo(page, 'Open a profile')
    await page.keyboard.press('Enter')
    await (
      await chooser
    ).setFiles({
      name: 'modern_a.hatchet',
      mimeType: 'application/json',
      buffer: readFileSync('test/fixtures/proton/synthetic/modern_a.hatchet')
    })
    await page.getByRole('treegrid').waitFor()
    await tabTo(page, /^▾\s*ROOT/)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowLeft')
    await page.locator('[data-index="1"][aria-expanded="false"]').waitFor()
    await close()
  })

  it('labels a run, deletes it, and takes that back', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await page.keyboard.press('Alt+8')
    await page.getByRole('grid', { name: 'Runs' }).waitFor()
    const before = await page.getByText(/\d+ runs/).textContent()
    await page.getByRole('row').nth(1).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Open as profile' }).waitFor()
    await tabTo(page, 'Rename this run')
    await page.keyboard.press('Enter')
    await page.keyboard.type('by keyboard')
    await page.keyboard.press('Enter')
    await page.getByRole('gridcell', { name: 'by keyboard', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).last().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await tabTo(page, 'Undo')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByText(/\d+ runs/).textContent()).toBe(before)
    expect(errors).toEqual([])
    await close()
  })
})
