/** The rules that keep the house: what breaks them is told, with the place. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ESLint } from 'eslint'
import { afterAll, describe, expect, it } from 'vitest'

const folders: string[] = []
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })))

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-lint-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

describe('native/', () => {
  function lint(files: Record<string, string>, kernelFiles: Record<string, string> = {}) {
    const folder = folderWith(files)
    const kernels = folderWith(kernelFiles)
    cpSync('native/rooms.json', join(folder, 'rooms.json'))
    const { status, stderr } = spawnSync(
      process.execPath,
      ['scripts/lintNative.mjs', folder, kernels],
      { encoding: 'utf8' }
    )
    return { status, said: stderr.replaceAll(`${folder}/`, '').replaceAll(`${kernels}/`, '') }
  }

  it('a line beyond column 100 is refused, in kernels too', () => {
    const line = (length: number) => `// ${'-'.repeat(length - 3)}\n`
    const { status, said } = lint(
      { 'core/a.cpp': `\n${line(101)}`, 'core/b.cpp': line(100) },
      { 'cuda/c.cuh': line(101), 'cuda/d.cu': line(100), 'cuda/e.md': line(101) }
    )
    expect(said.trim().split('\n')).toEqual([
      'core/a.cpp:2: longer than 100 columns.',
      'cuda/c.cuh:1: longer than 100 columns.'
    ])
    expect(status).toBe(1)
  })

  it('a generic lambda is refused in kernels, which a session compiles by NVRTC', () => {
    const lambda = (parameter: string) => `const auto add = [&](${parameter}) { sum += a[i]; };\n`
    const { status, said } = lint(
      { 'core/a.cpp': lambda('auto x') },
      {
        'cuda/b.cuh': `\n${lambda('int i, const auto& x')}`,
        'cuda/c.cu': lambda('int i,\n    auto x'),
        'cuda/d.cu': lambda('int automatic'),
        'hip/e.hip': lambda('auto x')
      }
    )
    expect(said.trim().split('\n')).toEqual([
      'cuda/b.cuh:2: a lambda with a parameter of any type, which NVRTC refuses; write a function template.',
      'cuda/c.cu:1: a lambda with a parameter of any type, which NVRTC refuses; write a function template.'
    ])
    expect(status).toBe(1)
  })

  it('includes along rooms.json are fine', () => {
    const cpu = '#include "../core/a.h"\n#include <vector>\n'
    expect(lint({ 'core/a.h': '#pragma once\n', 'cpu/b.cpp': cpu })).toEqual({
      status: 0,
      said: ''
    })
  })

  it('an include against them is refused', () => {
    const { status, said } = lint({ 'core/a.cpp': '\n#include "../cpu/b.h"\n', 'cpu/b.h': '' })
    expect(said).toMatch(/^core\/a\.cpp:2: core includes cpu; it may include no other room/)
    expect(status).toBe(1)
  })

  it('a circle is refused, and shown once', () => {
    const files = {
      'core/a.h': '#include "b.h"\n',
      'core/b.h': '#include "c.h"\n',
      'core/c.h': '#include "a.h"\n'
    }
    const { status, said } = lint(files)
    expect(said).toBe('A circle: core/a.h -> core/b.h -> core/c.h -> core/a.h.\n')
    expect(status).toBe(1)
  })

  it('a file that is not there, an unknown room and a long line are refused', () => {
    const files = { 'core/a.h': '#include "gone.h"\n', 'metal/b.h': `// ${'x'.repeat(98)}\n` }
    const { said } = lint(files)
    expect(said).toContain('core/a.h:1: there is no file core/gone.h.')
    expect(said).toContain('metal is no room')
    expect(said).toContain('metal/b.h:1: longer than 100 columns.')
  })
})

describe('TypeScript', () => {
  function circles(files: Record<string, string>) {
    const folder = folderWith(files)
    const { status, stdout } = spawnSync(
      process.execPath,
      [
        join('node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs'),
        ...['--config', '.dependency-cruiser.cjs', folder]
      ],
      { encoding: 'utf8' }
    )
    return { status, stdout }
  }

  it('a circle is refused, one of types or through a page component too', () => {
    const types = {
      'a.ts': "import type { B } from './b'\nexport type A = B\n",
      'b.ts': "import { c } from './c'\nexport type B = typeof c\n",
      'c.ts': "import type { A } from './a'\nexport const c = 1 as unknown as A\n"
    }
    const page = {
      'Page.vue': '<script setup lang="ts">\nimport { d } from \'./d\'\nd()\n</script>\n',
      'd.ts': "import Page from './Page.vue'\nexport const d = () => Page\n"
    }
    for (const files of [types, page]) {
      const { status, stdout } = circles(files)
      expect(stdout).toContain('no-circles')
      expect(status).toBe(1)
    }
  })

  it('a line of imports is fine', () => {
    const files = { 'a.ts': "import { b } from './b'\nb()\n", 'b.ts': 'export const b = () => 1\n' }
    expect(circles(files).status).toBe(0)
  })

  const eslint = new ESLint()
  it.each([
    ['src-shared/formats/x.ts', '../layouts/layout', /formats imports only what lies beside/],
    ['src-shared/rpc/x.ts', '../report/html', /rpc imports only contract/],
    ['src-shared/profile/tree/x.ts', '../read/openProfile', /knows no reader/],
    ['src-shared/profile/ask/x.ts', '../../layouts/layout', /questions are about a tree/],
    ['src-renderer/charts/x.ts', '../stores/jobs', /charts imports only format/],
    ['src-main/store/x.ts', '../jobs/plan', /store knows only/]
  ])('%s may not import %s', async (filePath, wanted, why) => {
    const [result] = await eslint.lintText(`import '${wanted}'\n`, { filePath })
    expect(result!.messages.map(({ message }) => message).join()).toMatch(why)
    const [fine] = await eslint.lintText("import './y'\n", { filePath })
    expect(fine!.messages).toEqual([])
  })

  it.each([
    ["process.stdout.write('x')", /terminal\.ts/],
    ["process['stderr'].write('x')", /terminal\.ts/],
    ["console.log('x')", /console/],
    ["import { writeFileSync } from 'node:fs'\nwriteFileSync('a', 'b')", /files\.ts/],
    ["import { appendFile } from 'node:fs/promises'\nvoid appendFile('a', 'b')", /files\.ts/],
    ["import { createWriteStream } from 'node:fs'\ncreateWriteStream('a')", /files\.ts/],
    ["import { openSync } from 'node:fs'\nopenSync('a', 'w')", /files\.ts/]
  ])('no room of src-main but its ground may do: %s', async (text, why) => {
    for (const room of ['engine', 'store', 'jobs', 'transports', 'server', 'desktop', 'cli']) {
      const filePath = `src-main/${room}/x.ts`
      const [result] = await eslint.lintText(`${text}\n`, { filePath })
      const said = result!.messages.map(({ message }) => message).join()
      expect(said, room).toMatch(why)
    }
  })

  it.each([
    "it('a', () => {}, 60_000)",
    "it('a', { timeout: 60_000 }, () => {})",
    "it.each([1])('%s', () => {}, 60_000)",
    "it.skipIf(true)('a', () => {}, 60_000)",
    'beforeAll(() => {}, 60_000)',
    'await vi.waitFor(() => {}, { interval: 100, timeout: 60_000 })'
  ])('no test has a limit of time of its own: %s', async (text) => {
    for (const filePath of ['test/unit/x.test.ts', 'test/e2e/x.test.ts']) {
      const [result] = await eslint.lintText(`${text}\n`, { filePath })
      expect(result!.messages.map(({ message }) => message).join(), filePath).toMatch(
        /patience\.ts/
      )
    }
  })
})
