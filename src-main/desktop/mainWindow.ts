import { BrowserWindow, dialog, nativeTheme, screen } from 'electron'
import type { MessageBoxOptions } from 'electron'
import { onDisplay } from './appState'
import type { WindowState } from './appState'
import { windowOptions } from './windowOptions'

export interface MainWindowOptions {
  state: WindowState
  preload: string
  url: string
  /** Contents that may ask for the contract. */
  ownContents: Set<number>
  onStateChange(state: WindowState): void
}

/** Opens the window where it was last, watches that its page lives, and tells where it goes. */
export function openMainWindow(options: MainWindowOptions): BrowserWindow {
  const workAreas = screen.getAllDisplays().map((display) => display.workArea)
  const state = onDisplay(options.state, workAreas)
  const window = new BrowserWindow(
    windowOptions(state, options.preload, nativeTheme.shouldUseDarkColors)
  )
  const { id } = window.webContents
  options.ownContents.add(id)
  window.once('ready-to-show', () => {
    if (state.isMaximized) window.maximize()
    window.show()
  })
  window.on('close', () =>
    options.onStateChange({
      bounds: window.getNormalBounds(),
      isMaximized: window.isMaximized()
    })
  )
  window.on('closed', () => options.ownContents.delete(id))
  watchPage(window)
  void window.loadURL(options.url)
  return window
}

const reloadButton = 0

/** A page that crashed or hangs is said so and can be loaded again; jobs run in other processes and go on. */
function watchPage(window: BrowserWindow): void {
  let isAsking = false
  async function ask(question: MessageBoxOptions): Promise<void> {
    if (isAsking || window.isDestroyed()) return
    isAsking = true
    const { response } = await dialog.showMessageBox(window, {
      type: 'error',
      title: 'blockscope',
      noLink: true,
      ...question
    })
    isAsking = false
    if (response !== reloadButton) return
    // Not within the event that told of the end: Chromium is still taking the dead page down and would end the app.
    setImmediate(() => {
      if (!window.isDestroyed()) window.webContents.reload()
    })
  }
  window.webContents.on('render-process-gone', (_event, { reason, exitCode }) => {
    if (reason === 'clean-exit') return
    void ask({
      message: "The window's page has stopped.",
      detail: `Reason: ${reason} (${exitCode}). Jobs go on, and results so far are saved.`,
      buttons: ['Reload', 'Leave it']
    })
  })
  window.webContents.on('unresponsive', () => {
    void ask({
      type: 'warning',
      message: "The window's page does not respond.",
      detail: 'Jobs go on, and results so far are saved.',
      buttons: ['Reload', 'Wait']
    })
  })
}
