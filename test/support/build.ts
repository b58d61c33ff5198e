/** What tests run is built once per run of vitest, however many of its projects ask. BLOCKSCOPE_SKIP_BUILD=1 takes what is there. */
import { spawnSync } from 'node:child_process'
import { build } from 'vite'

/** Projects load this file apart from one another, in one process. */
const shared = globalThis as { blockscopeBuilds?: Map<string, Promise<void>> }

function once(what: string, make: () => Promise<void>): Promise<void> {
  if (process.env.BLOCKSCOPE_SKIP_BUILD === '1') return Promise.resolve()
  const builds = (shared.blockscopeBuilds ??= new Map<string, Promise<void>>())
  const begun = builds.get(what) ?? make()
  builds.set(what, begun)
  return begun
}

/** The addon, where its sources changed since `npm ci`: nothing is tested on an addon of other sources. */
export const buildAddon = () =>
  once('addon', async () => {
    const { status, stderr } = spawnSync('npm', ['run', '--silent', 'build:native'], {
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
      shell: process.platform === 'win32'
    })
    if (status !== 0) throw new Error(`The addon cannot be built:\n${stderr}`)
  })

/** Stand-ins of driver and CUPTI, and a program on them, for captures: they are injected as on Linux only. */
export const buildCaptureStubs = () =>
  once('captureStubs', async () => {
    if (process.platform !== 'linux') return
    const { status, stderr } = spawnSync('make', ['-s', '-C', 'native/test/inject'], {
      encoding: 'utf8'
    })
    if (status !== 0) throw new Error(`native/test/inject cannot be built:\n${stderr}`)
  })

/** out/node: tests spawn the real program. */
export const buildProgram = () =>
  once('program', async () => {
    await build({ configFile: 'vite.node.config.ts', logLevel: 'error' })
  })

/** out/main, out/preload and out/renderer: the desktop app, whose page is also what the server hands to a browser. */
export const buildDesktop = () =>
  once('desktop', async () => {
    const { build: buildParts } = await import('electron-vite')
    await buildParts({ logLevel: 'error' })
  })
