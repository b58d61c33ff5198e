/** The desktop app's main process: one window on the page, the contract over a port, files from the system. */
import { join } from 'node:path'
import { app, clipboard, dialog, Menu, session } from 'electron'
import type { BrowserWindow } from 'electron'
import * as v from 'valibot'
import { messageOf } from '@shared/errors'
import { printFault, printNote } from '../ground/terminal'
import { parseServerAddress } from '../transports/remoteServer'
import type { ServerAddress } from '../transports/remoteServer'
import { askBeforeProgram } from './allowProgram'
import { readAppState, withRecentFile, writeAppState } from './appState'
import type { AppState } from './appState'
import { bridgePages } from './bridge'
import { channels } from './channels'
import { desktopApplication } from './desktopApplication'
import { guardContents, guardSession } from './guards'
import { openMainWindow } from './mainWindow'
import { menuTemplate } from './menu'
import { filesOf, isPage, openDialogOptions, openFolderOptions, pageOf } from './openFiles'
import { pageAddress } from './pageAddress'
import { registerPageScheme, servePage } from './pageProtocol'
import { takePythonFiles } from './pythonFiles'
import { guardQuitting } from './quitting'

const address = pageAddress(app.isPackaged ? undefined : process.env.ELECTRON_RENDERER_URL)
const files = filesOf(process.argv, process.cwd(), process.defaultApp)
const firstPage = pageOf(process.argv)

/** What a second start tells the first. */
const secondStartSchema = v.object({
  files: v.array(v.string()),
  page: v.optional(v.pipe(v.string(), v.check(isPage)))
})

app.enableSandbox()
registerPageScheme()
guardContents(app, address)

// A second start hands its files to the first and ends.
if (app.requestSingleInstanceLock({ files, page: firstPage })) void run()
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
      printNote(messageOf(error))
    }
  }
  let window: BrowserWindow | undefined
  const application = desktopApplication({
    takeProvider: takePythonFiles({
      dialog,
      window: () => window,
      folder: join(app.getPath('userData'), 'python-kernels')
    }),
    allowProgram: askBeforeProgram(dialog, () => window)
  })
  const ownContents = new Set<number>()
  guardSession(session.defaultSession, address)
  servePage(session.defaultSession, join(app.getAppPath(), 'out', 'renderer'), address)
  let remote: ServerAddress | undefined
  bridgePages(application.handlers, address, ownContents, () => remote)

  const quitting = guardQuitting({ app, application, window: () => window })
  const urlOf = (page?: string) => (page === undefined ? address.url : `${address.url}#${page}`)
  const showWindow = (page?: string) => {
    if (window) {
      if (window.isMinimized()) window.restore()
      window.focus()
      return
    }
    window = openMainWindow({
      state: state.window,
      preload: join(app.getAppPath(), 'out', 'preload', 'index.cjs'),
      url: urlOf(page),
      ownContents,
      onStateChange: (changed) => keep({ window: changed })
    })
    // On a Mac the app goes on without a window.
    if (process.platform !== 'darwin') window.on('close', quitting.onWindowClose)
    window.on('closed', () => (window = undefined))
  }

  /** Only the fragment changes, so what the page holds stays. A file is opened after it, to find its node asked for. */
  const showPage = async (page?: string): Promise<void> => {
    const existing = window
    showWindow(page)
    if (existing === undefined || page === undefined) return
    await existing.loadURL(urlOf(page)).catch((error) => printFault(page, error))
  }
  openFile = (path) => {
    // A server cannot read it.
    if (remote) connectTo(undefined)
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
  const chooseFolder = async () => {
    const { filePaths } = await dialog.showOpenDialog(openFolderOptions)
    filePaths.forEach((path) => openFile(path))
  }
  /** The page starts anew: what it holds belongs to the other machine. */
  const connectTo = (server: ServerAddress | undefined): void => {
    remote = server
    showMenu()
    window?.webContents.reload()
  }
  const connectToCopied = async (): Promise<void> => {
    try {
      connectTo(parseServerAddress(await clipboard.readText()))
    } catch (error) {
      await dialog.showMessageBox({ type: 'error', title: 'blockscope', message: messageOf(error) })
    }
  }
  const showMenu = () =>
    Menu.setApplicationMenu(
      Menu.buildFromTemplate(
        menuTemplate({
          platform: process.platform,
          recentFiles: state.recentFiles,
          remoteHost: remote?.host,
          isDevelopment: !app.isPackaged,
          runAction: (id) => window?.webContents.send(channels.action, id),
          chooseFiles: () => void chooseFiles(),
          chooseFolder: () => void chooseFolder(),
          connectToCopied: () => void connectToCopied(),
          connectToThisComputer: () => connectTo(undefined),
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
  showWindow(firstPage)
  waiting.forEach((path) => openFile(path))

  app.on('second-instance', (_event, _argv, _folder, data) => {
    const parsed = v.safeParse(secondStartSchema, data)
    const second = parsed.success ? parsed.output : { files: [] }
    void showPage(second.page).then(() => second.files.forEach((path) => openFile(path)))
  })
  app.on('activate', () => showWindow())
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit()
  })
}
