import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { runInProcess } from '../../../support/runInProcess'

/** The command line with a store of its own, in a folder that goes with the tests of the file. */
export function blockscopeInStore() {
  const store = mkdtempSync(join(tmpdir(), 'blockscope-cli-'))
  afterAll(() => rm(store, { recursive: true, force: true }))
  const blockscope = (...args: string[]) => runInProcess(args, { BLOCKSCOPE_STORE: store })
  return { store, blockscope }
}
