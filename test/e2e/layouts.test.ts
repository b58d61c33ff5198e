/** The layout inspector in a real browser: its numbers are those of `blockscope layout locate`. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runBlockscope } from '../support/runBlockscope'
import { seriousFaultsInBothLooks } from './support/actions'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'
import { startServerProcess, type StartedServer } from './support/server'

interface Found {
  offset: number
  linearIndex: number
  filled: string
  views: { name: string; coordinates: number[] }[]
  readers: { instruction: string }[]
}

describeInBrowser('the layout inspector', () => {
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    server = await startServerProcess()
    browser = await workerBrowser()
  })
  afterAll(async () => {
    await server?.stop()
  })

  async function show(page: Page, query: Record<string, string | number>): Promise<void> {
    const params = new URLSearchParams(
      Object.entries(query).map(([k, v]): [string, string] => [k, String(v)])
    )
    await page.evaluate(`location.hash = '#/layouts?${params}'`)
    await page.getByRole('tab', { selected: true }).waitFor()
  }
  const shown = (page: Page, what: string) => page.locator(`[data-test="${what}"]`).innerText()

  const readersShown = (page: Page) =>
    page
      .locator('[data-test="reader"]')
      .evaluateAll((rows) =>
        rows.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? ''))
      )

  it('shows the numbers of the command line for random elements', async () => {
    const { page, close, policyViolations, errors } = await openPage(browser, server.url)
    let seed = 7
    const random = (below: number) => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
      return Math.floor((seed / 2 ** 32) * below)
    }
    for (const layout of [
      'nvidia_32_4_4',
      'cdna4_mfma16',
      'cdna4_mfma32',
      'deepgemm_ue8m0',
      'linear'
    ]) {
      const rows = 1 + random(700)
      const cols = 1 + random(60)
      const row = random(rows)
      const col = random(cols)
      await show(page, { layout, rows, cols, row, col })
      const flags = Object.entries({ layout, rows, cols, row, col }).flatMap(([name, value]) => [
        `--${name}`,
        String(value)
      ])
      const { stdout } = await runBlockscope(['layout', 'locate', ...flags, '--json'])
      const found = JSON.parse(stdout) as Found
      await expect.poll(() => shown(page, 'filled')).toBe(found.filled)
      expect(await shown(page, 'offset')).toBe(String(found.offset))
      expect(await shown(page, 'linear')).toBe(String(found.linearIndex))
      for (const { name, coordinates } of found.views) {
        expect(await shown(page, `view-${name}`)).toBe(`[${coordinates.join(', ')}]`)
      }
      const readers = await readersShown(page)
      expect(readers.map(([instruction]) => instruction)).toEqual(
        found.readers.map(({ instruction }) => instruction)
      )
      const { stdout: words } = await runBlockscope(['layout', 'locate', ...flags])
      for (const [instruction, tile, place, selector] of readers) {
        expect(words).toContain(`${instruction}  ${tile}: ${place} (${selector})`)
      }
    }
    expect(policyViolations).toEqual([])
    expect(errors).toEqual([])
    await close()
  })

  it('an element that its address names is in sight, also of a fragment with more rows than before', async () => {
    const { page, close, errors } = await openPage(browser, server.url, { size: 'narrow' })
    await show(page, { mma: '16x16x128', operand: 'A', bits: 8, outer: 11, inner: 70 })
    await page.getByRole('gridcell', { selected: true }).filter({ hasText: 'T11 r4' }).waitFor()
    await show(page, { mma: '32x32x64', operand: 'A', bits: 8, outer: 21, inner: 44 })
    await page.getByRole('gridcell', { selected: true }).filter({ hasText: 'T21 r4' }).waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('shows the lane and register of the command line for elements of a fragment', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    for (const [mma, operand, bits, outer, inner] of [
      ['m16n8k64', 'A', 4, 11, 44],
      ['m16n8k32', 'B', 8, 6, 21],
      ['16x16x128', 'A', 6, 3, 37],
      ['32x32x64', 'C', 32, 13, 5]
    ] as const) {
      await show(page, { mma, operand, bits, outer, inner })
      const [row, col] = operand === 'B' ? [inner, outer] : [outer, inner]
      const { stdout } = await runBlockscope(
        `layout fragment --shape ${mma} --operand ${operand} --bits ${bits} --row ${row} --col ${col} --json`.split(
          ' '
        )
      )
      const found = JSON.parse(stdout) as { lane: number; register: number; bit: number }
      await expect
        .poll(() => shown(page, 'fragment'))
        .toContain(`lane ${found.lane}, register ${found.register}, from bit ${found.bit}.`)
    }
    // The way back, typed: lane 37, register 5 of C begins with m 13, n 5.
    await page.getByLabel('Lane').fill('0')
    await expect.poll(() => shown(page, 'fragment')).toContain('m 9, n 0: lane 0, register 5')
    await page.getByLabel('Register').fill('99')
    await page.getByText('Register must be from 0 to 15.').waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('shows the bits of the command line for codes of both widths', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    for (const [codes, k] of [
      [4, 21],
      [6, 37]
    ]) {
      await show(page, { codes: codes!, k: k! })
      const { stdout } = await runBlockscope(
        `layout elements locate --bits ${codes} --index ${k}`.split(' ')
      )
      const printed = stdout
        .trim()
        .split('\n')
        .map((line) => /^(\S+) +byte (\d+), (.*)$/.exec(line)!.slice(1))
      await expect
        .poll(() =>
          page
            .locator('[data-test=packing]')
            .evaluateAll((rows) =>
              rows.map((row) =>
                [row.querySelector('code')!, ...[...row.children].slice(1, 3)].map((cell) =>
                  cell.textContent?.trim()
                )
              )
            )
        )
        .toEqual(printed)
    }
    // Hidden labels below must not make the frame scroll away with what is asked into view.
    await page.locator('#elements').evaluate((heading) => heading.scrollIntoView())
    expect(
      await page.evaluate('document.body.scrollTop + document.documentElement.scrollTop')
    ).toBe(0)
    await page.getByLabel('Index along K').fill('-1')
    await page.getByText('Index must be').waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('walks the loads of a tile from the keyboard and marks their bytes', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await show(page, { layout: 'nvidia_32_4_4', rows: 256, cols: 32, row: 200, col: 20 })
    await page.getByRole('tab', { name: 'Tile load' }).click()
    await page.getByLabel('BLOCK_K').fill('256')
    await expect.poll(() => shown(page, 'load')).toContain('Load 2 of 4: bytes 6,656 to 7,167, 512')
    await page.getByRole('slider', { name: 'Load' }).focus()
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => shown(page, 'load')).toContain('Load 3 of 4: bytes 7,168 to 7,679')
    expect(await shown(page, 'load')).toContain('rows 128 to 255, scale columns 24 to 27')
    expect(await shown(page, 'load')).toContain('tensor-memory columns 8 to 11')
    expect(await shown(page, 'offset')).toBe('7168')
    const marked = await page
      .getByRole('grid', { name: 'Packed memory' })
      .locator('.cell.step')
      .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('aria-label') ?? ''))
    expect(marked.length).toBeGreaterThan(16)
    for (const label of marked) {
      const byte = Number(/byte (\d+)/.exec(label)?.[1])
      expect(byte).toBeGreaterThanOrEqual(7168)
      expect(byte).toBeLessThanOrEqual(7679)
      expect(label).toContain('in this load')
    }
    await page.keyboard.press('End')
    await expect.poll(() => shown(page, 'load')).toContain('Load 4 of 4')
    expect(await page.getByRole('button', { name: 'Next', exact: true }).isDisabled()).toBe(true)
    await page.getByLabel('BLOCK_K').fill('100')
    await page.getByText('BLOCK_K must be a multiple of the scale block size 16').waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('works from the keyboard: arrows in both grids, jumps, and problems in words', async () => {
    const { page, close } = await openPage(browser, server.url, { size: 'narrow' })
    await show(page, { layout: 'nvidia_32_4_4', rows: 256, cols: 16, row: 0, col: 0 })
    await page.getByRole('grid', { name: 'Scale matrix' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => shown(page, 'offset')).toBe('17')
    await page.getByRole('grid', { name: 'Packed memory' }).focus()
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => shown(page, 'place')).toBe('0, 1')
    // The picture's own keys: a scale by the arrows, a step by the page keys, all of them by Escape.
    const words = page.locator('[data-test=swizzle-words]')
    await page.locator('[data-test=swizzle]').focus()
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => shown(page, 'place')).toBe('0, 0')
    await page.keyboard.press('PageDown')
    await expect.poll(() => words.textContent()).toMatch(/^rows down/)
    await page.keyboard.press('PageDown')
    await expect.poll(() => words.textContent()).toMatch(/^row group 4/)
    await page.keyboard.press('PageUp')
    await expect.poll(() => words.textContent()).toMatch(/^rows down/)
    await page.keyboard.press('Space')
    await expect.poll(() => words.textContent()).toMatch(/^tcgen05/)
    await page.keyboard.press('Escape')
    await expect.poll(() => words.textContent()).toMatch(/^All steps/)
    await page.getByLabel('Byte offset').fill('2048')
    await expect.poll(() => shown(page, 'place')).toBe('128, 0')
    await page.getByLabel('Byte offset').fill('99999')
    await page.getByText('Byte offset must be from 0 to 4,095.').waitFor()
    await page.getByLabel('K', { exact: true }).fill('100')
    await page.getByText('K must be a multiple of the scale block size 16').waitFor()
    await page.getByLabel('Paste bytes as hex', { exact: true }).fill('7F 8G')
    await page.getByText('"G" is no hex digit').waitFor()
    await close()
  })

  it('keeps what was looked at: tab, position and pasted bytes are there on coming back', async () => {
    const { page, close, errors } = await openPage(browser, server.url)
    await show(page, { layout: 'nvidia_32_4_4', rows: 256, cols: 16, row: 7, col: 2 })
    await page.getByLabel('Paste bytes as hex', { exact: true }).fill('7F 80 81')
    await page.getByRole('tab', { name: 'Fragments' }).click()
    await page.getByRole('link', { name: 'Devices' }).click()
    await page.getByText('CUDA driver').first().waitFor()
    await page.getByRole('link', { name: 'Layouts' }).click()
    await page.getByRole('tab', { name: 'Fragments', selected: true }).waitFor()
    await page.getByRole('tab', { name: 'Scales' }).press('Enter')
    await expect.poll(() => shown(page, 'place')).toBe('7, 2')
    const pasted = page.getByLabel('Paste bytes as hex', { exact: true })
    expect(await pasted.inputValue()).toBe('7F 80 81')
    expect(errors).toEqual([])
    await close()
  })

  it('has no serious accessibility problem, light and dark', async () => {
    const { page, close } = await openPage(browser, server.url)
    for (const tab of ['scales', 'loads', 'compare', 'fragments', 'codes', 'detect']) {
      await show(page, { layout: 'nvidia_32_4_4', rows: 200, cols: 6, row: 3, col: 1, tab })
      expect(await seriousFaultsInBothLooks(page), tab).toEqual([])
    }
    await close()
  })
})
