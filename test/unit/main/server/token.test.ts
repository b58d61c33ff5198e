import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { hasDisplay, redirectPage } from '../../../../src-main/server/openBrowser'
import { isToken, tokenFromFile } from '../../../../src-main/server/token'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-token-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('a token file', () => {
  it('is made for its owner only, and read at the next start', () => {
    const path = join(folder, 'token')
    const token = tokenFromFile(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8').trim()).toBe(token)
    expect(tokenFromFile(path)).toBe(token)
  })
  it('that others can read is refused', () => {
    const path = join(folder, 'open')
    tokenFromFile(path)
    chmodSync(path, 0o644)
    expect(() => tokenFromFile(path)).toThrow(`chmod 600 ${path}`)
  })
  it('that holds something else is refused', () => {
    const path = join(folder, 'short')
    writeFileSync(path, 'secret\n', { mode: 0o600 })
    expect(() => tokenFromFile(path)).toThrow('holds no token')
  })
  it('that cannot be made is refused with the reason', () => {
    expect(() => tokenFromFile(join(folder, 'no', 'folder'))).toThrow('there is no folder')
  })
})

it('tokens are equal only when they are the same', () => {
  expect(isToken('abc', 'abc')).toBe(true)
  expect(isToken('abc', 'abd')).toBe(false)
  expect(isToken('abc', 'abcd')).toBe(false)
  expect(isToken('abc', '')).toBe(false)
})

it('a display is X11 or Wayland on Linux, and always there elsewhere', () => {
  expect(hasDisplay({}, 'linux')).toBe(false)
  expect(hasDisplay({ DISPLAY: ':0' }, 'linux')).toBe(true)
  expect(hasDisplay({ WAYLAND_DISPLAY: 'wayland-0' }, 'linux')).toBe(true)
  expect(hasDisplay({}, 'darwin')).toBe(true)
})

it('the page that leads on to the address holds it, for a browser to follow', () => {
  expect(redirectPage('http://127.0.0.1:1/#t=x')).toContain(
    'content="0;url=http://127.0.0.1:1/#t=x"'
  )
})
