/** electron-builder.yml against electron-builder's own schema, and a package made from it around a stand-in for Electron. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import Ajv from 'ajv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { build, Platform } from 'electron-builder'
import type { Configuration } from 'electron-builder'

const require = createRequire(import.meta.url)
// js-yaml, which electron-builder itself reads the file with, has no types here.
const { load } = require('js-yaml') as { load(text: string): unknown }
const root = resolve(__dirname, '../../../..')
const config = load(readFileSync(join(root, 'electron-builder.yml'), 'utf8')) as Configuration

describe('electron-builder.yml', () => {
  const schema = JSON.parse(
    readFileSync(
      join(dirname(require.resolve('app-builder-lib/package.json')), 'scheme.json'),
      'utf8'
    )
  )
  const isValid = new Ajv({ strict: false, allErrors: true }).compile(schema)

  it('fits the schema of electron-builder', () => {
    isValid(config)
    expect(isValid.errors ?? []).toEqual([])
  })
  it('would not fit with a misspelt key or a wrong value', () => {
    expect(isValid({ ...config, asarUnpak: [] })).toBe(false)
    expect(isValid({ ...config, npmRebuild: 'no' })).toBe(false)
  })
  it('closes the fuses (item 19 of the checklist)', () =>
    expect(config.electronFuses).toEqual({
      runAsNode: false,
      enableCookieEncryption: true,
      enableNodeOptionsEnvironmentVariable: false,
      enableNodeCliInspectArguments: false,
      enableEmbeddedAsarIntegrityValidation: true,
      onlyLoadAppFromAsar: true,
      loadBrowserProcessSpecificV8Snapshot: false,
      grantFileProtocolExtraPrivileges: false
    }))
  it('takes listed files only, and does not rebuild the addon', () => {
    expect((config.files as string[]).filter((glob) => /^\*|^\.\//.test(glob))).toEqual([])
    expect(config.npmRebuild).toBe(false)
    expect(config.asarUnpack).toEqual(['native/build/Release/blockscope.node'])
  })
  it('is associated with both kinds of profile', () =>
    expect([config.fileAssociations].flat().map((kind) => kind!.ext)).toEqual([
      'hatchet',
      'hatchet_msgpack'
    ]))
  it('names targets for each system', () => {
    expect(config.linux!.target).toEqual(['AppImage', 'deb'])
    expect([config.win!.target, config.mac!.target]).toEqual(['nsis', 'dmg'])
  })
  it('is never started without its sandbox', () =>
    expect(readFileSync(join(root, 'electron-builder.yml'), 'utf8')).not.toContain('no-sandbox'))
})

describe.skipIf(process.platform !== 'linux')('a package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-package-'))
  const project = join(folder, 'project')
  const electronDist = join(folder, 'electron')
  const resources = join(folder, 'dist', 'linux-unpacked', 'resources')

  function put(path: string, content: string | Buffer = `content of ${path}`): void {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), content)
  }

  beforeAll(async () => {
    mkdirSync(join(electronDist, 'locales'), { recursive: true })
    mkdirSync(join(electronDist, 'resources'))
    writeFileSync(join(electronDist, 'electron'), '#!/bin/sh\n')
    chmodSync(join(electronDist, 'electron'), 0o755)
    writeFileSync(join(electronDist, 'version'), '45.4.1')
    const { name, version, description, license, type, main } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8')
    )
    put(
      'package.json',
      JSON.stringify({ name, version, description, license, type, main, author: 'blockscope' })
    )
    put('resources/icons/icon.png', readFileSync(join(root, 'resources/icons/icon.png')))
    put('out/main/index.js')
    put('out/main/index.js.map')
    put('out/preload/index.cjs')
    put('out/renderer/index.html')
    put('out/node/blockscope.js')
    put('out/node/blockscope.js.map')
    put('native/build/Release/blockscope.node')
    put('native/build/Release/blockscope_inject.node')
    put('native/core/backend.h')
    put('resources/kernels/cuda/manifest.json')
    put('resources/providers/triton.py')
    put('resources/examples/column-pairs.json')
    put('src-main/desktop/index.ts')
    put('.env', 'SECRET=1')
    put('notes.txt')
    await build({
      projectDir: project,
      targets: Platform.LINUX.createTarget('dir'),
      publish: 'never',
      config: {
        ...config,
        afterPack: join(root, config.afterPack as string),
        directories: { ...config.directories, output: join(folder, 'dist') },
        electronDist,
        electronVersion: '45.4.1',
        // A stand-in has no fuses to flip.
        electronFuses: undefined
      }
    })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('holds the bundles and the addon, and nothing else of the project', () => {
    const asar = readAsar(join(resources, 'app.asar'))
    expect(asar.sort()).toEqual([
      'native/build/Release/blockscope.node',
      'out/main/index.js',
      'out/preload/index.cjs',
      'out/renderer/index.html',
      'package.json'
    ])
  })

  it('has the addon, the kernels and the command line as plain files', () => {
    for (const path of [
      'app.asar.unpacked/native/build/Release/blockscope.node',
      'kernels/cuda/manifest.json',
      'providers/triton.py',
      'examples/column-pairs.json',
      'cli/out/node/blockscope.js',
      'cli/out/renderer/index.html',
      'cli/native/build/Release/blockscope.node',
      'cli/native/build/Release/blockscope_inject.node',
      'cli/resources/kernels/cuda/manifest.json',
      'cli/resources/examples/column-pairs.json',
      'cli/package.json'
    ])
      expect(existsSync(join(resources, path)), path).toBe(true)
    expect(existsSync(join(resources, 'cli/out/node/blockscope.js.map'))).toBe(false)
  })
})

interface AsarFolder {
  files: Record<string, AsarFolder | { size: number }>
}

/** Paths in an asar archive: a Pickle of two sizes, then the header as JSON (github.com/electron/asar, "Format"). */
function readAsar(path: string): string[] {
  const bytes = readFileSync(path)
  const header = JSON.parse(bytes.toString('utf8', 16, 16 + bytes.readUInt32LE(12))) as AsarFolder
  const list = (folder: AsarFolder, prefix: string): string[] =>
    Object.entries(folder.files).flatMap(([name, entry]) =>
      'files' in entry ? list(entry, `${prefix}${name}/`) : [prefix + name]
    )
  return list(header, '')
}
