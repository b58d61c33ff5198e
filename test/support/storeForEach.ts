import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach } from 'vitest'
import { RunStore } from '../../src-main/store/runStore'

/** Hands each test of the file an empty store, in a folder that goes with it. */
export function storeForEach(take: (store: RunStore, folder: string) => void): void {
  beforeEach(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'blockscope-store-'))
    take(new RunStore(folder), folder)
    return () => rm(folder, { recursive: true, force: true })
  })
}
