import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { findElectron } from '../../../../src-main/cli/findElectron'
import { greeting } from '../../../../src-main/cli/serve'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-electron-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('what serve prints', () => {
  const url = 'http://127.0.0.1:7777/#t=secret'
  it('is the address, once, and a tunnel to the same port', () => {
    const text = greeting(url, 7777, '127.0.0.1').join('\n')
    expect(text.split('secret')).toHaveLength(2)
    expect(text).toMatch(/ssh -N -L 7777:127\.0\.0\.1:7777 \S+@\S+/)
    expect(text).not.toContain('Warning')
  })
  it.each(['0.0.0.0', '192.168.1.5', '::'])('is a warning when the network reaches %s', (host) => {
    const text = greeting(url, 7777, host).join('\n')
    expect(text).toContain(`Warning: ${host} can be reached from the network`)
    expect(text).not.toContain('ssh -N')
  })
  it('is no warning for other names of loopback', () => {
    for (const host of ['localhost', '::1', '127.0.0.5'])
      expect(greeting(url, 1, host).join('\n')).not.toContain('Warning')
  })
})

describe('Electron', () => {
  const put = (...parts: string[]) => {
    const path = join(folder, ...parts)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, '#!/bin/sh\n')
    chmodSync(path, 0o755)
    return path
  }
  it('is not found where there is none, and nothing is downloaded to find it', () =>
    expect(findElectron(join(folder, 'none'), {}, 'linux')).toBeUndefined())
  it('is found in node_modules', () => {
    const path = put('project', 'node_modules', 'electron', 'dist', 'electron')
    expect(findElectron(join(folder, 'project'), {}, 'linux')).toBe(path)
  })
  it('is found where ELECTRON_OVERRIDE_DIST_PATH says, before anywhere else', () => {
    const path = put('own', 'electron')
    const environment = { ELECTRON_OVERRIDE_DIST_PATH: join(folder, 'own') }
    expect(findElectron(join(folder, 'project'), environment, 'linux')).toBe(path)
  })
  it('has a name of its own on each system', () => {
    const mac = put('mac', 'Electron.app', 'Contents', 'MacOS', 'Electron')
    const windows = put('windows', 'electron.exe')
    const at = (name: string) => ({ ELECTRON_OVERRIDE_DIST_PATH: join(folder, name) })
    expect(findElectron(folder, at('mac'), 'darwin')).toBe(mac)
    expect(findElectron(folder, at('windows'), 'win32')).toBe(windows)
  })
})
