/**
 * docs/screenshots of captures, UPDATE_SCREENSHOTS=1: what is recorded is the piece of an H200's capture in test/fixtures,
 * what runs is the stand-ins' program.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { buildCaptureStubs } from '../support/build'
import { stubCupti, stubProgram } from '../support/captureStubs'
import { go } from './support/actions'
import {
  describeInBrowser,
  isPhotographed,
  itIsPhotographed,
  openPage,
  photographs,
  takeScreenshot,
  workerBrowser
} from './support/browser'
import { startServerProcess } from './support/server'

describeInBrowser('docs/screenshots of captures', () => {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-e2e-captures-'))
  let browser: Browser
  beforeAll(async () => {
    if (!isPhotographed) return
    await buildCaptureStubs()
    symlinkSync(stubProgram, join(folder, 'program'))
    for (const name of ['counters', 'python']) {
      const capture = join(folder, `pytorch-${name}`)
      mkdirSync(capture)
      const record = { formatVersion: 1, kind: 'capture', command: ['python3', 'work.py'] }
      writeFileSync(join(capture, 'capture.json'), JSON.stringify(record, null, 2))
      copyFileSync(`test/fixtures/captures/h200-${name}.shard`, join(capture, '6820-1.shard'))
    }
    browser = await workerBrowser()
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const recordOf = (name: string) => join(folder, `pytorch-${name}`, 'capture.json')
  const kernels = (page: Page) => page.getByRole('grid', { name: 'Kernels' })

  const scrollTo = (page: Page, left: number) =>
    kernels(page)
      .locator('..')
      .evaluate((box, to) => (box.scrollLeft = to), left)

  async function withCounters(page: Page): Promise<void> {
    await kernels(page).locator('[data-index="0"]').click()
    const product = page.getByRole('region', { name: 'Product' })
    for (const [name, value] of [
      ['M', '2048'],
      ['N', '4096'],
      ['K', '4096']
    ] as const)
      await product.getByLabel(name, { exact: true }).fill(value)
    await product.getByText(/of the roof\. It is/).waitFor()
  }

  /** Runs until its picture was taken. */
  async function live(page: Page, picture: string): Promise<void> {
    await page.getByRole('button', { name: 'New' }).click()
    const form = page.getByRole('form', { name: 'New capture' })
    const words = ['push:step', 'launch:gemm:2400:80', 'launch:relu:2400:30', 'pop', 'sync']
    const command = ['./program', ...words, 'print:done', `until:${picture}`].join(' ')
    await form.getByLabel('Folder to start in').fill(folder)
    await form.getByLabel('Command', { exact: true }).fill(command)
    await form.getByRole('button', { name: 'Start capture' }).click()
    const panel = page.getByRole('region', { name: 'Running capture' })
    await panel.getByLabel('Output of the program').getByText('done').waitFor()
    await expect.poll(() => panel.locator('dd').nth(2).textContent()).toBe('4,800')
    await takeScreenshot(page, picture)
    writeFileSync(join(folder, picture), '')
    await panel.waitFor({ state: 'detached' })
  }

  itIsPhotographed.each(photographs)(
    '$theme, $width pixels wide',
    async ({ theme, width, height }) => {
      const photograph = async (page: Page, name: string) => {
        await page.waitForTimeout(900)
        await takeScreenshot(page, `${name}-${theme}-${width}`)
      }
      const recorded = async (page: Page) => {
        await kernels(page).locator('[data-index="2"]').waitFor()
        await withCounters(page)
        await photograph(page, 'capture')
        await scrollTo(page, 1090)
        await photograph(page, 'capture-counters')
        await scrollTo(page, 0)
        await live(page, `capture-live-${theme}-${width}`)
      }
      const inTime = async (page: Page) => {
        await kernels(page).locator('[data-index="2"]').waitFor()
        await go(page, 'profile')
        await page.locator('[role=row]', { hasText: 'nvjet' }).first().click()
        await photograph(page, 'capture-profile')
        await go(page, 'timeline')
        await page.getByText('Whole trace, sums by kernel').waitFor()
        await photograph(page, 'capture-timeline')
      }
      const form = async (page: Page) => {
        await page.getByLabel('Command', { exact: true }).fill('python train.py --steps 100')
        await page.getByText('Options', { exact: true }).click()
        await page.getByLabel('Begin after').waitFor()
        await photograph(page, 'capture-form')
      }
      const shows: [string[], (page: Page) => Promise<void>][] = [
        [[], form],
        [[recordOf('counters')], recorded],
        [[recordOf('python')], inTime]
      ]
      for (const [files, show] of shows) {
        // What a server was given is handed to one page alone.
        const server = await startServerProcess({
          flags: ['--allow-capture', ...files],
          environment: { BLOCKSCOPE_CUDA_PATH: stubCupti }
        })
        try {
          const { page, close, errors } = await openPage(browser, `${server.url}&/capture`, {
            theme
          })
          await page.setViewportSize({ width, height })
          await show(page)
          expect(errors).toEqual([])
          await close()
        } finally {
          await server.stop()
        }
      }
    }
  )
})
