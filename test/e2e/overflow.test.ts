/** No view is wider than its window, at any width: nothing is cut off, nothing scrolls the page sideways. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { drop, go } from './support/actions'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'
import { addRun, program, startServerProcess, type StartedServer } from './support/server'

const widths = [1440, 1024, 420]

describeInBrowser('the width of every view', () => {
  let browser: Browser
  let server: StartedServer
  let page: Page
  let errors: string[] = []
  beforeAll(async () => {
    server = await startServerProcess()
    const shape = ['--device', 'cpu', '-M', '64', '-N', '64', '--store', server.storeFolder]
    const run = (...words: string[]) =>
      execFileSync(process.execPath, [program, ...words, ...shape], { stdio: 'ignore' })
    run('validate', '-K', '128')
    run('sweep', '-K', '64,128', '--formats', 'mxfp4,mxfp8', '--reps', '5')
    run('sweep', '-K', '128', '--formats', 'mxfp4,mxfp8', '--reps', '5')
    // Many formats and kernels of several providers, as measured on an H200, under a long name that there is.
    const measured = JSON.parse(readFileSync('test/fixtures/runs/h200-8192/run.json', 'utf8'))
    measured.device.name = 'NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition'
    addRun(server.storeFolder, measured)
    browser = await workerBrowser()
    const opened = await openPage(browser, server.url)
    page = opened.page
    errors = opened.errors
  })
  afterAll(async () => {
    await server?.stop()
  })
  const idsOf = (kind: string) =>
    readdirSync(server.storeFolder).filter((name) => name.includes(`-${kind}-`))

  const contents: [string, () => Promise<unknown>][] = [
    [
      'devices',
      async () => {
        await go(page, 'devices')
        await page.getByText('CUDA driver').first().waitFor()
      }
    ],
    [
      'validate',
      async () => {
        await go(page, `validate?run=${idsOf('validate')[0]}`)
        await page
          .getByRole('gridcell')
          .filter({ hasText: 'Passed' })
          .first()
          .getByRole('button')
          .click()
        await page.getByRole('button', { name: 'Close details' }).waitFor()
      }
    ],
    ['validate without a run', () => go(page, 'validate')],
    ...[0, 1, 2].map((which): [string, () => Promise<unknown>] => [
      `sweep ${which}`,
      async () => {
        await go(page, `sweep?run=${idsOf('sweep')[which]}`)
        await page.locator('#sweep-title').waitFor()
      }
    ]),
    ['sweep without a run', () => go(page, 'sweep')],
    ...['codes', 'block', 'error', 'speed'].map((tab): [string, () => Promise<unknown>] => [
      `formats, ${tab}`,
      async () => {
        await go(page, `formats?tab=${tab}`)
        await page.getByRole('tab', { selected: true }).waitFor()
      }
    ]),
    ...['scales', 'loads', 'compare', 'fragments', 'codes', 'detect'].map(
      (tab): [string, () => Promise<unknown>] => [
        `layouts, ${tab}`,
        async () => {
          await go(page, `layouts?rows=256&cols=32&row=130&col=20&tab=${tab}`)
          await page.getByRole('tab', { selected: true }).waitFor()
        }
      ]
    ),
    ['profile without a file', () => go(page, 'profile')],
    ['timeline without a trace', () => go(page, 'timeline')],
    ['capture without one', () => go(page, 'capture')],
    [
      'profile',
      async () => {
        // Dropped on the timeline it would be looked at there.
        await go(page, 'profile')
        const path = 'test/fixtures/h200/triton_mxfp8_h200.hatchet'
        await drop(page, 'triton.hatchet', readFileSync(path))
        await page.locator('[role=row][data-index="2"]').click()
      }
    ],
    [
      'timeline',
      async () => {
        await go(page, 'timeline')
        const path = 'resources/examples/h200-8192-mxfp4.trace.json'
        await drop(page, 'sweep.trace.json', readFileSync(path))
        await page.getByText('Whole trace, sums by kernel').waitFor()
      }
    ],
    [
      'runs',
      async () => {
        await go(page, `runs?run=${idsOf('sweep')[0]}`)
        await page.getByRole('button', { name: 'Open as profile' }).waitFor()
      }
    ],
    ['comparison', () => go(page, `runs?compare=${idsOf('sweep').join()}`)]
  ]

  it.each(contents)('%s fits into 1440, 1024 and 420 pixels', async (_what, show) => {
    await page.setViewportSize({ width: 1440, height: 900 })
    await show()
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 })
      // Charts and panes settle a frame or two after the window, on a busy machine later.
      await page.waitForTimeout(250)
      await expect.poll(() => overflows(), { message: `at ${width} pixels` }).toEqual([])
    }
    expect(errors).toEqual([])
  })

  it.each(['runs', 'timeline', 'profile'])(
    'the table of %s shows every column at 1440 and 1024 pixels, and fades where it has more to show',
    async (view) => {
      const onTable = (what: string) =>
        page.evaluate<boolean[]>(
          `((box) => ${what})(document.querySelector('main .scrolls-sideways'))`
        )
      const look = () =>
        onTable(`[box.scrollWidth > box.clientWidth, getComputedStyle(box).maskImage !== 'none']`)
      await page.setViewportSize({ width: 1440, height: 900 })
      await contents.find(([name]) => name === view)![1]()
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 })
        const isNarrow = width === 420
        await expect.poll(look, { message: `${width} pixels` }).toEqual([isNarrow, isNarrow])
      }
      await onTable('[box.scrollTo(box.scrollWidth, 0)]')
      await expect.poll(look).toEqual([true, false])
    }
  )

  /** What is wider than its place, in words. */
  const overflows = () =>
    page.evaluate<string[]>(`(() => {
        const main = document.querySelector('main')
        const fits = (element) => element.scrollWidth <= element.clientWidth
        return [document.documentElement, main].filter((element) => !fits(element))
          .map((element) => element.tagName + ' ' + element.scrollWidth + ' > ' + element.clientWidth)
          .concat(controlsPast(main), innerWidth >= 1024 ? cutTitles(main) : [])
        function cutTitles(main) {
          return [...main.querySelectorAll('[role=columnheader] .truncate')].filter((title) => !fits(title))
            .map((title) => 'cut: ' + title.textContent)
        }
        // The page's padding hides a button that reaches past its panel.
        function controlsPast(main) {
          const past = (control) => {
            const { right, width } = control.getBoundingClientRect()
            for (let box = control.parentElement; width > 0 && box && box !== main; box = box.parentElement) {
              if (box.matches('.panel')) return right > box.getBoundingClientRect().right + 0.5
              if (getComputedStyle(box).overflowX !== 'visible') return false
            }
            return false
          }
          return [...main.querySelectorAll('button, input, select, a')].filter(past)
            .map((control) => 'past its panel: ' + control.textContent.trim())
        }
      })()`)
})
