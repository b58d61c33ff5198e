/** The main process from start to end, on a stand-in for Electron that keeps what it is told. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MenuItemConstructorOptions } from 'electron'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FakeWindow } from './electronFake'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-main-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const fake = await vi.hoisted(async () => {
  const { EventEmitter } = await import('node:events')
  const order: string[] = []
  const app = Object.assign(new EventEmitter(), {
    isPackaged: true,
    isFirst: true,
    userData: '',
    enableSandbox: () => void order.push('enableSandbox'),
    requestSingleInstanceLock: () => app.isFirst,
    whenReady: async () => void order.push('ready'),
    quit: vi.fn(),
    getPath: () => app.userData,
    getAppPath: () => '/app',
    addRecentDocument: vi.fn(),
    clearRecentDocuments: vi.fn()
  })
  const application = {
    handlers: {},
    openFile: vi.fn(),
    jobs: { list: vi.fn(() => [] as object[]) },
    close: vi.fn(async () => {})
  }
  return {
    app,
    application,
    order,
    ipcMain: new EventEmitter(),
    menus: [] as unknown[],
    windows: [] as FakeWindow[],
    clipboard: { text: '' },
    dialog: {
      showOpenDialog: vi.fn(async () => ({ filePaths: [] as string[] })),
      showMessageBox: vi.fn(async () => ({ response: 0 }))
    }
  }
})

vi.mock('electron', async () => {
  const { FakeSession, FakeWindow } = await import('./electronFake')
  class Window extends FakeWindow {
    isMinimized = () => true
    restore = vi.fn()
    focus = vi.fn()
    constructor(options: unknown) {
      super(options)
      fake.windows.push(this)
    }
  }
  return {
    app: fake.app,
    BrowserWindow: Window,
    clipboard: { readText: async () => fake.clipboard.text },
    dialog: fake.dialog,
    ipcMain: fake.ipcMain,
    Menu: {
      buildFromTemplate: (template: unknown) => template,
      setApplicationMenu: (menu: unknown) => fake.menus.push(menu)
    },
    MessageChannelMain: class {},
    nativeTheme: { shouldUseDarkColors: true },
    protocol: { registerSchemesAsPrivileged: () => fake.order.push('registerScheme') },
    screen: { getAllDisplays: () => [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }] },
    session: { defaultSession: new FakeSession() },
    utilityProcess: {}
  }
})
vi.mock('../../../../src-main/desktop/desktopApplication', () => ({
  desktopApplication: () => fake.application
}))

const { app, application } = fake
const openedFiles = () => application.openFile.mock.calls.map(([path]) => path)

/** Runs the main process' module anew, as at a start of the app. */
async function startApp(isFirst = true): Promise<void> {
  app.isFirst = isFirst
  vi.resetModules()
  await import('../../../../src-main/desktop/index')
  if (isFirst) await vi.waitFor(() => expect(fake.menus.length).toBeGreaterThan(0))
}

beforeEach(() => {
  app.userData = mkdtempSync(join(folder, 'user-'))
  app.removeAllListeners()
  fake.ipcMain.removeAllListeners()
  fake.order.length = 0
  fake.menus.length = 0
  fake.windows.length = 0
  vi.clearAllMocks()
})

describe('a start', () => {
  it('hardens the app before it is ready, then opens one window on the page', async () => {
    await startApp()
    expect(fake.order).toEqual(['enableSandbox', 'registerScheme', 'ready'])
    expect(fake.windows).toHaveLength(1)
    expect(fake.windows[0]!.loadURL).toHaveBeenCalledWith('app://blockscope/')
    expect(fake.windows[0]!.options).toMatchObject({
      webPreferences: { preload: join('/app', 'out', 'preload', 'index.cjs') }
    })
    expect(app.listenerCount('web-contents-created')).toBe(1)
    expect(fake.ipcMain.eventNames()).toEqual(['blockscope:connect'])
  })

  it('while the app runs already ends, and opens nothing', async () => {
    await startApp(false)
    expect(app.quit).toHaveBeenCalledTimes(1)
    expect(fake.windows).toHaveLength(0)
  })

  it('in a packaged app takes no page from the environment', async () => {
    vi.stubEnv('ELECTRON_RENDERER_URL', 'http://evil.example')
    await startApp()
    expect(fake.windows[0]!.loadURL).toHaveBeenCalledWith('app://blockscope/')
    vi.unstubAllEnvs()
  })
})

describe('files', () => {
  it('asked for before the app is ready are opened once it is', async () => {
    app.whenReady = async () => {
      app.emit('open-file', { preventDefault: vi.fn() }, '/early.hatchet')
    }
    await startApp()
    await vi.waitFor(() => expect(openedFiles()).toEqual(['/early.hatchet']))
    app.whenReady = async () => {}
  })

  it('of a second start are opened here, and the window comes forward', async () => {
    await startApp()
    const window = fake.windows[0] as FakeWindow & {
      focus: ReturnType<typeof vi.fn>
      restore: ReturnType<typeof vi.fn>
    }
    app.emit('second-instance', {}, [], '/', { files: ['/a.hatchet', '/b.hatchet'] })
    app.emit('second-instance', {}, [], '/', { files: '/c.hatchet' })
    app.emit('second-instance', {}, [], '/', null)
    await vi.waitFor(() => expect(openedFiles()).toEqual(['/a.hatchet', '/b.hatchet']))
    expect(window.restore).toHaveBeenCalled()
    expect(window.focus).toHaveBeenCalled()
    expect(fake.windows).toHaveLength(1)
  })

  it('of a second start wait until its page is shown, which may be no other address', async () => {
    await startApp()
    const [window] = fake.windows
    let arrive = () => {}
    window!.loadURL.mockImplementationOnce(() => new Promise((resolve) => (arrive = resolve)))
    const page = '/profile?node=ROOT'
    app.emit('second-instance', {}, [], '/', { files: ['/a.hatchet'], page })
    expect(window!.loadURL).toHaveBeenLastCalledWith(`app://blockscope/#${page}`)
    expect(openedFiles()).toEqual([])
    arrive()
    await vi.waitFor(() => expect(openedFiles()).toEqual(['/a.hatchet']))
    app.emit('second-instance', {}, [], '/', { files: [], page: '//evil.example' })
    expect(window!.loadURL).toHaveBeenCalledTimes(2)
  })

  it('are in the menu of recent ones, here and at the next start', async () => {
    await startApp()
    app.emit('second-instance', {}, [], '/', { files: ['/a.hatchet'] })
    const recent = () => JSON.stringify((fake.menus.at(-1) as MenuItemConstructorOptions[])[0])
    await vi.waitFor(() => expect(recent()).toContain('/a.hatchet'))
    expect(app.addRecentDocument).toHaveBeenCalledWith('/a.hatchet')
    fake.menus.length = 0
    await startApp()
    expect(recent()).toContain('/a.hatchet')
  })

  it('that cannot be remembered, because the disk is full, are opened all the same', async () => {
    const error = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    await startApp()
    const blocked = join(app.userData, 'gone')
    writeFileSync(blocked, '')
    rmSync(app.userData, { recursive: true })
    app.emit('second-instance', {}, [], '/', { files: ['/a.hatchet'] })
    await vi.waitFor(() => expect(openedFiles()).toEqual(['/a.hatchet']))
    expect(error).toHaveBeenCalledWith(expect.stringContaining('state.json'))
    error.mockRestore()
  })
})

describe('a server', () => {
  const fileMenu = () =>
    (fake.menus.at(-1) as MenuItemConstructorOptions[]).find(({ label }) => label === '&File')!
      .submenu as MenuItemConstructorOptions[]
  const choose = (label: string) =>
    (fileMenu().find((item) => item.label === label)!.click as () => void)()
  const connectCopied = () => choose('Connect to &copied address of a server')

  it('whose address was copied is shown, until it is left or a file is opened here', async () => {
    await startApp()
    const [window] = fake.windows
    fake.clipboard.text = 'http://127.0.0.1:7777/#t=abc'
    connectCopied()
    await vi.waitFor(() => expect(window!.webContents.reload).toHaveBeenCalledTimes(1))
    choose('&Leave 127.0.0.1:7777')
    expect(window!.webContents.reload).toHaveBeenCalledTimes(2)
    expect(fileMenu().map(({ label }) => label)).toContain('&Leave the server')
    connectCopied()
    await vi.waitFor(() => expect(window!.webContents.reload).toHaveBeenCalledTimes(3))
    app.emit('second-instance', {}, [], '/', { files: ['/a.hatchet'] })
    await vi.waitFor(() => expect(openedFiles()).toEqual(['/a.hatchet']))
    expect(fileMenu().map(({ label }) => label)).toContain('&Leave the server')
  })

  it('is not connected to by a text that is no address', async () => {
    await startApp()
    fake.clipboard.text = 'a shopping list'
    connectCopied()
    await vi.waitFor(() =>
      expect(fake.dialog.showMessageBox).toHaveBeenCalledWith(
        expect.objectContaining({ message: expect.stringContaining('no address of a server') })
      )
    )
    expect(fake.windows[0]!.webContents.reload).not.toHaveBeenCalled()
  })
})

describe('the end', () => {
  it('waits until what runs is cancelled and on disk', async () => {
    await startApp()
    let finish: () => void
    application.close.mockImplementationOnce(() => new Promise((resolve) => (finish = resolve)))
    const first = { preventDefault: vi.fn() }
    app.emit('before-quit', first)
    app.emit('before-quit', { preventDefault: vi.fn() })
    expect(first.preventDefault).toHaveBeenCalled()
    expect(app.quit).not.toHaveBeenCalled()
    await vi.waitFor(() => expect(application.close).toHaveBeenCalledTimes(1))
    finish!()
    await vi.waitFor(() => expect(app.quit).toHaveBeenCalledTimes(1))
    const second = { preventDefault: vi.fn() }
    app.emit('before-quit', second)
    expect(second.preventDefault).not.toHaveBeenCalled()
    expect(application.close).toHaveBeenCalledTimes(1)
    expect(fake.dialog.showMessageBox).not.toHaveBeenCalled()
  })

  it('asks while a job runs, by menu and by closing the window, and goes on when told to', async () => {
    await startApp()
    application.jobs.list.mockReturnValue([{}])
    for (const ask of [
      (event: object) => app.emit('before-quit', event),
      (event: object) => fake.windows[0]!.emit('close', event)
    ]) {
      fake.dialog.showMessageBox.mockResolvedValueOnce({ response: 1 })
      const event = { preventDefault: vi.fn() }
      ask(event)
      expect(event.preventDefault).toHaveBeenCalled()
      await new Promise((settle) => setTimeout(settle))
    }
    expect(fake.dialog.showMessageBox).toHaveBeenCalledTimes(2)
    expect(fake.dialog.showMessageBox).toHaveBeenLastCalledWith(
      fake.windows[0],
      expect.objectContaining({ buttons: ['Quit', 'Keep running'], defaultId: 1, cancelId: 1 })
    )
    expect(application.close).not.toHaveBeenCalled()
    expect(app.quit).not.toHaveBeenCalled()
    app.emit('before-quit', { preventDefault: vi.fn() })
    await vi.waitFor(() => expect(app.quit).toHaveBeenCalledTimes(1))
    expect(application.close).toHaveBeenCalledTimes(1)
    application.jobs.list.mockReturnValue([])
  })

  it('comes with the last window, except on a Mac', async () => {
    await startApp()
    const platform = vi.spyOn(process, 'platform', 'get')
    platform.mockReturnValue('darwin')
    app.emit('window-all-closed')
    expect(app.quit).not.toHaveBeenCalled()
    platform.mockReturnValue('linux')
    app.emit('window-all-closed')
    expect(app.quit).toHaveBeenCalledTimes(1)
    platform.mockRestore()
  })

  it('of a window is not that of the app on a Mac: it opens another when asked to', async () => {
    await startApp()
    fake.windows[0]!.emit('close', { preventDefault: vi.fn() })
    fake.windows[0]!.emit('closed')
    app.emit('activate')
    expect(fake.windows).toHaveLength(2)
    // Where the first one was.
    expect(fake.windows[1]!.options).toMatchObject({ x: 1, y: 2, width: 1000, height: 700 })
  })
})
