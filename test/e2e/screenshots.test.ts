/**
 * docs/screenshots: every view with content, UPDATE_SCREENSHOTS=1. Runs of an H200 are those of docs/results; what is made
 * here is made on this machine's CPU.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { buildNewCards, newCards } from '../unit/native/newCards'
import { drop, go } from './support/actions'
import {
  describeInBrowser,
  isPhotographed,
  itIsPhotographed,
  workerBrowser,
  openPage,
  photographs,
  takeScreenshot
} from './support/browser'
import { program, startServerProcess, type StartedServer } from './support/server'

/** nvdisasm of a CUDA toolkit or of Python's triton, on PATH: without it there is no machine code to show. */
const hasDisassembler = isPhotographed && spawnSync('nvdisasm', ['--version']).status === 0

/** PICTURES=sweep,runs: these alone. */
const named = process.env.PICTURES?.split(',')

interface Picture {
  name: string
  /** In every look; else at the widest alone. */
  isMain: boolean
  show: (page: Page) => Promise<unknown>
}

describeInBrowser('docs/screenshots', () => {
  let browser: Browser
  let server: StartedServer
  /** Of a machine with an RTX 5090 and an MI355X, as stand-ins of their drivers tell of them. */
  let cards: StartedServer
  const drivers = mkdtempSync(join(tmpdir(), 'blockscope-cards-'))
  const ids = { h200: '', mxfp4: '', overK: '', validation: '', failed: '', shapes: '' }

  beforeAll(async () => {
    if (!isPhotographed) return
    server = await startServerProcess()
    buildNewCards(drivers)
    cards = await startServerProcess({ environment: newCards(drivers) })
    browser = await workerBrowser()
    const store = ['--store', server.storeFolder]
    const imported = (folder: string) => {
      const words = ['runs', 'import', `docs/results/${folder}/run.json`, ...store]
      const text = execFileSync(process.execPath, [program, ...words]).toString()
      return /Imported as (\S+?)\.?\s/.exec(text)![1]!
    }
    const made = (...words: string[]) => {
      try {
        execFileSync(process.execPath, [program, ...words, '--device', 'cpu', ...store], {
          stdio: 'ignore'
        })
      } catch {
        // A validation that fails, as one is to, exits with 1.
      }
      const listed = execFileSync(process.execPath, [program, 'runs', 'list', '--json', ...store])
      const runs = JSON.parse(listed.toString()) as { id: string; createdAt: string }[]
      return runs.sort((a, b) => a.createdAt.localeCompare(b.createdAt)).at(-1)!.id
    }
    ids.h200 = imported('h200-8192')
    ids.mxfp4 = imported('h200-8192-mxfp4')
    ids.overK = imported('h200-k-sweep')
    const cube = (extent: string) => ['-M', extent, '-N', extent, '-K', extent]
    ids.validation = made('validate', '--formats', 'all', ...cube('256'))
    ids.failed = made(
      ...['validate', '--formats', 'all', '-M', '256', '-N', '256', '-K', '4096'],
      ...['--dist', 'positive', '--atol', '0', '--rtol', '0', '--rule', 'assert-close']
    )
    ids.shapes = made(
      ...['sweep', '--formats', 'mxfp4,mxfp8', '-M', '1,16,64,256', '-N', '512'],
      ...['-K', '256,512,1024,2048', '--preset', 'quick']
    )
  })
  afterAll(async () => {
    await server?.stop()
    await cards?.stop()
    rmSync(drivers, { recursive: true, force: true })
  })

  const canvas = (page: Page) => page.locator('canvas').first().waitFor()
  const tab = (page: Page) => page.getByRole('tab', { selected: true }).waitFor()
  const cell = async (page: Page, id: string, name: string) => {
    await go(page, `validate?run=${id}&cell=${name}`)
    await page.getByRole('button', { name: 'Close details' }).waitFor()
    await canvas(page)
    await page.getByRole('region', { name: 'Verdict' }).evaluate((box) => box.scrollIntoView())
  }
  const layouts = async (page: Page, query: string) => {
    await go(page, `layouts?${query}`)
    await tab(page)
  }

  const pictures: Picture[] = [
    {
      name: 'devices',
      isMain: true,
      show: async (page) => {
        await go(page, 'devices')
        await page.getByText('CUDA driver').first().waitFor()
      }
    },
    {
      name: 'validate',
      isMain: true,
      show: (page) => cell(page, ids.h200, 'wgmma-fp8-p256~mxfp4')
    },
    {
      name: 'validate-cpu',
      isMain: false,
      show: (page) => cell(page, ids.validation, 'cpu-portable~mxfp8')
    },
    {
      name: 'validate-failed',
      isMain: false,
      show: async (page) => {
        await go(page, `validate?run=${ids.failed}`)
        await page.getByText(/^Failed: /).waitFor()
        const wrong = page.getByRole('gridcell').filter({ hasText: /\d outside/ })
        await wrong.first().getByRole('button').click()
        await page.getByText('contributes most').scrollIntoViewIfNeeded()
      }
    },
    {
      name: 'sweep',
      isMain: true,
      show: async (page) => {
        await go(page, `sweep?run=${ids.h200}`)
        await page.locator('#sweep-title').waitFor()
      }
    },
    ...(hasDisassembler
      ? [
          {
            name: 'sweep-machine-code',
            isMain: false,
            show: async (page: Page) => {
              await go(page, `sweep?run=${ids.h200}`)
              const table = page.getByRole('region', { name: 'Table' })
              await table.getByText('wgmma', { exact: true }).first().click()
              await page.getByRole('button', { name: 'Compile and disassemble' }).click()
              await page.getByText(/\d instructions/).waitFor()
              const why = page.getByRole('heading', { name: 'Why this fast?' })
              await why.evaluate((heading) => heading.scrollIntoView())
            }
          }
        ]
      : []),
    {
      name: 'sweep-k',
      isMain: false,
      show: async (page) => {
        await go(page, `sweep?run=${ids.overK}`)
        await canvas(page)
      }
    },
    {
      name: 'sweep-roofline',
      isMain: false,
      show: async (page) => {
        await go(page, `sweep?run=${ids.h200}&metric=roofline`)
        await canvas(page)
      }
    },
    {
      name: 'sweep-shapes',
      isMain: false,
      show: async (page) => {
        await go(page, `sweep?run=${ids.shapes}&axis=m`)
        await canvas(page)
      }
    },
    {
      name: 'sweep-heat',
      isMain: false,
      show: async (page) => {
        await go(page, `sweep?run=${ids.shapes}&metric=heat`)
        await canvas(page)
      }
    },
    ...['codes', 'block', 'error', 'speed'].map((which) => ({
      name: which === 'codes' ? 'formats' : `formats-${which}`,
      isMain: which === 'codes',
      show: async (page: Page) => {
        await go(page, `formats?tab=${which}&run=${which === 'speed' ? ids.h200 : ''}`)
        await tab(page)
        await page.getByText('Computing…').waitFor({ state: 'detached' })
      }
    })),
    {
      name: 'layouts',
      isMain: true,
      show: (page) => layouts(page, 'layout=nvidia_32_4_4&rows=256&cols=8&row=165&col=6')
    },
    {
      name: 'layouts-readers',
      isMain: false,
      show: async (page) => {
        await layouts(page, 'layout=nvidia_32_4_4&rows=256&cols=32&row=165&col=6')
        await page.locator('#position').evaluate((heading) => heading.scrollIntoView())
      }
    },
    {
      name: 'layouts-cdna4',
      isMain: false,
      show: async (page) => {
        await layouts(page, 'layout=cdna4_mfma16&format=mxfp4&rows=32&cols=8&row=21&col=5')
        await page.locator('#mfma-pair').evaluate((heading) => heading.scrollIntoView())
      }
    },
    {
      name: 'layouts-loads',
      isMain: false,
      show: (page) =>
        layouts(page, 'layout=nvidia_32_4_4&rows=256&cols=32&row=130&col=20&tab=loads')
    },
    {
      name: 'layouts-fragments',
      isMain: false,
      show: (page) => layouts(page, 'mma=m16n8k64&operand=A&outer=11&inner=44')
    },
    // The other instructions that take block scales: of sm_120, and of gfx950.
    ...[
      ['m16n8k32', 'outer=11&inner=22'],
      ['16x16x128', 'outer=11&inner=70'],
      ['32x32x64', 'outer=21&inner=44']
    ].map(([shape, element]) => ({
      name: `layouts-fragments-${shape}`,
      isMain: false,
      show: (page: Page) => layouts(page, `mma=${shape}&operand=A&${element}`)
    })),
    {
      name: 'layouts-elements',
      isMain: false,
      show: (page) => layouts(page, 'codes=4&k=21')
    },
    {
      name: 'profile-empty',
      isMain: false,
      show: async (page) => {
        await go(page, 'profile')
        await page.getByRole('button', { name: /Triton beside cuBLAS/ }).waitFor()
      }
    },
    {
      name: 'profile',
      isMain: true,
      show: async (page) => {
        const path = 'test/fixtures/h200/triton_mxfp8_h200.hatchet'
        await go(page, 'profile')
        await drop(page, basename(path), readFileSync(path))
        await page.locator('[data-index="1"]').click()
        await page.locator('.details td').first().waitFor()
      }
    },
    {
      name: 'profile-diff',
      isMain: false,
      show: async (page) => {
        await go(page, `profile?run=${ids.mxfp4}`)
        await page.getByText(ids.mxfp4).first().waitFor()
        await page.getByRole('button', { name: 'Diff with baseline' }).click()
        await page.getByRole('menuitem', { name: /4 formats, M = N = K/ }).click()
        await page.getByRole('columnheader', { name: 'ratio', exact: true }).waitFor()
        await page.getByText('From before to after').waitFor()
      }
    },
    {
      name: 'timeline',
      isMain: true,
      show: async (page) => {
        await go(page, `timeline?run=${ids.h200}`)
        await page.getByText('Whole trace, sums by kernel').waitFor()
      }
    },
    {
      name: 'runs',
      isMain: true,
      show: async (page) => {
        await go(page, `runs?run=${ids.h200}`)
        await page.getByRole('button', { name: 'Open as profile' }).waitFor()
      }
    },
    {
      name: 'runs-history',
      isMain: false,
      show: async (page) => {
        const point = { device: 'NVIDIA H200', format: 'mxfp4', kernel: 'wgmma', mode: 'cold' }
        const shape = { m: 8192, n: 8192, k: 8192 }
        const query = new URLSearchParams({ history: JSON.stringify({ ...point, ...shape }) })
        await go(page, `runs?${query}`)
        await page.getByRole('region', { name: /over 3 runs/ }).waitFor()
        await page.getByRole('button', { name: 'Pin' }).last().click()
        await canvas(page)
      }
    }
  ]

  const device = async (page: Page, id: string) => {
    await go(page, 'devices')
    const chips = page.getByRole('list', { name: 'Devices' }).getByRole('button')
    await chips.filter({ hasText: id }).click()
  }
  const ofCards: Picture[] = [
    { name: 'devices-rtx-5090', isMain: true, show: (page) => device(page, 'cuda:0') },
    { name: 'devices-mi355x', isMain: true, show: (page) => device(page, 'hip:0') }
  ]

  itIsPhotographed.each(photographs)(
    '$theme, $width pixels wide',
    async ({ theme, width, height }) => {
      for (const [{ url }, all] of [
        [server, pictures],
        [cards, ofCards]
      ] as const) {
        const { page, close, errors } = await openPage(browser, url, { theme })
        await page.setViewportSize({ width, height })
        for (const { name, isMain, show } of all) {
          if (!isMain && width !== photographs[0]!.width) continue
          if (named && !named.includes(name)) continue
          // A view that is shown already keeps its place when its address changes.
          await page.locator('#main').evaluate((main) => main.scrollTo(0, 0))
          await show(page)
          await page.waitForTimeout(900)
          await takeScreenshot(page, `${name}-${theme}-${width}`)
        }
        expect(errors).toEqual([])
        await close()
      }
    }
  )
})
