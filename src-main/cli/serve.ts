import { hostname, userInfo } from 'node:os'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { InvalidArgumentError, type Command } from 'commander'
import { UserError } from '@shared/errors'
import { hasDisplay, openBrowser } from '../server/openBrowser'
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
  /** What the page shows first: '/profile?run=...'. */
  page?: string
}

const standardPort = 7777

export function register(program: Command): void {
  program
    .command('serve')
    .description('Serve the app to a browser: on this machine, or over an SSH tunnel.')
    .option('--port <number>', 'port; 0 for any free one', parsePort, standardPort)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--allowed-host <name...>', 'another name this machine is reached by')
    .option(
      '--token-file <file>',
      'keep the token in this file, so that the address stays the same'
    )
    .option('--no-open', 'do not open a browser')
    .option('--store <folder>', 'folder of the runs')
    .option('--kernel-dir <folder...>', 'folder with your own kernels and their manifest.json')
    .action((flags: ServeFlags) => serve(flags))
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
  const token = flags.tokenFile === undefined ? undefined : tokenFromFile(flags.tokenFile)
  const application = localApplication(flags, { host: 'server', mayReadFiles: false })
  for (const file of flags.files ?? []) application.openFile(resolve(file))
  try {
    const server = await startServer({
      handlers: application.handlers,
      rendererFolder,
      port: flags.port,
      host: flags.host,
      token,
      allowedHosts: flags.allowedHost ?? [],
      onInternalError: (method, error) => console.error(`${method}:`, error)
    })
    const url = flags.page === undefined ? server.url : `${server.url}&${flags.page}`
    process.stdout.write(greeting(url, server.port, flags.host))
    if (flags.open && hasDisplay()) openBrowser(url)
    await interrupted()
    process.stderr.write('Stopping.\n')
    await server.close()
  } finally {
    await application.close()
  }
}

const isLoopback = (host: string) => /^(127\.\d+\.\d+\.\d+|localhost|::1)$/.test(host)

/** What to do with the server: its address once, and how to reach it from another machine. */
export function greeting(url: string, port: number, host: string): string {
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
  return [...lines, 'Ctrl+C stops it.', ''].join('\n')
}

/** Resolves at the first Ctrl+C or SIGTERM; a second one ends the process at once. */
function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
}
