/** The detective of the Layouts view against the command line. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseSafetensorsHeader } from '@shared/formats/safetensors'
import { packScales } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import { go, seriousFaults, seriousFaultsInBothLooks } from './support/actions'
import { writeCheckpoint } from '../support/writeCheckpoint'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'
import { program, startServerProcess, type StartedServer } from './support/server'

const [rows, columns] = [160, 12]
const times32 = (parts: readonly Buffer[]) => Array.from({ length: 32 }, () => parts).flat()

describeInBrowser('Which layout is it?', () => {
  let browser: Browser
  let server: StartedServer
  let folder: string
  const file = (name: string) => join(folder, name)
  const hex = (name: string) => readFileSync(file(name)).toString('hex')
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await workerBrowser()
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
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function openView(look = {}): Promise<Awaited<ReturnType<typeof openPage>>> {
    const opened = await openPage(browser, server.url, look)
    await go(opened.page, 'layouts?tab=detect&layout=linear')
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
      const { page, close, errors } = await openView()
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
        await expect.poll(() => page.url()).toContain(`row=${row}`)
        await expect.poll(() => page.url()).toMatch(new RegExp(`col(umn)?=${column}`))
      }
      expect(errors).toEqual([])
      await close()
    }
  )

  const golden = 'test/fixtures/golden/gemm_nvfp4_128x256x512.safetensors'

  async function openProduct(page: Page, packed: string, operands: string): Promise<void> {
    await page.getByText('By a product', { exact: true }).click()
    for (const [button, path] of [
      ['Open file: Packed scales', packed],
      ['Open .safetensors', operands]
    ] as const) {
      const chooser = page.waitForEvent('filechooser')
      await page
        .getByRole('region', { name: 'Which layout is it?' })
        .getByRole('button', { name: button })
        .click()
      await (await chooser).setFiles(path)
    }
  }

  it.each(['cdna4_mfma16', 'nvidia_32_4_4'])(
    'judges %s by a product as the command line does',
    async (name) => {
      const bytes = readFileSync(golden)
      const { start, end } = parseSafetensorsHeader(bytes, bytes.length, golden).tensors.get(
        'b_scales'
      )!
      const packed = packScales(
        findLayout(name),
        { rows: 256, columns: 32 },
        bytes.subarray(start, end)
      )
      if (name === 'nvidia_32_4_4') packed[1000]! ^= 8
      writeFileSync(file('packed'), packed)
      const { stdout } = spawnSync(
        process.execPath,
        [
          ...[program, 'layout', 'detect', '--packed', file('packed')],
          ...['--side', 'b', '--operands', golden]
        ],
        { encoding: 'utf8' }
      )
      const { page, close, errors } = await openView()
      await openProduct(page, file('packed'), golden)
      for (const line of stdout.trim().split('\n')) {
        await expect.poll(() => said(page).textContent()).toContain(line)
      }
      await page.getByText('Scales of A', { exact: true }).click()
      await said(page)
        .getByText(/It takes \d+ bytes; there are \d+\./)
        .waitFor()
      expect(errors).toEqual([])
      await close()
    }
  )

  /** The golden product with the rows of B 32 times: seconds of detection on any machine. */
  function large(): string {
    const bytes = readFileSync(golden)
    const { tensors, metadata } = parseSafetensorsHeader(bytes, bytes.length, golden)
    const repeated = [...tensors].map(([name, { dtype, shape, start, end }]) => {
      const [outer, inner] = shape as [number, number]
      const rows = Array.from({ length: outer }, (_, row) => {
        const length = (end - start) / outer
        return bytes.subarray(start + row * length, start + (row + 1) * length)
      })
      if (name.startsWith('b_'))
        return { name, dtype, shape: [32 * outer, inner], bytes: Buffer.concat(times32(rows)) }
      if (name !== 'c_f64') return { name, dtype, shape, bytes: Buffer.concat(rows) }
      const wide = rows.map((row) => Buffer.concat(times32([row])))
      return { name, dtype, shape: [outer, 32 * inner], bytes: Buffer.concat(wide) }
    })
    writeCheckpoint(file('large.safetensors'), repeated, metadata)
    return file('large.safetensors')
  }

  it('says why a product cannot be read, and stops when it is told to', async () => {
    const { page, close, errors } = await openView()
    await openProduct(page, file('linear'), file('noise'))
    await said(page).getByText(/noise/).waitFor()
    expect(await seriousFaults(page)).toEqual([])
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Open .safetensors' }).first().click()
    await (await chooser).setFiles(large())
    await page.getByRole('progressbar', { name: 'Progress of the detection' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('progressbar', { name: 'Progress of the detection' }).waitFor({
      state: 'detached'
    })
    expect(await said(page).textContent()).toBe('')
    expect(errors).toEqual([])
    await close()
  })

  it('answers bad input in place', async () => {
    const { page, close } = await openView()
    await page.getByLabel('Packed scales', { exact: true }).fill('7f 8')
    await page.getByText('3 hex digits do not make whole bytes').waitFor()
    await page.getByLabel('Packed scales', { exact: true }).fill(hex('nvidia_32_4_4'))
    await page.getByLabel('Linear scales', { exact: true }).fill('7f 80')
    await page.getByText(/The linear scales have 2 bytes; 160 x 12 needs 1920/).waitFor()
    await close()
  })

  it('has no serious accessibility problem with a verdict', async () => {
    const { page, close } = await openView()
    await page.getByLabel('Packed scales', { exact: true }).fill(hex('noise'))
    await page.getByLabel('Linear scales', { exact: true }).fill(hex('linear'))
    await said(page).getByText('No known layout.').waitFor()
    expect(await seriousFaultsInBothLooks(page)).toEqual([])
    await close()
  })
})
