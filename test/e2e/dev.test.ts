/** `npm run dev`: the page from its sources on a real engine; an edit is seen without building. In a copy of the sources. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Browser, Page } from 'playwright-core'
import { isTrue } from './support/actions'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'

describeInBrowser('npm run dev', () => {
  const copy = mkdtempSync(join(tmpdir(), 'blockscope-dev-test-'))
  let server: ChildProcess
  let browser: Browser
  let page: Page
  let errors: string[]
  let output = ''

  const printed = async (pattern: RegExp, times = 1) =>
    vi.waitFor(() => expect(output.match(pattern)?.length ?? 0, output).toBe(times))
  const edit = (file: string, from: string, to: string) => {
    const path = join(copy, file)
    const before = readFileSync(path, 'utf8')
    expect(before).toContain(from)
    writeFileSync(path, before.replace(from, to))
  }

  beforeAll(async () => {
    for (const part of [
      'src-main',
      'src-renderer',
      'src-shared',
      'scripts',
      'resources',
      'package.json'
    ])
      cpSync(part, join(copy, part), { recursive: true })
    for (const config of ['vite.dev.config.ts', 'vite.page.config.ts', 'vite.node.config.ts'])
      cpSync(config, join(copy, config))
    mkdirSync(join(copy, 'out'))
    for (const built of ['node_modules', 'native', 'out/renderer'])
      symlinkSync(resolve(built), join(copy, built))
    server = spawn('npm', ['run', 'dev', '--', '--port', '0'], {
      cwd: copy,
      detached: true,
      env: { ...process.env, XDG_DATA_HOME: join(copy, 'data'), NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe']
    })
    for (const stream of [server.stdout!, server.stderr!])
      stream.on('data', (chunk: Buffer) => (output += String(chunk)))
    await printed(/Local: +http:\S+/g)
    browser = await workerBrowser()
    ;({ page, errors } = await openPage(browser, /Local: +(http:\S+)/.exec(output)![1]!))
  })
  afterAll(async () => {
    const ended = new Promise((settle) => server.once('exit', settle))
    process.kill(-server.pid!, 'SIGINT')
    await ended
    rmSync(copy, { recursive: true, force: true })
  })

  it('shows what the engine found', async () => {
    await page.evaluate(`location.hash = '#/devices'`)
    await page.getByText('cpu-portable').first().waitFor()
    expect(errors).toEqual([])
  })

  it('shows an edit of the page, and stays connected over a reload', async () => {
    edit('src-renderer/main.ts', 'import', 'Object.assign(window, { isEdited: true })\nimport')
    await isTrue(page, 'window.isEdited')
    await page.getByText('cpu-portable').first().waitFor()
  })

  it('starts the engine anew when its sources change, and the page finds it', async () => {
    await page.evaluate(`window.isSamePage = true`)
    edit('src-main/jobs/handlers.ts', 'import', "export const edited = 'while it ran'\nimport")
    await printed(/blockscope serve is up/g, 2)
    await page.evaluate(`location.hash = '#/runs'`)
    await page.getByText('No run yet').waitFor()
    expect(await page.evaluate('window.isSamePage')).toBe(true)
  })
})
