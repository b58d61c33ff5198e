/** The desktop app itself, where an Electron binary and a display are found; what it shows is tested in the browser. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { _electron } from 'playwright-core'
import type { ElectronApplication, Page } from 'playwright-core'
import { build } from 'electron-vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findElectron } from '../../src-main/cli/findElectron'
import { hasDisplay } from '../../src-main/server/openBrowser'

const root = fileURLToPath(new URL('../..', import.meta.url))
const executablePath = findElectron(root)
const missing = [
  executablePath === undefined &&
    'no Electron binary (npx install-electron --no, or ELECTRON_OVERRIDE_DIST_PATH)',
  !hasDisplay() && 'no display (xvfb-run gives one)',
  process.getuid?.() === 0 && 'Electron does not run its sandbox as root'
].filter(Boolean)

if (missing.length > 0) console.warn(`The desktop app's test is skipped: ${missing.join('; ')}.`)

describe.skipIf(missing.length > 0)('the desktop app', () => {
  const userData = mkdtempSync(join(tmpdir(), 'blockscope-electron-'))
  let electron: ElectronApplication
  let page: Page

  beforeAll(async () => {
    await build({ root, logLevel: 'error' })
    electron = await _electron.launch({
      executablePath,
      args: [root, `--user-data-dir=${userData}`],
      env: { ...(process.env as Record<string, string>), XDG_DATA_HOME: userData }
    })
    page = await electron.firstWindow()
  })
  afterAll(async () => {
    await electron?.close()
    rmSync(userData, { recursive: true, force: true })
  })

  it('shows the page from its own scheme, connected to the main process', async () => {
    expect(page.url()).toMatch(/^app:\/\/blockscope\//)
    await page.getByRole('navigation').waitFor()
    expect(await page.evaluate('Object.keys(window.blockscope)')).toEqual(['connect'])
    expect(await page.evaluate('typeof require + typeof process')).toBe('undefinedundefined')
  })

  it('opens no window and goes nowhere', async () => {
    await page.evaluate(`window.open('https://example.com'); location.href = 'https://example.com'`)
    await page.waitForTimeout(500)
    expect(electron.windows()).toHaveLength(1)
    expect(page.url()).toMatch(/^app:\/\/blockscope\//)
  })
})
