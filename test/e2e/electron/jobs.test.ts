/** Jobs in the desktop app: through the addon in the utility process, over crashes of page and engine, and at the end. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as v from 'valibot'
import { runSchema, type Run } from '@shared/contract/run'
import { outcomeOf } from '@shared/measurement/outcome'
import { go, startLongSweep } from '../support/actions'
import { Desktop, describeInElectron, type StartedApp } from './app'
import { shownDialogs, stubDialogs } from './system'

describeInElectron('jobs in the desktop app', () => {
  const desktop = new Desktop()
  let app: StartedApp
  beforeAll(async () => {
    await desktop.begin()
    app = await desktop.start()
  })
  afterAll(() => desktop.end())

  const runs = (): Run[] =>
    readdirSync(desktop.store)
      .filter((name) => name.startsWith('2'))
      .sort()
      .map((name) =>
        v.parse(runSchema, JSON.parse(readFileSync(join(desktop.store, name, 'run.json'), 'utf8')))
      )
  const cells = (page: Page) =>
    page.getByRole('grid', { name: /^Validation/ }).getByRole('gridcell')
  const enginePid = () =>
    app.electron.evaluate(
      ({ app: main }) => main.getAppMetrics().find(({ name }) => name === 'blockscope engine')?.pid
    )

  async function validate(page: Page, extent: number): Promise<void> {
    await go(page, 'validate')
    const options = page.getByRole('button', { name: /^Options/ })
    if ((await options.getAttribute('aria-expanded')) === 'false') await options.click()
    for (const axis of ['M', 'N', 'K'])
      await page.getByLabel(axis, { exact: true }).fill(String(extent))
    await page.getByRole('button', { name: 'Validate all formats' }).click()
  }
  const validated = (page: Page) => page.locator('button:has-text("Save report"):enabled').waitFor()

  it('validates every format through the addon in the utility process', async () => {
    await validate(app.page, 64)
    await validated(app.page)
    const count = await cells(app.page).count()
    expect(count).toBeGreaterThanOrEqual(9)
    expect(await cells(app.page).filter({ hasText: 'Passed' }).count()).toBe(count)
    expect(await enginePid()).toBeGreaterThan(0)
    const run = runs().at(-1)!
    expect(run.steps.length).toBeGreaterThanOrEqual(count)
    expect(run.steps.every(({ disposition }) => disposition === 'passed')).toBe(true)
  })

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'an engine that gets %s costs a job and is started anew',
    async (signal) => {
      await startLongSweep(app.page)
      const before = (await enginePid())!
      process.kill(before, signal)
      await expect.poll(enginePid).not.toBe(before)
      const cancel = app.page.getByRole('button', { name: 'Cancel', exact: true })
      if (await cancel.count()) await cancel.click()
      await cancel.waitFor({ state: 'detached' })
      const run = runs().at(-1)!
      expect(run.steps.some(({ measurement }) => measurement)).toBe(true)
      expect(JSON.stringify(run)).toMatch(/engine/i)
      await validate(app.page, 64)
      await validated(app.page)
      expect(await enginePid()).toBeGreaterThan(0)
    }
  )

  it('a page that is killed is asked about and loaded again; the sweep went on', async () => {
    await startLongSweep(app.page)
    await stubDialogs(app.electron, { button: 0 })
    await app.electron.evaluate(({ BrowserWindow }) =>
      process.kill(BrowserWindow.getAllWindows()[0]!.webContents.getOSProcessId(), 'SIGKILL')
    )
    await expect
      .poll(async () => (await shownDialogs(app.electron)).messages)
      .toEqual(["The window's page has stopped."])
    // Playwright's page went with its process; the window is asked through the main process. A page that is being loaded may never answer.
    const inPage = (code: string) =>
      app.electron.evaluate(
        ({ BrowserWindow }, script) =>
          Promise.race([
            BrowserWindow.getAllWindows()[0]!.webContents.executeJavaScript(
              script
            ) as Promise<number>,
            new Promise<number>((settle) => setTimeout(settle, 1000, 0))
          ]),
        code
      )
    await expect
      .poll(() => inPage(`document.querySelectorAll('[role=row]').length`).catch(() => 0))
      .toBeGreaterThan(2)
    expect(runs().at(-1)!.status).toBe('running')
  })

  it('asks before it quits in mid-sweep, and goes on when told to', async () => {
    await stubDialogs(app.electron, { button: 1 })
    const before = runs().at(-1)!
    await app.electron.evaluate(({ app: main }) => main.quit())
    await expect
      .poll(async () => (await shownDialogs(app.electron)).messages)
      .toEqual(['A job is running.'])
    await app.electron.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]!.close())
    await expect.poll(async () => (await shownDialogs(app.electron)).messages.length).toBe(2)
    const open = await app.electron.evaluate(
      ({ BrowserWindow }) => BrowserWindow.getAllWindows().length
    )
    expect(open).toBe(1)
    await expect.poll(() => runs().at(-1)!.steps.length).toBeGreaterThan(before.steps.length)
    expect(runs().at(-1)!.status).toBe('running')
  })

  it('agreed to, quits: the sweep is cancelled and what was measured is on disk', async () => {
    await stubDialogs(app.electron, { button: 0 })
    const before = runs().at(-1)!
    const ended = new Promise((resolve) => app.electron.process().once('exit', resolve))
    await app.electron.evaluate(({ app: main }) => main.quit())
    expect(await ended).toBe(0)
    const after = runs().at(-1)!
    expect(after.id).toBe(before.id)
    expect(after.status).toBe('cancelled')
    expect(after.steps.length).toBeGreaterThanOrEqual(before.steps.length)
    const stepsAfter = new Map(after.steps.map((step) => [step.index, step]))
    // What was only validated when the run was read may have been timed or cancelled since; its validation stands.
    for (const step of before.steps)
      if (step.disposition === 'not-run')
        expect(stepsAfter.get(step.index)?.validation).toEqual(step.validation)
      else expect(stepsAfter.get(step.index)).toEqual(step)
  })

  it('shows that run at the next start, and the run before it', async () => {
    const run = runs().at(-1)!
    app = await desktop.start(`--page=/sweep?run=${run.id}`)
    try {
      const { sentence } = outcomeOf(run)
      expect(sentence).toMatch(/ measured, .*\d not done \(cancelled\)$/)
      await app.page.getByText(sentence).waitFor()
      await go(app.page, 'runs')
      await app.page.getByText(`${runs().length} runs`).waitFor()
    } finally {
      // One that is still open would take a second try's start for its own.
      await app.electron.close()
    }
  })
})
