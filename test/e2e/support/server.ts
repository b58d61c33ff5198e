import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Run } from '@shared/contract/run'
import { patience } from '../../support/patience'

export const program = fileURLToPath(new URL('../../../out/node/blockscope.js', import.meta.url))

export interface StartedServer {
  /** With its token; open this. */
  url: string
  port: number
  /** Process id of the server. */
  pid: number
  storeFolder: string
  /** All it has printed so far. */
  output(): string
  /** Ends the server as Ctrl+C does; resolves with its exit code. The store is kept when it was given. */
  stop(): Promise<number | null>
}

export interface StartOptions {
  /** An own one, removed at the end, when not given. */
  storeFolder?: string
  /** 0: any free port. */
  port?: number
  /** Instead of 'serve' with port and store: another command that ends up serving. */
  command?: string[]
  /** More words of the command line: ['--token-file', path]. */
  flags?: string[]
  environment?: NodeJS.ProcessEnv
  /** Instead of the program of this clone. */
  programFile?: string
}

/** Starts the real server, `blockscope serve`, as a process of its own on loopback. */
export async function startServerProcess(options: StartOptions = {}): Promise<StartedServer> {
  const storeFolder = options.storeFolder ?? mkdtempSync(join(tmpdir(), 'blockscope-e2e-'))
  const served = ['serve', '--port', String(options.port ?? 0), '--store', storeFolder]
  const child = spawn(
    process.execPath,
    [
      options.programFile ?? program,
      ...(options.command ?? served),
      '--no-open',
      ...(options.flags ?? [])
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...options.environment } }
  )
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    const timeout = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`The server printed no address within ${patience} ms:\n${output}`))
    }, patience)
    const listen = (chunk: Buffer) => {
      output += String(chunk)
      const found = /http:\/\/\S+#t=[\w-]+/.exec(output)
      if (!found) return
      clearTimeout(timeout)
      resolve(found[0])
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', (chunk: Buffer) => (output += String(chunk)))
    child.on('exit', (code) => {
      clearTimeout(timeout)
      reject(new Error(`The server ended with code ${code}:\n${output}`))
    })
  })
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid!,
    storeFolder,
    output: () => output,
    async stop() {
      const code = await end(child)
      if (options.storeFolder === undefined) rmSync(storeFolder, { recursive: true, force: true })
      return code
    }
  }
}

/** Puts a run, or the file that one is saved in, into a store, where a first try of the test may have put it; its id. */
export function addRun(storeFolder: string, from: Run | string): string {
  const text = typeof from === 'string' ? readFileSync(from, 'utf8') : JSON.stringify(from)
  const { id } = JSON.parse(text) as { id: string }
  mkdirSync(join(storeFolder, id), { recursive: true })
  writeFileSync(join(storeFolder, id, 'run.json'), text)
  return id
}

function end(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => {
    const kill = setTimeout(() => child.kill('SIGKILL'), patience)
    child.once('exit', (code) => {
      clearTimeout(kill)
      resolve(code)
    })
    child.kill('SIGINT')
  })
}
