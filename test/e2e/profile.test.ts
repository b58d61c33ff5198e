/** The Profile view in a real browser: files dropped on it, filter, keys, bad files, accessibility. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import {
  describeInBrowser,
  launchBrowser,
  openPage,
  takeScreenshot,
  themes
} from './support/browser'
import { startServerProcess, type StartedServer } from './support/server'

const folder = 'test/fixtures/proton/synthetic'
const names = ['modern_a', 'modern_c', 'legacy_b', 'example_spec', 'flops4_b200', 'arch120']

async function drop(page: Page, name: string, bytes: Buffer): Promise<void> {
  await page.evaluate(
    `(() => {
      const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), (c) => c.charCodeAt(0))
      const data = new DataTransfer()
      data.items.add(new File([bytes], '${name}'))
      document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }))
    })()`
  )
}

describeInBrowser('Profile view', () => {
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    browser = await launchBrowser()
    server = await startServerProcess()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  it.each(themes)('opens, filters and answers bad files, %s', async (theme) => {
    const opened = await openPage(browser, server.url, { theme, size: 'narrow' })
    const { page } = opened
    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByText('No profile open').waitFor()
    for (const name of names) {
      const path = `${folder}/${name}.hatchet`
      await drop(page, basename(path), readFileSync(path))
      await page.locator('strong', { hasText: basename(path) }).waitFor()
      await page.getByRole('treegrid').waitFor()
    }
    await drop(page, 'picture.png', Buffer.from('not a profile'))
    expect(await page.getByRole('alert').textContent()).toContain('picture.png')
    await page.getByLabel('Include').fill('no such name')
    await page.getByText('The filter leaves no node.').waitFor()
    await page.getByLabel('Include').fill('')
    const row = page.locator('[data-index="0"]')
    await row.focus()
    await page.keyboard.press('ArrowLeft')
    await page.locator('[data-index="0"][aria-expanded="false"]').waitFor()
    await page.keyboard.press('*')
    await page.locator('[data-index="1"]').waitFor()
    await page.evaluate(readFileSync('node_modules/axe-core/axe.min.js', 'utf8'))
    const serious = await page.evaluate(
      `axe.run().then(({ violations }) => violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ' ' + nodes[0].html.slice(0, 120)))`
    )
    await takeScreenshot(page, `profile-${theme}-narrow`)
    expect(serious).toEqual([])
    expect(opened.policyViolations).toEqual([])
    expect(opened.errors).toEqual([])
    await opened.context.close()
  })
  it('compares with a baseline; new and gone are written, not only coloured', async () => {
    const { page, context, errors } = await openPage(browser, server.url)
    await page.getByRole('link', { name: 'Profile' }).click()
    await page.getByText('No profile open').waitFor()
    await drop(page, 'modern_c.hatchet', readFileSync(`${folder}/modern_c.hatchet`))
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Diff with baseline' }).click()
    await (await chooser).setFiles(`${folder}/modern_a.hatchet`)
    await page.getByRole('columnheader', { name: 'change time/ms' }).waitFor()
    await takeScreenshot(page, 'profile-diff-light-wide')
    const marks = await page.locator('[role=row] .tag').allTextContents()
    expect(marks.length).toBeGreaterThan(0)
    expect(marks.every((mark) => ['new', 'gone'].includes(mark.trim()))).toBe(true)
    expect(errors).toEqual([])
    await context.close()
  })
})
