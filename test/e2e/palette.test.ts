/** The palette finds every view's actions from any view, and runs by device, shape and options. */
import { execFileSync } from 'node:child_process'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { farActions } from '../../src-renderer/frame/farActionList'
import { patience } from '../support/patience'
import { go } from './support/actions'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'
import { program, startServerProcess, type StartedServer } from './support/server'

describeInBrowser('The palette', () => {
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await workerBrowser()
    const sweep = (k: string, ...more: string[]) =>
      execFileSync(
        process.execPath,
        [
          ...[program, 'sweep', '--device', 'cpu', '--formats', 'mxfp4', '-M', '64', '-N', '64'],
          ...['-K', k, '--reps', '5', '--store', server.storeFolder, ...more]
        ],
        { stdio: 'ignore' }
      )
    sweep('64,128')
    sweep('64', '--out', 'bf16')
  })
  afterAll(async () => {
    await server?.stop()
  })

  async function search(page: Page, words: string): Promise<void> {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search commands and runs' }).fill(words)
  }
  const options = (page: Page) => page.getByRole('listbox').getByRole('option')

  /** What is there once each action was run. */
  const effects: Record<string, (page: Page, choose: () => Promise<void>) => Promise<unknown>> = {
    'validate.all': async (page, choose) => {
      await choose()
      await expect.poll(() => page.url()).toMatch(/validate\?run=/)
    },
    'validate.options': async (page, choose) => {
      await choose()
      await page.getByLabel('Absolute tolerance').waitFor()
    },
    'sweep.new': async (page, choose) => {
      await choose()
      await page.getByRole('button', { name: 'Start sweep' }).waitFor()
    },
    'profile.open': choosesFile,
    'timeline.open': choosesFile,
    'capture.open': choosesFile,
    'capture.new': async (page, choose) => {
      await choose()
      await page.getByRole('button', { name: 'Start capture' }).waitFor()
    },
    'runs.search': async (page, choose) => {
      await choose()
      await page.locator('input[type=search]:focus').waitFor()
    },
    'runs.import': choosesFile,
    'runs.importFolder': choosesFile
  }
  /** On a busy machine a browser may have forgotten, when the view is there, that a person asked: it is asked again. */
  async function choosesFile(page: Page, choose: () => Promise<void>): Promise<void> {
    for (let left = 3; ; left--) {
      const chooser = page.waitForEvent('filechooser', {
        timeout: left > 1 ? patience / 12 : undefined
      })
      const opened = chooser.then(() => true).catch((error: unknown) => error)
      await choose()
      const found = await opened
      if (found === true) return
      if (left === 1) throw found
    }
  }

  it('runs what the other views offer', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    // So that the validation it starts is a short one.
    await go(page, 'validate')
    await page.getByRole('button', { name: /^Options/ }).click()
    for (const axis of ['M', 'N', 'K']) await page.getByLabel(axis, { exact: true }).fill('64')
    // A browser forgets within seconds that it was asked to choose a file: the views are loaded before.
    for (const view of ['sweep', 'profile', 'timeline', 'runs', 'capture']) {
      await go(page, view)
      await page.locator('main :is(.view, .fill-view)').waitFor()
    }
    expect(farActions.map(({ id }) => id).sort()).toEqual(Object.keys(effects).sort())
    for (const { id, title } of farActions) {
      await go(page, 'devices')
      await page.getByText('CUDA driver').first().waitFor()
      await effects[id]!(page, async () => {
        await search(page, title)
        await options(page).filter({ hasText: title }).first().click()
      })
    }
    expect(errors).toEqual([])
    await close()
  })

  it('finds runs by device, shape and options', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await page.getByText('Recent runs').waitFor()
    await search(page, 'sweep bf16 out')
    await expect.poll(() => options(page).filter({ hasText: 'Sweep mxfp4' }).count()).toBe(1)
    await page.getByRole('option', { name: /Sweep mxfp4, M = N = K = 64, bf16 out/ }).waitFor()
    await page.getByRole('combobox', { name: 'Search commands and runs' }).fill('mxfp4 64–128')
    await page.getByRole('option', { name: /Sweep mxfp4, M = N = 64, K 64–128/ }).click()
    await page.getByRole('heading', { name: 'Sweep mxfp4, M = N = 64, K 64–128' }).waitFor()
    expect(errors).toEqual([])
    await close()
  })
})
