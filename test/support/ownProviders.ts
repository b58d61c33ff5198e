/** A place for files of Python kernels, and what a test of one asks for: a small product of the CPU. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** Its folder and store are removed after the file's tests. */
export function ownProviders() {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-provider-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const store = ['--store', join(folder, 'store')]
  const small = ['--device', 'cpu', '-M', '64', '-N', '32', '-K', '128', ...store, '--json']
  const fileOf = (name: string, source: string): string => {
    const path = join(folder, name)
    writeFileSync(path, source)
    return path
  }
  return { folder, store, small, fileOf }
}
