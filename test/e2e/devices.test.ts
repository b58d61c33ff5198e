/** Devices in a real browser: on a machine with the CPU alone, and with GPUs that a stub of the driver reports. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { isEmulation, type Detection } from '@shared/contract/devices'
import { blockFormats } from '@shared/formats/blockFormat'
import { runBlockscope } from '../support/runBlockscope'
import { buildNewCards, newCards } from '../unit/native/newCards'
import { buildStubDriver } from '../unit/native/stubDriver'
import { seriousFaultsInBothLooks } from './support/actions'
import { describeInBrowser, workerBrowser, openPage, type OpenedPage } from './support/browser'
import { startServerProcess, type StartedServer } from './support/server'

describeInBrowser('Devices', () => {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-devices-'))
  const drivers = join(folder, 'drivers')
  let browser: Browser
  /** Without and with GPUs. */
  let plain: StartedServer
  let gpus: StartedServer
  /** An RTX 5090 and an MI355X. */
  let cards: StartedServer
  const pages: OpenedPage[] = []

  beforeAll(async () => {
    const ofCards = join(folder, 'cards')
    mkdirSync(drivers)
    mkdirSync(ofCards)
    buildStubDriver(drivers)
    buildNewCards(ofCards)
    const environment = { LD_LIBRARY_PATH: drivers }
    plain = await startServerProcess({ environment: { ...environment, STUB_INIT: '100' } })
    gpus = await startServerProcess({
      environment: { ...environment, STUB_GPUS: '80,90', STUB_BROKEN: '1' }
    })
    cards = await startServerProcess({ environment: newCards(ofCards) })
    browser = await workerBrowser()
  })
  afterAll(async () => {
    await plain?.stop()
    await gpus?.stop()
    await cards?.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  afterEach(async () => {
    for (const { close, policyViolations, errors } of pages.splice(0)) {
      await close()
      expect(policyViolations).toEqual([])
      expect(errors).toEqual([])
    }
  })

  const show = async (page: Page) => {
    await page.evaluate(`location.hash = '#/devices'`)
    await matrix(page).waitFor()
  }
  async function open(
    server: StartedServer,
    options: Parameters<typeof openPage>[2] = {}
  ): Promise<Page> {
    const opened = await openPage(browser, server.url, options)
    pages.push(opened)
    await opened.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await show(opened.page)
    return opened.page
  }
  const matrix = (page: Page) => page.getByRole('grid', { name: /^Capability/ })
  async function copied(page: Page, what: string): Promise<string[][]> {
    await page.evaluate(`navigator.clipboard.writeText('')`)
    await page.getByRole('button', { name: `Copy: ${what}`, exact: true }).click()
    const read = () => page.evaluate<string>('navigator.clipboard.readText()')
    await expect.poll(read).not.toBe('')
    return (await read()).split('\n').map((line) => line.split('\t'))
  }

  it('a machine with the CPU alone: says why there is no GPU, and what the CPU computes', async () => {
    const page = await open(plain)
    await page.getByText(/^No GPU: .*finds no GPU.*Jobs run on the CPU\.$/).waitFor()
    const cells = matrix(page).getByRole('gridcell')
    // Which kernels this CPU has the instructions for, the command line says as well.
    const { stdout } = await runBlockscope(['devices', '--json'])
    const { devices } = JSON.parse(stdout) as Detection
    const capabilities = devices
      .find(({ id }) => id === 'cpu')!
      .kernels.filter((kernel) => !isEmulation(kernel))
      .flatMap((kernel) => kernel.capabilities)
      // The table has the formats with a short name; other pairs of elements are named in the operation's own table.
      .filter(({ format }) => blockFormats.some(({ id }) => id === format))
    const exact = capabilities.filter(({ level }) => level === 'exact').length
    expect(exact).toBeGreaterThanOrEqual(9)
    expect(await cells.count()).toBe(capabilities.length)
    expect(await cells.filter({ hasText: 'Exact' }).count()).toBe(exact)
    await cells.first().getByRole('button').click()
    await page.getByText('Reads scales as').waitFor()
  })

  it('libraries: where each is, or what to install', async () => {
    const page = await open(plain)
    const rows = page.getByRole('region', { name: 'Libraries' }).getByRole('row')
    const missing = rows.filter({ hasText: 'Missing' })
    for (const name of ['NVRTC', 'cuBLASLt']) {
      await missing
        .filter({ hasText: name })
        .getByText(/^Install the CUDA toolkit/)
        .waitFor()
    }
  })

  it('every table is copied with its heading and all its lines', async () => {
    const page = await open(plain)
    const capabilities = await copied(page, 'Capabilities')
    expect(capabilities[0]).toEqual(['kernel', 'format', 'level', 'reason'])
    expect(capabilities).toHaveLength(1 + (await matrix(page).getByRole('gridcell').count()))
    const libraries = await copied(page, 'Libraries')
    expect(libraries.map(([name]) => name)).toContain('NVRTC')
    expect(libraries.find(([name]) => name === 'NVRTC')!.join(' ')).toMatch(/missing.*Install/)
    expect((await copied(page, 'Targets')).length).toBeGreaterThan(3)
    const facts = await copied(page, 'Device')
    expect(facts[0]).toEqual(['fact', 'value', 'unit'])
    expect(facts.find(([fact]) => fact === 'Memory')![2]).toBe('GiB')
  })

  it('Detect again opens drivers and libraries anew', async () => {
    const page = await open(plain)
    const detect = page.getByRole('button', { name: /^Detect/ })
    await detect.click()
    await expect.poll(() => detect.isEnabled()).toBe(true)
    await page.getByText(/^No GPU: /).waitFor()
    expect(await matrix(page).isVisible()).toBe(true)
  })

  it('a GPU: cells say why a kernel is not available; a GPU that does not answer says so', async () => {
    const page = await open(gpus)
    const chips = page.getByRole('list', { name: 'Devices' }).getByRole('button')
    expect(await chips.count()).toBe(3)
    await chips.filter({ hasText: 'cuda:0' }).click()
    await matrix(page)
      .getByRole('button', { name: /^wgmma, nvfp4:/ })
      .focus()
    await page.keyboard.press('Enter')
    await page
      .getByText(/^Not available because: Written for sm_90a; this device is sm_80/)
      .waitFor()
    expect(await page.getByText(/^No GPU/).count()).toBe(0)

    await chips.filter({ hasText: 'cuda:1' }).click()
    await page.getByText(/GPU 1 cannot be read: CUDA error 214/).waitFor()
  })

  it.each([
    ['cuda:0', 'NVIDIA GeForce RTX 5090', 'mma-block-scale', /block_scale/],
    ['hip:0', 'AMD Instinct MI355X', 'mfma-scale-16', /v_mfma_scale/]
  ])('%s, an %s: its own instruction is native, and what proves it is told', async (...card) => {
    const [id, name, kernel, instruction] = card
    const page = await open(cards)
    const chips = page.getByRole('list', { name: 'Devices' }).getByRole('button')
    await chips.filter({ hasText: id }).click()
    expect(await page.getByText(name).count()).toBeGreaterThan(0)
    const cell = (format: string) =>
      matrix(page).getByRole('gridcell', { name: new RegExp(`^${kernel}, ${format}: Native`) })
    for (const format of ['mxfp4', 'mxfp8', 'mixed']) await cell(format).waitFor()
    // Emulations of other parts stand there when they are asked for alone.
    const emulated = matrix(page).getByText('mma-block-scale-emulated')
    expect(await emulated.count()).toBe(0)
    const targets = page.getByRole('region', { name: 'Targets' }).getByRole('row')
    const proof = targets.filter({ hasText: instruction })
    await proof.getByText('Emulated').first().waitFor()
  })

  it('has no serious accessibility problem, light and dark', async () => {
    for (const server of [plain, gpus, cards]) {
      const page = await open(server)
      await matrix(page).getByRole('gridcell').first().getByRole('button').click()
      await page.getByText('Reads scales as').waitFor()
      expect(await seriousFaultsInBothLooks(page)).toEqual([])
    }
  })
})
