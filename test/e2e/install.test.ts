/** `npm pack` makes a tarball that `npm install -g` turns into a working `blockscope`, far from the clone. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServerProcess } from './support/server'

interface Packed {
  filename: string
  size: number
  files: { path: string }[]
}

// On Windows and macOS npm lays a prefix out differently.
describe.skipIf(process.platform !== 'linux')('npm pack and npm install -g', () => {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-install-'))
  const prefix = join(folder, 'prefix')
  const installed = join(prefix, 'lib', 'node_modules', 'blockscope')
  const command = join(prefix, 'bin', 'blockscope')
  const environment = { ...process.env, XDG_DATA_HOME: join(folder, 'data') }
  const npm = (...words: string[]) =>
    execFileSync('npm', words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const blockscope = (...words: string[]) =>
    spawnSync(command, words, { cwd: folder, env: environment, encoding: 'utf8' })
  let packed: Packed

  beforeAll(() => {
    // The parts are built: by npm ci, and by this run of the tests.
    const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
    packed = (JSON.parse(npm(...words, process.cwd())) as Packed[])[0]!
    // What it needs is in the tarball: no registry is asked.
    npm('install', '-g', '--offline', '--ignore-scripts', '--prefix', prefix, packed.filename)
    seedObjects()
    npm('rebuild', '-g', '--prefix', prefix, 'blockscope')
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /**
   * Spares most of a minute of compiling the same sources again: their objects stand beside them, as old as they are. One
   * object and the addon are missing, and make knows every source and header that the others came from: one that is not in
   * the tarball fails the installation. BLOCKSCOPE_TEST_FULL_INSTALL=1 compiles all.
   */
  function seedObjects(): void {
    if (process.env.BLOCKSCOPE_TEST_FULL_INSTALL === '1') return
    const build = join(installed, 'native', 'build')
    const isSpared = (path: string) => /convert\.o(\.d)?$|blockscope\.node/.test(path)
    cpSync('native/build', build, { recursive: true, filter: (path) => !isSpared(path) })
    const now = new Date()
    for (const path of readdirSync(build, { recursive: true, encoding: 'utf8' }))
      utimesSync(join(build, path), now, now)
  }

  it('holds the program, the page, the kernels and the native sources, and no more', () => {
    const paths = packed.files.map(({ path }) => path)
    for (const path of [
      'out/node/blockscope.js',
      'out/node/engine.js',
      'out/renderer/index.html',
      'out/main/index.js',
      'resources/kernels/cuda/manifest.json',
      'resources/providers/triton/provider.py',
      'native/binding.gyp',
      'node_modules/node-addon-api/napi.h',
      'README.md',
      'LICENSE'
    ])
      expect(paths).toContain(path)
    expect(
      paths.filter((path) => /^(test|src-|scripts|docs\/(results|screenshots))/.test(path))
    ).toEqual([])
    expect(paths.filter((path) => /^native\/(build|test)\//.test(path))).toEqual([])
    expect(packed.size).toBeLessThan(4e6)
  })

  it('compiles the addon', () => {
    const addon = join(installed, 'native', 'build', 'Release', 'blockscope.node')
    expect(statSync(addon).size).toBeGreaterThan(500_000)
    expect(existsSync(join(installed, 'node_modules', 'node-gyp'))).toBe(false)
  })

  it('runs from anywhere: version, validation through the addon, kernels', () => {
    expect(blockscope('--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    const validated = blockscope('validate', '-M', '64', '-N', '64', '-K', '64')
    expect(validated.stderr).not.toMatch(/^blockscope: /m)
    expect(validated.stdout).toMatch(/^Passed: (\d+) of \1 passed, on /m)
    expect(validated.stdout).toContain(join(folder, 'data'))
    expect(validated.status).toBe(0)
    const devices = blockscope('devices', '--json')
    expect(JSON.parse(devices.stdout)).toBeTruthy()
  })

  it('serves the page', async () => {
    const server = await startServerProcess({
      programFile: join(installed, 'out/node/blockscope.js')
    })
    try {
      const page = await (await fetch(new URL('/', server.url))).text()
      const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(page)![1]!
      expect((await fetch(new URL(script, server.url))).status).toBe(200)
    } finally {
      await server.stop()
    }
  })
})
