import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

describe('native/test', () => {
  it('builds and every check holds', () => {
    const { status, stdout, stderr, error } = spawnSync('make', ['-s', '-j2', 'check'], {
      cwd: 'native/test',
      encoding: 'utf8',
      timeout: 300_000
    })
    expect(error).toBeUndefined()
    expect(`${stdout}${status === 0 ? '' : stderr}`).not.toMatch(/[1-9]\d* failed|error/i)
    expect(stdout.match(/ passed, 0 failed/g)).toHaveLength(5)
    expect(status).toBe(0)
  }, 300_000)
})
