import { hostname, userInfo } from 'node:os'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { InvalidArgumentError, type Command } from 'commander'
import { UserError } from '@shared/errors'
import { missing } from '../ground/named'
import { print, printFault, printJson, printNote } from '../ground/terminal'
import { hasDisplay, openBrowser } from '../server/openBrowser'
import { refuseFolder } from '../capture/captureFolder'
import type { Application } from '../jobs/handlers'
import { connectInProcess } from '../transports/inProcess'
import { startServer } from '../server/server'
import { tokenFromFile } from '../server/token'
import { localApplication, programFolder, type LocalOptions } from './localApplication'

export interface ServeFlags extends LocalOptions {
  port: number
  host: string
  allowedHost?: string[]
  tokenFile?: string
  open: boolean
  /** Profiles that the first page to connect opens. */
  files?: string[]
  provider?: string[]
  /** Whether the page may start programs to capture them. */
  allowCapture?: boolean
  /** What the page shows first: '/profile?run=...'. */
  page?: string
  json?: boolean
  /** Why it is the browser and not the app. */
  instead?: string
}

const standardPort = 7777

export function register(program: Command): void {
  program
    .command('serve')
    .description('Serve the app to a browser: on this machine, or over an SSH tunnel.')
    .argument('[files...]', 'profiles and folders of captures that the first page opens')
    .option('--port <number>', 'port; 0 for any free one', parsePort, standardPort)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--allowed-host <name...>', 'another name this machine is reached by')
    .option(
      '--token-file <file>',
      'keep the token in this file, so that the address stays the same'
    )
    .option('--no-open', 'do not open a browser')
    .option('--json', 'print the address as JSON')
    .option('--store <folder>', 'folder of the runs')
    .option('--kernel-dir <folder...>', 'folder with your own kernels and their manifest.json')
    .option('--provider <file...>', 'file of Python kernels of your own, offered on the page')
    .option('--allow-capture', 'let the page start programs, to capture them')
    .action((files: string[], flags: ServeFlags) => serve({ ...flags, files }))
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('A port is a number from 0 to 65535.')
}

/** Serves until it is interrupted; then what runs is cancelled and on disk before the process ends. */
export async function serve(flags: ServeFlags): Promise<void> {
  const rendererFolder = join(programFolder, 'out', 'renderer')
  if (!existsSync(join(rendererFolder, 'index.html')))
    throw new UserError('unavailable', 'The page is not built; build it with "npm run build:app".')
  checkFiles(flags.files ?? [])
  const token = flags.tokenFile === undefined ? undefined : tokenFromFile(flags.tokenFile)
  const providerFiles = flags.provider
  const application = localApplication(flags, {
    host: 'server',
    mayReadFiles: false,
    providerFiles,
    ...(flags.allowCapture && { allowProgram: async () => true })
  })
  for (const file of flags.files ?? []) application.openFile(resolve(file))
  // Listened for before the address is printed: who reads it may press Ctrl+C at once.
  const end = interrupted()
  try {
    if (providerFiles) await checkProviders(application)
    const server = await startServer({
      handlers: application.handlers,
      rendererFolder,
      port: flags.port,
      host: flags.host,
      token,
      allowedHosts: flags.allowedHost ?? [],
      onInternalError: printFault
    })
    const url = flags.page === undefined ? server.url : `${server.url}&${flags.page}`
    const { port, host } = { ...flags, port: server.port }
    if (flags.json) printJson({ opened: 'browser', url, port, host, reason: flags.instead ?? '' })
    else print(greeting(url, port, host))
    if (flags.open && hasDisplay()) openBrowser(url)
    await end
    printNote('Stopping.')
    await server.close()
  } finally {
    await application.close()
  }
}

/** A file of kernels that does not load is said here, not by a page that lacks them. */
async function checkProviders({ handlers }: Application): Promise<void> {
  const { warnings } = await connectInProcess(handlers).call('devices.detect', {})
  if (warnings.length > 0) throw new UserError('usage', warnings[0]!)
}

/** A profile that is not there is said here, not by a page that shows something else. */
export function checkFiles(files: readonly string[]): void {
  for (const file of files) {
    if (!existsSync(file)) throw missing(file)
    refuseFolder(file)
  }
}

const isLoopback = (host: string) => /^(127\.\d+\.\d+\.\d+|localhost|::1)$/.test(host)

/** What to do with the server: its address once, and how to reach it from another machine. */
export function greeting(url: string, port: number, host: string): string[] {
  const lines = [`blockscope is at ${url}`]
  if (isLoopback(host)) {
    lines.push(
      'From another machine, open a tunnel there and then the same address:',
      `  ssh -N -L ${port}:127.0.0.1:${port} ${userInfo().username}@${hostname()}`
    )
  } else {
    lines.push(
      `Warning: ${host} can be reached from the network, and what is sent is not encrypted.`,
      '  Whoever has the address can run jobs here. Safer: leave --host out and use ssh -L.'
    )
  }
  return [...lines, 'Ctrl+C stops it.']
}

/** Resolves at the first Ctrl+C or SIGTERM; a second one ends the process at once. */
function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}
