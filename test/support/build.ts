/** What tests run is built once per run of vitest, however many of its projects ask. BLOCKSCOPE_SKIP_BUILD=1 takes what is there. */
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
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

/** What the program and the page are made from. */
const sources = [
  ...['src-shared', 'src-main', 'src-renderer', 'package.json', 'package-lock.json'],
  ...[
    'tsconfig.base.json',
    'vite.node.config.ts',
    'vite.page.config.ts',
    'electron.vite.config.ts'
  ],
  'scripts/page'
]

/** A folder changes when a file in it is renamed or goes. */
function lastChange(path: string): number {
  const found = statSync(path)
  if (!found.isDirectory()) return found.mtimeMs
  return Math.max(found.mtimeMs, ...readdirSync(path).map((name) => lastChange(join(path, name))))
}

/** As make has it: `npm ci` has just built what it would build again. */
function isNewer(outputs: readonly string[]): boolean {
  const built = outputs.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return Math.min(...built) > Math.max(...sources.map(lastChange))
}

/** out/node: tests spawn the real program. */
export const buildProgram = () =>
  once('program', async () => {
    const parts = ['blockscope.js', 'engine.js', 'kernelManifests.js']
    if (isNewer(parts.map((name) => join('out/node', name)))) return
    await build({ configFile: 'vite.node.config.ts', logLevel: 'error' })
  })

/** out/main, out/preload and out/renderer: the desktop app, whose page is also what the server hands to a browser. */
export const buildDesktop = () =>
  once('desktop', async () => {
    const parts = ['main/index.js', 'main/engine.js', 'preload/index.cjs', 'renderer/index.html']
    if (isNewer(parts.map((name) => join('out', name)))) return
    const { build: buildParts } = await import('electron-vite')
    await buildParts({ logLevel: 'error' })
  })
