import type { MenuItemConstructorOptions } from 'electron'

export interface MenuOptions {
  platform: NodeJS.Platform
  recentFiles: readonly string[]
  /** Host of the server that the window shows; undefined for this computer. */
  remoteHost: string | undefined
  /** Shows developer tools and reload, which an installed app does not have. */
  isDevelopment: boolean
  /** Runs one of the page's actions, by its id. */
  runAction(id: string): void
  chooseFiles(): void
  /** Of a capture. */
  chooseFolder(): void
  /** To the server whose address is in the clipboard. */
  connectToCopied(): void
  connectToThisComputer(): void
  openFile(path: string): void
  clearRecentFiles(): void
}

const views = ['Devices', 'Validate', 'Sweep', 'Profile', 'Formats', 'Layouts', 'Runs']

const separator: MenuItemConstructorOptions = { type: 'separator' }

/**
 * The native menu. The page owns the shortcuts of its actions, as it does in a browser; the menu shows them without
 * taking the keys.
 */
export function menuTemplate(options: MenuOptions): MenuItemConstructorOptions[] {
  const isMac = options.platform === 'darwin'
  const isRemote = options.remoteHost !== undefined
  const action = (label: string, id: string, accelerator?: string): MenuItemConstructorOptions => ({
    label,
    accelerator,
    registerAccelerator: false,
    click: () => options.runAction(id)
  })
  const file: MenuItemConstructorOptions = {
    label: '&File',
    submenu: [
      {
        label: '&Open...',
        accelerator: 'CmdOrCtrl+O',
        // A server reads no files of this computer; what the page's own dialog opens stays in the page.
        ...(isRemote
          ? { registerAccelerator: false, click: () => options.runAction('profile.open') }
          : { click: () => options.chooseFiles() })
      },
      {
        label: 'Open &folder of a capture...',
        // A server reads no folders of this computer; the page's own chooser is in Capture.
        enabled: !isRemote,
        click: () => options.chooseFolder()
      },
      { label: 'Open &recent', enabled: !isRemote, submenu: recentFiles(options) },
      separator,
      { label: 'Connect to &copied address of a server', click: () => options.connectToCopied() },
      {
        label: isRemote ? `&Leave ${options.remoteHost}` : '&Leave the server',
        enabled: isRemote,
        click: () => options.connectToThisComputer()
      },
      separator,
      isMac ? { role: 'close' } : { role: 'quit' }
    ]
  }
  const view: MenuItemConstructorOptions = {
    label: '&View',
    submenu: [
      ...views.map((name, index) => action(name, `go.${name.toLowerCase()}`, `Alt+${index + 1}`)),
      separator,
      action('Search commands', 'app.palette', 'CmdOrCtrl+K'),
      separator,
      { role: 'resetZoom' },
      { role: 'zoomIn' },
      { role: 'zoomOut' },
      { role: 'togglefullscreen' },
      ...(options.isDevelopment
        ? [separator, { role: 'reload' } as const, { role: 'toggleDevTools' } as const]
        : [])
    ]
  }
  const help: MenuItemConstructorOptions = {
    role: 'help',
    submenu: [action('Keyboard shortcuts', 'app.shortcuts', '?'), { role: 'about' }]
  }
  return [
    ...(isMac ? [{ role: 'appMenu' } as const] : []),
    file,
    { role: 'editMenu' },
    view,
    { role: 'windowMenu' },
    help
  ]
}

function recentFiles(options: MenuOptions): MenuItemConstructorOptions[] {
  if (options.recentFiles.length === 0) return [{ label: 'None yet', enabled: false }]
  return [
    ...options.recentFiles.map((path) => ({ label: path, click: () => options.openFile(path) })),
    separator,
    { label: 'Clear the list', click: () => options.clearRecentFiles() }
  ]
}
