/** axe, light and dark, on what the views' own tests have no axe on: a passed cell, a profile's node, dialogs and menus. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { drop, go, seriousFaultsInBothLooks } from './support/actions'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'
import { program, startServerProcess, type StartedServer } from './support/server'

describeInBrowser('accessibility', () => {
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await workerBrowser()
    const shape = ['--device', 'cpu', '-M', '64', '-N', '64', '--store', server.storeFolder]
    const run = (...words: string[]) =>
      execFileSync(process.execPath, [program, ...words, ...shape], { stdio: 'ignore' })
    run('validate', '-K', '128')
  })
  afterAll(async () => {
    await server?.stop()
  })
  const runOf = (kind: string) =>
    readdirSync(server.storeFolder).find((name) => name.includes(`-${kind}-`))!

  const contents: [string, (page: Page) => Promise<unknown>][] = [
    [
      'validate',
      async (page) => {
        await go(page, `validate?run=${runOf('validate')}`)
        await page.locator('[role=gridcell] button, td button').first().click()
      }
    ],
    [
      'profile',
      async (page) => {
        const path = 'test/fixtures/h200/triton_mxfp8_h200.hatchet'
        await drop(page, 'triton.hatchet', readFileSync(path))
        await page.locator('[role=row][data-index="2"]').click()
      }
    ]
  ]

  it.each(contents)('%s has no serious fault with content, light and dark', async (view, fill) => {
    const { page, close, errors } = await openPage(browser, server.url)
    await go(page, view)
    await page.getByRole('main').waitFor()
    await fill(page)
    expect(await seriousFaultsInBothLooks(page)).toEqual([])
    expect(errors).toEqual([])
    await close()
  })

  it('dialogs and menus have none, light and dark', async () => {
    const { page, close } = await openPage(browser, server.url)
    for (const [keys, dialog] of [
      ['Control+k', 'Command palette'],
      ['?', 'Keyboard shortcuts']
    ] as const) {
      await page.getByRole('main').waitFor()
      await page.keyboard.press(keys)
      await page.getByRole('dialog', { name: dialog }).waitFor()
      expect(await seriousFaultsInBothLooks(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await close()
  })
})
