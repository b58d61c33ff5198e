/** The desktop app's main process: one window on the page, the contract over a port, files from the system. */
import { join } from 'node:path'
import { app, dialog, Menu, session } from 'electron'
import type { BrowserWindow } from 'electron'
import * as v from 'valibot'
import { readAppState, withRecentFile, writeAppState } from './appState'
import type { AppState } from './appState'
import { bridgePages } from './bridge'
import { channels } from './channels'
import { desktopApplication } from './desktopApplication'
import { guardContents, guardSession } from './guards'
import { openMainWindow } from './mainWindow'
import { menuTemplate } from './menu'
import { filesOf, openDialogOptions } from './openFiles'
import { pageAddress } from './pageAddress'
import { registerPageScheme, servePage } from './pageProtocol'

const address = pageAddress(app.isPackaged ? undefined : process.env.ELECTRON_RENDERER_URL)
const files = filesOf(process.argv, process.cwd(), process.defaultApp)

/** What a second start tells the first. */
const secondStartSchema = v.object({ files: v.array(v.string()) })

app.enableSandbox()
registerPageScheme()
guardContents(app, address)

// A second start hands its files to the first and ends.
if (app.requestSingleInstanceLock({ files })) void run()
else app.quit()

async function run(): Promise<void> {
  // Files may be asked for before the app is ready, so listening begins at once.
  const waiting = [...files]
  let openFile = (path: string): void => void waiting.push(path)
  app.on('open-file', (event, path) => {
    event.preventDefault()
    openFile(path)
  })
  await app.whenReady()

  const statePath = join(app.getPath('userData'), 'state.json')
  let state = readAppState(statePath)
  const keep = (change: Partial<AppState>) => {
    state = { ...state, ...change }
    try {
      writeAppState(statePath, state)
    } catch (error) {
      // A full disk costs the window's place, not the app.
      console.error(`${statePath} cannot be written:`, error)
    }
  }
  const application = desktopApplication()
  const ownContents = new Set<number>()
  guardSession(session.defaultSession, address)
  servePage(session.defaultSession, join(app.getAppPath(), 'out', 'renderer'), address)
  bridgePages(application.handlers, address, ownContents)

  let window: BrowserWindow | undefined
  const showWindow = () => {
    if (window) {
      if (window.isMinimized()) window.restore()
      window.focus()
      return
    }
    window = openMainWindow({
      state: state.window,
      preload: join(app.getAppPath(), 'out', 'preload', 'index.cjs'),
      url: address.url,
      ownContents,
      onStateChange: (changed) => keep({ window: changed })
    })
    window.on('closed', () => (window = undefined))
  }

  openFile = (path) => {
    application.openFile(path)
    app.addRecentDocument(path)
    keep({ recentFiles: withRecentFile(state.recentFiles, path) })
    showMenu()
    showWindow()
  }
  const chooseFiles = async () => {
    const { filePaths } = await dialog.showOpenDialog(openDialogOptions)
    filePaths.forEach((path) => openFile(path))
  }
  const showMenu = () =>
    Menu.setApplicationMenu(
      Menu.buildFromTemplate(
        menuTemplate({
          platform: process.platform,
          recentFiles: state.recentFiles,
          isDevelopment: !app.isPackaged,
          runAction: (id) => window?.webContents.send(channels.action, id),
          chooseFiles: () => void chooseFiles(),
          openFile,
          clearRecentFiles() {
            app.clearRecentDocuments()
            keep({ recentFiles: [] })
            showMenu()
          }
        })
      )
    )

  showMenu()
  showWindow()
  waiting.forEach((path) => openFile(path))

  app.on('second-instance', (_event, _argv, _folder, data) => {
    showWindow()
    const parsed = v.safeParse(secondStartSchema, data)
    if (parsed.success) parsed.output.files.forEach((path) => openFile(path))
  })
  app.on('activate', showWindow)
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit()
  })
  let isClosed = false
  app.on('will-quit', (event) => {
    if (isClosed) return
    // What runs is cancelled and put on disk, and the engine ended, before the app goes.
    event.preventDefault()
    void application.close().finally(() => {
      isClosed = true
      app.quit()
    })
  })
}
