/** Captures in the app: a folder that was opened by its path, its kernels, and what a product of them reaches. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { joined } from '@shared/profile/read/reader'
import { buildCaptureStubs } from '../support/build'
import { stubCupti, stubProgram } from '../support/captureStubs'
import { syntheticShard } from '../support/syntheticShard'
import { go, seriousFaultsInBothLooks } from './support/actions'
import { describeInBrowser, openPage, workerBrowser } from './support/browser'
import { startServerProcess, type StartedServer } from './support/server'

describeInBrowser('Capture', () => {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-e2e-capture-'))
  const capture = join(folder, 'step')
  let browser: Browser
  let server: StartedServer
  beforeAll(async () => {
    mkdirSync(capture)
    const record = { formatVersion: 1, kind: 'capture', command: ['python', 'train.py'] }
    writeFileSync(join(capture, 'capture.json'), JSON.stringify(record, null, 2))
    for (const pid of [41, 42]) {
      const form = { launches: 3000, kernels: 3, shapesOfKernel: 2, paths: 4, pid }
      writeFileSync(join(capture, `${pid}-1.shard`), joined([...syntheticShard(form)]))
    }
    server = await startServerProcess({ flags: [join(capture, 'capture.json')] })
    browser = await workerBrowser()
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true })
  })

  it('a folder that serve was given: tree, timeline and kernels of all its processes', async () => {
    const { page, close, errors } = await openPage(browser, `${server.url}&/capture`)
    const table = page.getByRole('grid', { name: 'Kernels' })
    await table.getByRole('row').nth(6).waitFor()
    await expect.poll(() => page.url()).toContain('#/capture')
    expect(await table.getAttribute('aria-rowcount')).toBe('7')
    const first = table.locator('[data-index="0"]')
    // Two processes of 3,000 launches over six shapes.
    expect(await first.textContent()).toMatch(/1,000.*128.*64.*32,768/)
    await page.getByText('By kernel').click()
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('4')
    expect(await first.textContent()).toMatch(/2,000.*varies/)
    await page.getByLabel('Search kernels').fill('/<1>/')
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('2')
    expect(await page.locator('.command code').textContent()).toBe(
      "blockscope launches step --by kernel --kernels '/<1>/'"
    )

    await first.click()
    const product = page.getByRole('region', { name: 'Product' })
    for (const [name, value] of [
      ['M', '256'],
      ['N', '256'],
      ['K', '64']
    ] as const)
      await product.getByLabel(name, { exact: true }).fill(value)
    await product
      .getByText(/TFLOP\/s at the median, .* of the roof\. It is 33 % of the kernels' time/)
      .waitFor()
    expect(await seriousFaultsInBothLooks(page)).toEqual([])

    await product.getByLabel('Multiplies in').selectOption('fp8')
    await product.getByRole('link', { name: 'Sweep this shape' }).click()
    for (const [name, value] of [
      ['M', '256'],
      ['K', '64']
    ] as const)
      await expect.poll(() => page.getByLabel(name, { exact: true }).inputValue()).toBe(value)
    await expect.poll(() => page.url()).not.toContain('shape=')
    const chosen = page.getByRole('group', { name: 'Formats' }).locator(':checked')
    await expect.poll(() => chosen.count()).toBe(1)
    expect(await chosen.inputValue()).toBe('mxfp8')

    await go(page, 'timeline')
    await page.getByRole('application').waitFor()
    await go(page, 'profile')
    await page.locator('[role=row]', { hasText: 'train.py 42' }).waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it.skipIf(process.platform !== 'linux')(
    'a program from the form: live counts, its two ends, then its kernels; a server takes none unasked',
    async () => {
      await buildCaptureStubs()
      const go = join(folder, 'go')
      const allowed = await startServerProcess({
        flags: ['--allow-capture'],
        environment: { BLOCKSCOPE_CUDA_PATH: stubCupti }
      })
      try {
        const { page, close, errors } = await openPage(browser, `${allowed.url}&/capture`)
        const form = page.getByRole('form', { name: 'New capture' })
        await form.getByLabel('Command', { exact: true }).fill('program | tee')
        await form.getByText(/"\|" is for a shell/).waitFor()
        const command = `${stubProgram} launch:gemm:50:20 sync print:working until:${go}`
        await form.getByLabel('Command', { exact: true }).fill(command)
        expect(await form.locator('.command code').textContent()).toBe(
          `blockscope capture -- ${command}`
        )
        await form.getByRole('button', { name: 'Start capture' }).click()
        const live = page.getByRole('region', { name: 'Running capture' })
        await live.getByLabel('Output of the program').getByText('working').waitFor()
        await expect.poll(() => live.locator('dd').nth(1).textContent()).toBe('50')
        expect(await seriousFaultsInBothLooks(page)).toEqual([])
        await live.getByRole('button', { name: 'End capture' }).click()
        await live.getByText('Captured; the program goes on').waitFor()
        const table = page.getByRole('grid', { name: 'Kernels' })
        await table.locator('[data-index="0"]').getByText('gemm').waitFor()
        writeFileSync(go, '')
        await live.waitFor({ state: 'detached' })
        // Listed, and opened from there by who comes later.
        await page.getByRole('button', { name: 'Open' }).click()
        await page.getByRole('menuitem', { name: /launch:gemm:50:20/ }).waitFor()
        expect(errors).toEqual([])
        await close()
      } finally {
        await allowed.stop()
      }
      const { page, close } = await openPage(browser, `${server.url}&/capture`)
      await page.getByLabel('Command', { exact: true }).fill('true')
      await page.getByRole('button', { name: 'Start capture' }).click()
      await page.getByText(/desktop app of this machine does, and serve --allow-capture/).waitFor()
      await close()
    }
  )
})
