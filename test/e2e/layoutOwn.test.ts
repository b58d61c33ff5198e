/** A layout that a person describes in the Layouts view, against the command line. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { go, seriousFaultsInBothLooks } from './support/actions'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'
import { program, startServerProcess, type StartedServer } from './support/server'

const mine = {
  name: 'mine',
  rows: 'rowTile:0 row:16',
  columns: 'columnTile:0 half:2 column:4',
  order: 'columnTile rowTile half row column',
  views: { '3D': 'columnTile rowTile, half row, column' }
}

describeInBrowser('A layout of your own', () => {
  let browser: Browser
  let server: StartedServer
  let folder: string
  const file = (name: string) => join(folder, name)
  const cli = (...args: string[]) =>
    execFileSync(process.execPath, [program, 'layout', ...args], { encoding: 'utf8' })
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await workerBrowser()
    folder = mkdtempSync(join(tmpdir(), 'blockscope-own-'))
    writeFileSync(file('mine.json'), JSON.stringify(mine))
    writeFileSync(file('broken.json'), JSON.stringify({ ...mine, order: 'rowTile row' }))
    writeFileSync(file('long.json'), JSON.stringify({ ...mine, title: 'x'.repeat(5000) }))
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function open(page: Page, name: string): Promise<void> {
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Open file: layout' }).click()
    await (await chooser).setFiles(file(name))
  }
  const note = (page: Page) => page.locator('[data-test=own-note]')
  const description = (page: Page) => page.getByLabel('Description as JSON')

  it('is drawn, located and written as code like on the command line, also after a reload', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await go(page, 'layouts?tab=compare&format=nvfp4&rows=100&cols=20&row=77&col=13')
    await open(page, 'mine.json')
    await note(page).getByText('mine is a layout').waitFor()
    const command = ['--layout-file', file('mine.json'), '--rows', '100', '--cols', '20']
    const { offset } = JSON.parse(
      cli('locate', ...command, '--row', '77', '--col', '13', '--json')
    ) as { offset: number }
    const code = cli('code', '--layout-file', file('mine.json'))
    for (const again of [false, true]) {
      if (again) await page.reload()
      await page.getByRole('heading', { name: 'mine', exact: true }).waitFor()
      expect(await page.getByLabel('Layout', { exact: true }).inputValue()).toBe('mine')
      expect(await page.getByLabel('Byte offset', { exact: true }).inputValue()).toBe(
        String(offset)
      )
      expect(await page.getByLabel('Code of the index function').textContent()).toBe(code)
      expect(JSON.parse(await description(page).inputValue())).toEqual(mine)
    }
    await page.getByRole('tab', { name: 'Scales' }).click()
    await page.getByText('blockscope layout locate --layout-file mine.json').waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('starts from a known layout, whose bytes it then shares', async () => {
    const { page, close } = await openPage(browser, server.url)
    await go(page, 'layouts?tab=compare&layout=cdna4_mfma32&against=cdna4_mfma32')
    await page.getByRole('button', { name: 'Start from cdna4_mfma32' }).press('Enter')
    await page.getByRole('heading', { name: 'my_cdna4_mfma32', exact: true }).waitFor()
    const check = page.locator('[data-test=check]')
    await check.getByText('The same: all 4,096 bytes hold the same scales.').waitFor()
    const typed = await description(page).inputValue()
    await description(page).fill(typed.replace('half row pair"', 'row half pair"'))
    await check.getByText('bytes differ').waitFor()
    await close()
  })

  it('says in place why a description cannot be used, and keeps what it shows', async () => {
    const { page, close } = await openPage(browser, server.url)
    await go(page, 'layouts?tab=compare&layout=linear')
    await open(page, 'broken.json')
    await note(page)
      .getByText('broken.json is no usable layout: order must name "columnTile" exactly once.')
      .waitFor()
    await open(page, 'long.json')
    await note(page).getByText('long.json is longer than 4000 characters').waitFor()
    await description(page).fill('{')
    await note(page).getByText('This text is no usable layout: it is not JSON.').waitFor()
    await description(page).fill(JSON.stringify({ ...mine, name: 'cublas_128x4' }))
    await note(page).getByText('"cublas_128x4" is the name of a known layout').waitFor()
    expect(await page.getByLabel('Layout', { exact: true }).inputValue()).toBe('linear')
    await close()
  })

  it('has no serious accessibility problem, with a problem shown', async () => {
    const { page, close } = await openPage(browser, server.url)
    await go(page, 'layouts?tab=compare')
    await description(page).fill('{')
    await note(page).getByText('it is not JSON').waitFor()
    expect(await seriousFaultsInBothLooks(page)).toEqual([])
    await close()
  })
})
