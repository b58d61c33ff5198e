/** Starts the built desktop app under a real Electron. */
import { spawn, type ChildProcess } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { _electron, type ElectronApplication, type Page } from 'playwright-core'
import { describe } from 'vitest'
import { patience } from '../../support/patience'
import { findTestElectron, isRoot } from './findTestElectron'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const confine = fileURLToPath(new URL('./confine.mjs', import.meta.url))
/** What Playwright loads into an Electron that it found by itself; for another it has to be said. */
const loader = join(root, 'node_modules/playwright-core/lib/server/electron/loader.js')
/** nobody: as whom Electron runs where the tests are root's. */
const ordinaryUser = 65534

const has = (program: string) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))

const electron = findTestElectron(root)
const missing = [
  'missing' in electron && electron.missing,
  process.platform === 'linux' && !process.env.DISPLAY && !has('Xvfb') && 'no display and no Xvfb',
  isRoot && !['unshare', 'setpriv', 'ip'].every(has) && 'unshare, setpriv and ip are needed as root'
].filter(Boolean)

if (missing.length > 0) console.warn(`The desktop app's tests are skipped: ${missing.join('; ')}.`)

/** describe, for tests that need a real Electron; skipped, with a warning, where there is none. */
export const describeInElectron = describe.skipIf(missing.length > 0)

export interface StartedApp {
  electron: ElectronApplication
  page: Page
}

/** A display and a program folder for a file's tests, and folders for each app. All is removed by `end`. */
export class Desktop {
  /** Removed at the end; what is in it belongs to the user that Electron runs as. */
  readonly folder = mkdtempSync(join(tmpdir(), 'blockscope-electron-'))
  readonly program = join(this.folder, 'program')
  private readonly loader = join(this.folder, 'loader.cjs')
  readonly data = this.makeFolder('data')
  readonly userData = this.makeFolder('user')
  readonly store = join(this.data, 'blockscope', 'runs')
  private display = process.env.DISPLAY
  private xvfb: ChildProcess | undefined
  private readonly started = new Set<ElectronApplication>()

  async begin(): Promise<void> {
    chmodSync(this.folder, 0o755)
    const parts = [
      ...['package.json', 'out/main', 'out/preload', 'out/renderer', 'resources/kernels'],
      ...['resources/providers', 'native/build/Release/blockscope.node']
    ]
    for (const part of parts)
      cpSync(join(root, part), join(this.program, part), { recursive: true })
    copyFileSync(loader, this.loader)
    if (process.platform === 'linux' && !this.display) this.display = await this.startXvfb()
  }

  /** A new folder that the app may write to. */
  makeFolder(name: string): string {
    const path = join(this.folder, name)
    mkdirSync(path, { recursive: true })
    if (isRoot) chownSync(path, ordinaryUser, ordinaryUser)
    return path
  }

  private startXvfb(): Promise<string> {
    const words = ['-displayfd', '3', '-screen', '0', '1920x1200x24', '-nolisten', 'tcp']
    const child = spawn('Xvfb', words, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
    this.xvfb = child
    return new Promise((resolve, reject) => {
      child.stdio[3]!.once('data', (number: Buffer) => resolve(`:${String(number).trim()}`))
      child.once('exit', (code) => reject(new Error(`Xvfb ended with code ${code}.`)))
    })
  }

  private environment(): Record<string, string> {
    const confined = { CONFINE_ELECTRON: this.executable(), CONFINE_USER: String(ordinaryUser) }
    return {
      PATH: process.env.PATH ?? '',
      LANG: 'C.UTF-8',
      HOME: this.userData,
      XDG_DATA_HOME: this.data,
      XDG_CONFIG_HOME: this.userData,
      XDG_CACHE_HOME: this.userData,
      ...(this.display === undefined ? {} : { DISPLAY: this.display }),
      ...(isRoot ? confined : {})
    }
  }

  private executable(): string {
    if ('missing' in electron) throw new Error(electron.missing)
    return electron.path
  }

  private words(more: readonly string[]): string[] {
    return [
      '--disable-gpu',
      '--font-render-hinting=none',
      '--force-device-scale-factor=1',
      this.program,
      `--user-data-dir=${this.userData}`,
      ...more
    ]
  }

  async start(...more: string[]): Promise<StartedApp> {
    const app = await _electron.launch({
      executablePath: isRoot ? confine : this.executable(),
      chromiumSandbox: true,
      timeout: patience,
      // The app is not ready, and opens no window, before Playwright listens.
      args: ['-r', this.loader, ...this.words(more)],
      env: this.environment()
    })
    this.started.add(app)
    app.on('close', () => this.started.delete(app))
    const page = await app.firstWindow({ timeout: patience })
    page.setDefaultTimeout(patience)
    await page.getByRole('navigation').first().waitFor()
    return { electron: app, page }
  }

  /** Starts the program once more while it runs; resolves with the exit code of the second. */
  startAgain(...more: string[]): Promise<number | null> {
    const child = spawn(isRoot ? confine : this.executable(), this.words(more), {
      env: this.environment(),
      stdio: 'ignore'
    })
    return new Promise((resolve) => child.once('exit', resolve))
  }

  async end(): Promise<void> {
    for (const app of this.started) app.process().kill('SIGKILL')
    this.xvfb?.kill()
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
