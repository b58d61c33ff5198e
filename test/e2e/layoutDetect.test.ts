/** The detective of the Layouts view against the command line. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { go, seriousFaults } from './support/actions'
import { describeInBrowser, launchBrowser, openPage, themes } from './support/browser'
import { program, startServerProcess, type StartedServer } from './support/server'

const [rows, columns] = [160, 12]

describeInBrowser('Which layout is it?', () => {
  let browser: Browser
  let server: StartedServer
  let folder: string
  const file = (name: string) => join(folder, name)
  const hex = (name: string) => readFileSync(file(name)).toString('hex')
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await launchBrowser()
    folder = mkdtempSync(join(tmpdir(), 'blockscope-detect-'))
    const scales = Uint8Array.from({ length: rows * columns }, (_, i) => 110 + ((i * 7919) % 31))
    writeFileSync(file('linear'), scales)
    for (const layout of ['nvidia_32_4_4', 'cdna4_mfma32']) {
      execFileSync(process.execPath, [
        ...[program, 'layout', 'pack', '--layout', layout, '--linear', file('linear')],
        ...['--rows', String(rows), '--cols', String(columns), '--out', file(layout)]
      ])
    }
    const transposed = Uint8Array.from(
      scales,
      (_, i) => scales[(i % rows) * columns + Math.floor(i / rows)]!
    )
    writeFileSync(file('transposed'), transposed)
    writeFileSync(
      file('noise'),
      scales.map((scale, i) => scale ^ (i % 5))
    )
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function openView(look = {}): Promise<Awaited<ReturnType<typeof openPage>>> {
    const opened = await openPage(browser, server.url, look)
    await go(opened.page, 'layouts?layout=linear')
    await opened.page.getByLabel('Rows', { exact: true }).fill(String(rows))
    await opened.page.getByLabel('K', { exact: true }).fill(String(columns * 16))
    return opened
  }
  const said = (page: Page) => page.locator('[data-test=detection]')

  it.each(['nvidia_32_4_4', 'cdna4_mfma32', 'transposed', 'noise'])(
    'says of %s what the command line says',
    async (name) => {
      const { stdout } = spawnSync(
        process.execPath,
        [
          ...[program, 'layout', 'detect', '--packed', file(name), '--linear', file('linear')],
          ...['--rows', String(rows), '--cols', String(columns)]
        ],
        { encoding: 'utf8' }
      )
      const { page, context, errors } = await openView()
      await page.getByLabel('Packed scales', { exact: true }).fill(hex(name))
      const chooser = page.waitForEvent('filechooser')
      await page.getByRole('button', { name: 'Open file: Linear scales' }).click()
      await (await chooser).setFiles(file('linear'))
      await expect.poll(() => said(page).textContent()).toContain(stdout.split('\n')[0])
      for (const line of stdout.trim().split('\n')) {
        expect(await said(page).textContent()).toContain(line)
      }
      const show = page.getByRole('button', { name: 'Show the first difference' })
      expect(await show.count()).toBe(stdout.includes('First difference') ? 1 : 0)
      if (await show.count()) {
        await show.click()
        const [, row, column] = /scale of row (\d+), column (\d+)/.exec(stdout)!
        expect(page.url()).toContain(`row=${row}`)
        expect(page.url()).toMatch(new RegExp(`col(umn)?=${column}`))
      }
      expect(errors).toEqual([])
      await context.close()
    }
  )

  it('answers bad input in place', async () => {
    const { page, context } = await openView()
    await page.getByLabel('Packed scales', { exact: true }).fill('7f 8')
    await page.getByText('3 hex digits do not make whole bytes').waitFor()
    await page.getByLabel('Packed scales', { exact: true }).fill(hex('nvidia_32_4_4'))
    await page.getByLabel('Linear scales', { exact: true }).fill('7f 80')
    await page.getByText(/The linear scales have 2 bytes; 160 x 12 needs 1920/).waitFor()
    await context.close()
  })

  it('has no serious accessibility problem with a verdict', async () => {
    for (const theme of themes) {
      const { page, context } = await openView({ theme })
      await page.getByLabel('Packed scales', { exact: true }).fill(hex('noise'))
      await page.getByLabel('Linear scales', { exact: true }).fill(hex('linear'))
      await said(page).getByText('No known layout.').waitFor()
      expect(await seriousFaults(page)).toEqual([])
      await page.locator('#detect').scrollIntoViewIfNeeded()
      await page.screenshot({ path: `test/e2e/output/detect-${theme}.png` })
      await context.close()
    }
  })
})
