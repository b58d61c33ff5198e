/** For `npm run dev`: a real `blockscope serve` behind Vite's server, built anew and started anew when its sources change. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, type Plugin } from 'vite'

const program = 'out/node/blockscope.js'

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/**
 * Vite's server hands /rpc on to the engine's server, whose port and token stay the same over its restarts: an open page
 * connects again by itself.
 */
export async function devEngine(): Promise<Plugin> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-dev-'))
  const address = `http://127.0.0.1:${port}`
  let engine: ChildProcess | undefined
  let isEnding = false
  let token = ''

  const end = () => {
    isEnding = true
    engine?.kill('SIGINT')
    rmSync(folder, { recursive: true, force: true })
  }

  /** Resolves with the token once the server answers. */
  const start = async (): Promise<string> => {
    const before = engine
    if (before && before.exitCode === null && before.signalCode === null) {
      const ended = new Promise((resolve) => before.once('exit', resolve))
      before.kill('SIGINT')
      await ended
    }
    const words = ['serve', '--no-open', '--port', `${port}`, '--token-file', join(folder, 'token')]
    const child = spawn(process.execPath, [program, ...words], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    engine = child
    return new Promise((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        const printed = /#t=([\w-]+)/.exec(String(chunk))?.[1]
        if (printed !== undefined) resolve(printed)
      })
      child.on('exit', (code) => {
        if (!isEnding) reject(new Error(`blockscope serve ended with code ${code}.`))
      })
    })
  }

  return {
    name: 'blockscope-dev-engine',
    apply: 'serve',
    config: () => ({
      server: {
        host: '127.0.0.1',
        proxy: {
          '/rpc': {
            target: address,
            ws: true,
            // The engine's server answers pages of its own origin only.
            changeOrigin: true,
            rewriteWsOrigin: true
          }
        }
      }
    }),
    async configureServer(server) {
      const watcher = await build({
        configFile: 'vite.node.config.ts',
        logLevel: 'error',
        build: { watch: {} }
      })
      if (!('on' in watcher)) throw new Error('Vite built once instead of watching.')
      const first = new Promise<string>((resolve, reject) => {
        watcher.on('event', (event) => {
          if (event.code === 'ERROR') server.config.logger.error(event.error.message)
          // A restart that fails is said and mended by the next edit; without a first start there is nothing to show.
          if (event.code === 'END')
            start().then(
              (printed) => {
                resolve(printed)
                server.config.logger.info('blockscope serve is up', { timestamp: true })
              },
              (error: Error) => {
                reject(error)
                server.config.logger.error(error.message)
              }
            )
        })
      })
      process.once('exit', end)
      process.once('SIGINT', () => process.exit(130))
      server.httpServer?.once('close', () => {
        void watcher.close()
        end()
      })
      token = await first
    },
    // A page that reloads has lost its token; here every edit may reload it.
    transformIndexHtml: () => [
      {
        tag: 'script',
        injectTo: 'head-prepend',
        children: `if (!location.hash.startsWith('#t='))
          history.replaceState(null, '', '#t=${token}' + location.hash.replace(/^#(?=.)/, '&'))`
      }
    ]
  }
}
