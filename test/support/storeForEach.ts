import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach } from 'vitest'
import { RunStore } from '../../src-main/store/runStore'

/** Hands each test of the file an empty store, in a folder that goes with it: what lies beside the store is the test's too. */
export function storeForEach(take: (store: RunStore, folder: string) => void): void {
  beforeEach(async () => {
    const around = await mkdtemp(join(tmpdir(), 'blockscope-store-'))
    const folder = join(around, 'runs')
    await mkdir(folder)
    take(new RunStore(folder), folder)
    return () => rm(around, { recursive: true, force: true })
  })
}
