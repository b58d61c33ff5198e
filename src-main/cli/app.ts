import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { messageOf } from '@shared/errors'
import { print, printJson } from '../ground/terminal'
import { hasDisplay } from '../server/openBrowser'
import { findElectron } from './findElectron'
import { programFolder } from './localApplication'
import { checkFiles, serve } from './serve'

/** An app that ends with an error within this time has not come up: a library or the sandbox is missing. */
const startMs = 5000

export function register(program: Command): void {
  program
    .command('app')
    .description('Open the desktop app; without Electron or a display, the browser instead.')
    .argument('[files...]', 'profiles and folders of captures to open')
    .option('--no-open', 'do not open a browser in browser mode')
    .option('--json', 'print what opened as JSON')
    .action(app)
}

export interface AppFlags {
  /** A browser, where it is a browser. */
  open: boolean
  json?: boolean
}

async function app(files: string[], flags: AppFlags): Promise<void> {
  checkFiles(files)
  await openAnywhere(files, flags)
}

/** In the desktop app, or in the browser with the reason why. */
export async function openAnywhere(files: string[], flags: AppFlags, page?: string): Promise<void> {
  const failure = await openDesktop(files, page)
  if (failure === undefined) {
    if (flags.json) printJson({ opened: 'app' })
    return
  }
  if (!flags.json) print(`${failure} The app opens in the browser instead.`)
  await serve({ ...flags, host: '127.0.0.1', port: 0, files, page, instead: failure })
}

/**
 * Runs the desktop app to its end, or hands over to the one that runs already. `page` is what its window shows:
 * '/profile?run=...'. Returns why it could not be opened, as a sentence.
 */
async function openDesktop(files: string[], page?: string): Promise<string | undefined> {
  const electron = findElectron(programFolder)
  if (electron === undefined)
    return 'There is no Electron here ("npx install-electron --no" downloads it).'
  if (!hasDisplay()) return 'There is no display for a window.'
  if (!existsSync(join(programFolder, 'out', 'main', 'index.js')))
    return 'The desktop app is not built ("npm run build:app" builds it).'
  const started = performance.now()
  const paths = files.map((file) => resolve(file))
  const words = page === undefined ? paths : [`--page=${page}`, ...paths]
  const child = spawn(electron, [programFolder, ...words], { stdio: 'inherit' })
  return new Promise((settle) => {
    child.on('error', (error) => settle(`Electron cannot be started: ${messageOf(error)}.`))
    child.on('exit', (code, signal) => {
      const how = signal ? `was ended by ${signal}` : `ended with code ${code}`
      const failed = code !== 0 && signal !== 'SIGINT' && signal !== 'SIGTERM'
      if (failed && performance.now() - started < startMs)
        return settle(`Electron ${how} at its start.`)
      process.exitCode = failed ? 1 : 0
      settle(undefined)
    })
  })
}
