import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

/** The GPU test itself, so that a GPU machine finds a script that runs. */
describe.skipIf(process.platform !== 'linux')('test/gpu/capture', () => {
  it('passes on the stand-ins', () => {
    const words = ['test/gpu/capture/run.mjs', '--stub']
    const { stdout, status } = spawnSync(process.execPath, words, { encoding: 'utf8' })
    expect(stdout).toMatch(/^\d+ passed, 0 failed$/m)
    expect(status).toBe(0)
  })
})
