/** The Runs view in a real browser: history, notes, comparing, deleting, import and export, bad folders. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { go, saved, seriousFaultsInBothLooks } from './support/actions'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'
import { program, startServerProcess, type StartedServer } from './support/server'

describeInBrowser('Runs view', () => {
  let browser: Browser
  let server: StartedServer
  const sweep = (k: string) =>
    execFileSync(
      process.execPath,
      [
        ...[program, 'sweep', '--device', 'cpu', '--formats', 'mxfp4', '--kernels', 'cpu-portable'],
        ...['-M', '64', '-N', '64', '-K', k, '--reps', '5', '--store', server.storeFolder]
      ],
      { stdio: 'ignore' }
    )
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await workerBrowser()
    sweep('64,128')
    sweep('64,128')
    mkdirSync(join(server.storeFolder, 'damaged'))
    writeFileSync(join(server.storeFolder, 'damaged', 'run.json'), '{"formatVersion":1,')
  })
  afterAll(async () => {
    await server?.stop()
  })
  it('searches, labels, opens as a profile, exports, and deletes with undo', async () => {
    const { page, close, errors, policyViolations } = await openPage(browser, server.url)
    await go(page, 'runs')
    await page.getByText('3 runs').waitFor()
    await page.getByText('Unreadable').waitFor()
    await page.getByText('Passed', { exact: true }).first().click()
    await page.getByRole('button', { name: 'Rename this run' }).click()
    await page.getByLabel('Label').fill('before the change')
    await page.keyboard.press('Enter')
    await page.getByLabel('Notes').fill('tile 128')
    await page.getByLabel('Notes').blur()
    await page.getByLabel('Search runs').fill('tile 128')
    await page.getByText('1 of 3 runs').waitFor()
    await page.getByLabel('Search runs').fill('')
    const folder = await saved(page, 'Export', /^Everything/)
    expect(folder.bytes.length).toBeGreaterThan(500)
    await page.getByRole('button', { name: 'Open as profile' }).click()
    await page.getByRole('treegrid').waitFor()
    await expect.poll(() => page.url()).toMatch(/#\/profile\?run=/)
    await page.locator('[role=row][data-index="1"]').click()
    await expect.poll(() => decodeURIComponent(page.url())).toMatch(/node=/)
    const link = page.url()
    const second = await openPage(browser, server.url)
    await go(second.page, link.slice(link.indexOf('#/') + 2))
    await second.page.locator('[role=row][aria-selected=true][data-index="1"]').waitFor()
    await second.close()

    await go(page, 'runs')
    await page.getByRole('gridcell', { name: 'before the change', exact: true }).click()
    const details = page.getByRole('region', { name: 'Run before the change' })
    await details.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('2 runs').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('3 runs').waitFor()
    expect(readdirSync(server.storeFolder)).toContain('damaged')
    expect([errors, policyViolations]).toEqual([[], []])
    await close()
  })

  it('compares two runs point by point', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await go(page, 'runs')
    const done = page.getByRole('row').filter({ hasText: 'Passed' })
    await done.nth(1).waitFor()
    for (const at of [0, 1]) await done.nth(at).getByRole('checkbox').check()
    await page.getByRole('button', { name: /^Compare/ }).click()
    const comparison = page.getByRole('region', { name: 'Comparison' })
    await comparison.getByRole('gridcell', { name: '64 × 64 × 128' }).waitFor()
    await comparison.getByText(/of the baseline's time on average/).waitFor()
    await expect.poll(() => page.url()).toMatch(/compare=/)
    expect(errors).toEqual([])
    await close()
  })

  it('shows a point over runs by the filters that are chosen, beside the run that is pinned', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await go(page, 'runs?history=first')
    const history = page.getByRole('region', { name: /over 2 runs/ })
    await history.getByLabel('Shape').selectOption('64 × 64 × 128')
    await expect.poll(() => decodeURIComponent(page.url())).toContain('"k":128')
    const rows = history.locator('tbody tr')
    await rows.last().getByRole('button', { name: 'Pin' }).click()
    await history.getByText(/% to the baseline of/).waitFor()
    await history.getByText('By date', { exact: true }).click()
    await expect.poll(() => page.url()).toMatch(/by=date/)
    await history.getByRole('button', { name: 'Compare with baseline' }).click()
    await page.getByRole('region', { name: 'Comparison' }).waitFor()
    // The tabs lead back to what each of them showed.
    await page.getByRole('radio', { name: 'Compare', exact: true }).focus()
    await page.keyboard.press('ArrowLeft')
    await rows.last().getByRole('button', { name: 'Unpin' }).waitFor()
    await expect.poll(() => decodeURIComponent(page.url())).toContain('"k":128')
    expect(errors).toEqual([])
    await close()
  })

  it('imports a run file, and says what is wrong with one that is none', async () => {
    const { page, close } = await openPage(browser, server.url)
    await go(page, 'runs')
    await page.getByText('3 runs').waitFor()
    const [first] = readdirSync(server.storeFolder).filter((name) => /^2/.test(name))
    const path = join(server.storeFolder, first!, 'run.json')
    await dropOnView(page, 'copy.json', readFileSync(path))
    await page.getByText('4 runs').waitFor()
    await dropOnView(page, 'nonsense.json', Buffer.from('[]'))
    await page.getByText(/Not imported: nonsense\.json/).waitFor()
    await close()
  })

  const openRun = async (page: Page) => {
    await go(page, 'runs')
    await page.getByText('Passed', { exact: true }).first().click()
    await page.getByRole('button', { name: 'Open as profile' }).waitFor()
  }
  it('has no serious accessibility problem, light and dark', async () => {
    const { page, close } = await openPage(browser, server.url)
    await openRun(page)
    expect(await seriousFaultsInBothLooks(page)).toEqual([])
    await close()
  })
})

async function dropOnView(page: Page, name: string, bytes: Buffer): Promise<void> {
  await page.evaluate(
    `(() => {
      const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), (c) => c.charCodeAt(0))
      const data = new DataTransfer()
      data.items.add(new File([bytes], '${name}', { type: 'application/json' }))
      document.querySelector('main .view').dispatchEvent(
        new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
    })()`
  )
}
