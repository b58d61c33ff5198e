/**
 * The clicks that docs/tour.md says each of its tasks takes, counted: a choice from a list is one; what is typed and what the
 * system's file dialog takes are none.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInBrowser, openPage, workerBrowser, type OpenedPage } from './support/browser'
import { program, startServerProcess, type StartedServer } from './support/server'

/** By the number of the task. */
const said = [...readFileSync('docs/tour.md', 'utf8').matchAll(/^## \d\. .*: (\d) clicks$/gm)].map(
  ([, clicks]) => Number(clicks)
)

describeInBrowser('the tour', () => {
  let browser: Browser
  let server: StartedServer
  let opened: OpenedPage
  let clicks = 0
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await workerBrowser()
    const failing = [
      ...['validate', '--device', 'cpu', '--formats', 'all', '-M', '256', '-N', '256'],
      ...['-K', '4096', '--dist', 'positive', '--atol', '0', '--rtol', '0'],
      ...['--rule', 'assert-close']
    ]
    try {
      execFileSync(process.execPath, [program, ...failing, '--store', server.storeFolder], {
        stdio: 'ignore'
      })
    } catch {
      // Failing is what it is for, and exits with 1.
    }
  })
  afterAll(async () => {
    await server?.stop()
  })

  async function begin(): Promise<Page> {
    opened = await openPage(browser, server.url)
    clicks = 0
    await opened.page.exposeFunction('countClick', () => clicks++)
    await opened.page.evaluate(`addEventListener('pointerdown', () => countClick(), true)
      addEventListener('change', ({ target }) => target.tagName === 'SELECT' && countClick(), true)`)
    return opened.page
  }
  async function end(task: number): Promise<void> {
    expect(clicks).toBe(said[task - 1])
    expect([opened.errors, opened.policyViolations]).toEqual([[], []])
    await opened.context.close()
  }
  const view = (page: Page, name: string) =>
    page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
  const cancel = (page: Page) => page.getByRole('button', { name: 'Cancel', exact: true })

  it('has five tasks', () => expect(said).toHaveLength(5))

  it('validates every format', async () => {
    const page = await begin()
    await view(page, 'Validate')
    await page.getByRole('button', { name: 'Validate all formats' }).click()
    await cancel(page).waitFor()
    const counted = clicks
    await cancel(page).click()
    clicks = counted
    await end(1)
  })

  it('sweeps', async () => {
    const page = await begin()
    await view(page, 'Sweep')
    for (const axis of ['M', 'N', 'K']) await page.getByLabel(axis, { exact: true }).fill('64')
    await page.getByRole('button', { name: 'Start sweep' }).click()
    await page.getByRole('region', { name: 'Table' }).waitFor()
    await end(2)
  })

  it('compares two profiles', async () => {
    const page = await begin()
    const folder = 'test/fixtures/proton/synthetic'
    await view(page, 'Profile')
    const first = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Open a profile' }).click()
    await (await first).setFiles(`${folder}/modern_c.hatchet`)
    await page.getByRole('treegrid').waitFor()
    await page.getByRole('button', { name: 'Diff with baseline' }).click()
    const second = page.waitForEvent('filechooser')
    await page.getByRole('menuitem', { name: 'A file…' }).click()
    await (await second).setFiles(`${folder}/modern_a.hatchet`)
    await page.getByRole('columnheader', { name: 'change', exact: true }).waitFor()
    await end(3)
  })

  it('leads from a failing element to the byte of its scale', async () => {
    const page = await begin()
    await page.getByRole('link', { name: /^Validate all.*positive/ }).click()
    const wrong = page.getByRole('gridcell').filter({ hasText: /\d outside/ })
    await wrong.first().getByRole('button').click()
    await page.getByText('contributes most').waitFor()
    await page.locator('a', { hasText: /scale/ }).first().click()
    await page.locator('[data-test=offset]').waitFor()
    await end(4)
  })

  it("leads from a checkpoint's scale to its lane", async () => {
    const page = await begin()
    await view(page, 'Layouts')
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Open file: Paste bytes as hex' }).click()
    await (await chooser).setFiles('test/fixtures/golden/gemm_nvfp4_128x256x512.safetensors')
    await page.getByLabel(/^Tensor of gemm_nvfp4/).waitFor()
    // Its scales stand row by row: how a kernel wants them is a choice.
    await page.getByLabel('Layout', { exact: true }).selectOption('nvidia_32_4_4')
    await page.getByText('4 Flatten', { exact: true }).click()
    await page.locator('[data-test=swizzle-words]', { hasText: 'reads it in' }).waitFor()
    await end(5)
  })
})
