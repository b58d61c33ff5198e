/**
 * A block-scaled format is a row in TypeScript and a row in C++, nothing else: a copy of the tree with both is built here,
 * and every kernel, command and export of the copy has the format.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyBlockFormat } from '@shared/formats/blockFormat'
import type { Kernel } from '@shared/contract/devices'

const id = 'mxfp6_e2m3_e3m2'
/** Each file with the line that stays and the one that is added behind it. */
const rows = {
  'src-shared/formats/blockFormat.ts': [
    "row('mxfp6_e3m2', 'MXFP6 E3M2', 'e3m2', 'e3m2', 'e8m0', 32)",
    `,\n  row('${id}', 'MXFP6 E2M3 x E3M2', 'e2m3', 'e3m2', 'e8m0', 32)`
  ],
  'native/core/formats.cpp': [
    '{"mxfp6_e3m2", kE3m2, kE3m2, kE8m0, 32},',
    `\n      {"${id}", kE2m3, kE3m2, kE8m0, 32},`
  ]
} as const

let copy: string
const objects = resolve('native/build/Release/obj.target/blockscope')

function blockscope(...words: string[]) {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(copy, 'out/node/blockscope.js'), ...words],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        BLOCKSCOPE_ADDON: join(copy, 'blockscope.node'),
        BLOCKSCOPE_STORE: join(copy, 'store')
      }
    }
  )
  return { stdout, stderr, status }
}

/** The addon's own objects, but for the one that was changed. */
function linkAddon(): void {
  const changed = join(copy, 'formats.o')
  const compiler = process.env.CXX ?? 'c++'
  const source = join(copy, 'native/core/formats.cpp')
  execFileSync(compiler, ['-std=c++20', '-O1', '-fPIC', '-c', '-o', changed, source])
  const all = readdirSync(objects, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.o') && name !== join('core', 'formats.o'))
    // An object may have outlived its source.
    .filter((name) => existsSync(join('native', name.replace(/\.o$/, '.cpp'))))
    .map((name) => join(objects, name))
  const made = join(copy, 'blockscope.node')
  execFileSync(compiler, ['-shared', '-o', made, ...all, changed, '-lpthread', '-ldl'])
}

describe.skipIf(process.platform !== 'linux')('a format that is added', () => {
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'blockscope-format-'))
    const taken = ['src-shared', 'src-main', 'native/core', 'resources/kernels', 'package.json']
    for (const path of [...taken, 'vite.node.config.ts', 'tsconfig.base.json'])
      cpSync(path, join(copy, path), { recursive: true })
    symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
    for (const [path, [before, row]] of Object.entries(rows)) {
      const text = readFileSync(path, 'utf8')
      expect(text.split(before)).toHaveLength(2)
      writeFileSync(join(copy, path), text.replace(before, before + row))
    }
    linkAddon()
    const vite = resolve('node_modules/vite/bin/vite.js')
    const words = ['build', '--config', 'vite.node.config.ts', '--logLevel', 'error']
    execFileSync(process.execPath, [vite, ...words], { cwd: copy, stdio: 'pipe' })
  })
  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  it('takes two rows', () => expect(Object.keys(rows)).toHaveLength(2))

  it('is offered by every kernel of the CPU', () => {
    const { devices } = JSON.parse(blockscope('devices', '--json').stdout) as {
      devices: { id: string; kernels: Kernel[] }[]
    }
    for (const { capabilities } of devices.find((device) => device.id === 'cpu')!.kernels) {
      expect(capabilities).toHaveLength(everyBlockFormat.length)
      expect(capabilities.map(({ format }) => format)).toContain(id)
    }
  })

  it('validates on all of them, with scales that act', () => {
    const shape = ['-M', '96', '-N', '80', '-K', '128']
    const { stdout, stderr, status } = blockscope(
      ...['validate', '--device', 'cpu', '--formats', id, '--json', ...shape]
    )
    expect(stderr).not.toContain('rror')
    expect(status).toBe(0)
    const { steps } = JSON.parse(stdout) as {
      steps: { format: string; disposition: string; validation: { perturbationA: object } }[]
    }
    expect(steps.length).toBeGreaterThan(0)
    for (const { format, disposition, validation } of steps) {
      expect([format, disposition]).toEqual([id, 'passed'])
      expect(validation.perturbationA).toMatchObject({ state: 'passed' })
    }
  })

  it('is in the kernels that claim every format, and in the commands', () => {
    const { stdout } = blockscope('formats', id)
    expect(stdout).toContain('MXFP6 E2M3 x E3M2')
    const refused = blockscope('validate', '--formats', 'mxfp7').stderr
    expect(refused).toContain(id)
    const script = `
      import { readKernelManifests } from ${JSON.stringify(join(copy, 'out/node/kernelManifests.js'))}
      const { sources } = readKernelManifests([${JSON.stringify(join(copy, 'resources/kernels/cuda'))}])
      const claim = ({ formats }) => formats.some(({ format }) => format === ${JSON.stringify(id)})
      console.log(sources.filter(claim).map(({ id }) => id).join())`
    const claimed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8'
    })
    expect(claimed.trim().split(',')).toEqual(expect.arrayContaining(['simt', 'mma', 'wgmma']))
  })
})
