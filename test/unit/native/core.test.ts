import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { testLimit } from '../../support/patience'

const programs = readdirSync('native/test').filter((name) => name.endsWith('.cpp'))

describe('native/test', () => {
  it('builds and every check holds', () => {
    const { status, stdout, stderr, error } = spawnSync('make', ['-s', '-j2', 'check'], {
      cwd: 'native/test',
      encoding: 'utf8',
      timeout: testLimit
    })
    expect(error).toBeUndefined()
    for (const skipped of stdout.match(/^skipped: .*$/gm) ?? []) console.warn(skipped)
    expect(`${stdout}${status === 0 ? '' : stderr}`).not.toMatch(/[1-9]\d* failed|\berror\b/i)
    expect(stdout.match(/ passed, 0 failed/g)).toHaveLength(programs.length)
    expect(status).toBe(0)
  })
})
