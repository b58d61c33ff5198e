import type { BrowserWindowConstructorOptions } from 'electron'
import type { WindowState } from './appState'

/** Everything a window is made with; the security relevant values are written out although they are the defaults. */
export function windowOptions(
  state: WindowState,
  preload: string,
  isDark: boolean
): BrowserWindowConstructorOptions {
  return {
    ...state.bounds,
    minWidth: 800,
    minHeight: 560,
    title: 'blockscope',
    show: false,
    // What is seen before the first paint, in the page's own background colours.
    backgroundColor: isDark ? '#101214' : '#ffffff',
    webPreferences: {
      preload,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webviewTag: false,
      spellcheck: false,
      // A sweep's chart goes on while another window has the focus.
      backgroundThrottling: false
    }
  }
}
