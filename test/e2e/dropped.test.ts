/** A file dropped on any view goes to the view that reads it. */
import { readFileSync, readdirSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { samplePerfetto } from '../support/foreignProfiles'
import { drop, dropFiles, go } from './support/actions'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'
import { program, startServerProcess, type StartedServer } from './support/server'

const fixture = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url)))

describeInBrowser('A file dropped on the Devices view', () => {
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await workerBrowser()
  })
  afterAll(async () => {
    await server?.stop()
  })

  async function dropOnDevices(name: string, bytes: Buffer) {
    const opened = await openPage(browser, server.url)
    await go(opened.page, 'devices')
    await opened.page.getByText('CUDA driver').first().waitFor()
    await drop(opened.page, name, bytes)
    return opened
  }

  it('a checkpoint: its tensors can be chosen in Formats, or it says why there are none', async () => {
    const name = 'gemm_mxfp4_128x128x128.safetensors'
    const good = await dropOnDevices(name, fixture(`golden/${name}`))
    await good.page.getByRole('button', { name: 'Open a checkpoint' }).waitFor()
    await expect.poll(() => good.page.url()).toContain('#/formats')
    await good.page.getByRole('combobox', { name: 'Tensor' }).waitFor()
    expect(good.errors).toEqual([])
    await good.close()

    const broken = await dropOnDevices('broken.safetensors', Buffer.from('no header'))
    await broken.page
      .locator('.field-problem')
      .getByText(/broken\.safetensors/)
      .waitFor()
    await broken.close()
  })

  it('a file of Python kernels: a page over a server takes none, and says who does', async () => {
    const { page, close, errors } = await dropOnDevices('mine.py', Buffer.from('x = 1'))
    await page.getByText('mine.py was not added.').waitFor()
    await page.getByText(/is a program: the desktop app of this machine takes one/).waitFor()
    await expect.poll(() => page.url()).toContain('#/validate')
    expect(errors).toEqual([])
    await close()
  })

  it('a layout: it is shown in Layouts', async () => {
    const mine = { name: 'mine', rows: 'rowTile:0 row:16', columns: 'columnTile:0 column:8' }
    const json = JSON.stringify({ ...mine, order: 'columnTile rowTile row column' })
    const { page, close, errors } = await dropOnDevices('mine.json', Buffer.from(json))
    await page.locator('[data-test=own-note]').getByText('mine is a layout').waitFor()
    await expect.poll(() => page.url()).toContain('#/layouts')
    expect(errors).toEqual([])
    await close()
  })

  it('a run: it is imported and opened in Runs', async () => {
    const shape = ['--formats', 'mxfp4', '-M', '64', '-N', '64', '-K', '64']
    const store = ['--store', server.storeFolder]
    execFileSync(process.execPath, [program, 'validate', ...shape, ...store])
    const [folder] = readdirSync(server.storeFolder).filter((name) => /^2/.test(name))
    const run = readFileSync(join(server.storeFolder, folder!, 'run.json'))
    const { page, close } = await dropOnDevices('run.json', run)
    await page.getByText('2 runs').waitFor()
    await expect.poll(() => page.url()).toMatch(/#\/runs\?run=/)
    await close()
  })

  it('a zipped trace of another tool: Profile shows its slices, or says what it was read as', async () => {
    const trace = gzipSync(samplePerfetto())
    const good = await dropOnDevices('trace.pftrace.gz', trace)
    await good.page.locator('[role=row]', { hasText: 'gemm' }).waitFor()
    await expect.poll(() => good.page.url()).toContain('#/profile')
    expect(good.errors).toEqual([])
    await good.close()

    const cut = await dropOnDevices('cut.pftrace', Buffer.from(samplePerfetto().slice(0, -3)))
    await cut.page
      .getByRole('alert')
      .getByText(/cut\.pftrace: byte \d+.*It was read as a Perfetto trace/)
      .first()
      .waitFor()
    await cut.close()
  })

  it('a file that nothing reads: Profile says what it can read', async () => {
    const { page, close } = await dropOnDevices('notes.txt', Buffer.from('a shopping list'))
    await page
      .getByRole('alert')
      .getByText(/notes\.txt/)
      .first()
      .waitFor()
    await expect.poll(() => page.url()).toContain('#/profile')
    await close()
  })

  it('operands and a C together: Validate judges it, and names the mistake', async () => {
    const opened = await openPage(browser, server.url)
    const { page, close, errors } = opened
    await go(page, 'devices')
    await page.getByText('CUDA driver').first().waitFor()
    const files = ['operands.safetensors', 'c_transposed.npy']
    await dropFiles(
      page,
      files.map((name) => ({ name, bytes: fixture(`judge/${name}`), modified: 0 }))
    )
    await page.getByText('C is what these operands give when B is read as its transpose').waitFor()
    await expect.poll(() => page.url()).toContain('#/validate')
    await page.getByText('scales in "b_scales" (U8, 128 x 32) are linear').waitFor()
    expect(errors).toEqual([])
    await close()
  })
})
