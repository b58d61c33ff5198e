import type { MenuItemConstructorOptions } from 'electron'
import { describe, expect, it, vi } from 'vitest'
import { menuTemplate } from '../../../../src-main/desktop/menu'
import type { MenuOptions } from '../../../../src-main/desktop/menu'

const menuOptions = (some: Partial<MenuOptions> = {}): MenuOptions => ({
  platform: 'linux',
  recentFiles: [],
  remoteHost: undefined,
  isDevelopment: false,
  runAction: vi.fn(),
  chooseFiles: vi.fn(),
  chooseFolder: vi.fn(),
  connectToCopied: vi.fn(),
  connectToThisComputer: vi.fn(),
  openFile: vi.fn(),
  clearRecentFiles: vi.fn(),
  ...some
})

function flat(items: MenuItemConstructorOptions[]): MenuItemConstructorOptions[] {
  return items.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? flat(item.submenu) : [])])
}
const find = (options: MenuOptions, label: string) =>
  flat(menuTemplate(options)).find((item) => item.label?.replace('&', '') === label)!
const click = (item: MenuItemConstructorOptions) => (item.click as () => void)()

describe('the menu', () => {
  it.each([
    ['Devices', 'go.devices', 'Alt+1'],
    ['Validate', 'go.validate', 'Alt+2'],
    ['Runs', 'go.runs', 'Alt+7'],
    ['Search commands', 'app.palette', 'CmdOrCtrl+K']
  ])('%s runs the action %s of the page, which owns the key', (label, id, accelerator) => {
    const options = menuOptions()
    const item = find(options, label)
    expect(item).toMatchObject({ accelerator, registerAccelerator: false })
    click(item)
    expect(options.runAction).toHaveBeenCalledWith(id)
  })

  it('opens files by dialog, and recent ones by name', () => {
    const options = menuOptions({ recentFiles: ['/a.hatchet', '/b.hatchet'] })
    click(find(options, 'Open...'))
    click(find(options, 'Open folder of a capture...'))
    expect(options.chooseFolder).toHaveBeenCalledTimes(1)
    expect(find(menuOptions({ remoteHost: 'host' }), 'Open folder of a capture...').enabled).toBe(
      false
    )
    click(find(options, '/b.hatchet'))
    click(find(options, 'Clear the list'))
    expect(options.chooseFiles).toHaveBeenCalledTimes(1)
    expect(options.openFile).toHaveBeenCalledWith('/b.hatchet')
    expect(options.clearRecentFiles).toHaveBeenCalledTimes(1)
    expect(find(menuOptions(), 'None yet').enabled).toBe(false)
  })

  it('connects to a server and leaves it; meanwhile files are opened by the page', () => {
    const here = menuOptions()
    click(find(here, 'Connect to copied address of a server'))
    expect(here.connectToCopied).toHaveBeenCalledTimes(1)
    expect(find(here, 'Leave the server').enabled).toBe(false)
    const there = menuOptions({ remoteHost: '127.0.0.1:7777', recentFiles: ['/a.hatchet'] })
    click(find(there, 'Leave 127.0.0.1:7777'))
    expect(there.connectToThisComputer).toHaveBeenCalledTimes(1)
    click(find(there, 'Open...'))
    expect(there.chooseFiles).not.toHaveBeenCalled()
    expect(there.runAction).toHaveBeenCalledWith('profile.open')
    expect(find(there, 'Open recent').enabled).toBe(false)
  })

  it('has developer tools only while developing', () => {
    const roles = (isDevelopment: boolean) =>
      flat(menuTemplate(menuOptions({ isDevelopment }))).map((item) => item.role)
    expect(roles(false)).not.toContain('toggleDevTools')
    expect(roles(true)).toContain('toggleDevTools')
  })

  it('has no accelerator twice', () => {
    for (const platform of ['linux', 'darwin', 'win32'] as const) {
      const keys = flat(menuTemplate(menuOptions({ platform })))
        .map((item) => item.accelerator)
        .filter(Boolean)
      expect(new Set(keys).size).toBe(keys.length)
    }
  })

  it('follows the platform', () => {
    const first = (platform: NodeJS.Platform) => menuTemplate(menuOptions({ platform }))[0]!
    expect(first('darwin').role).toBe('appMenu')
    expect(first('linux').label).toBe('&File')
  })
})
