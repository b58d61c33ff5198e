import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { FakeWindow } from './electronFake'

const { dialog, forks } = vi.hoisted(() => ({
  dialog: { showMessageBox: vi.fn(async () => ({ response: 0 })) },
  forks: [] as { path: string; options: unknown }[]
}))

class FakeUtilityProcess extends EventEmitter {
  pid: number | undefined = 42
  stderr = new PassThrough()
  postMessage = vi.fn()
  kill = vi.fn()
}
let forked: FakeUtilityProcess

vi.mock('electron', async () => {
  const { FakeWindow } = await import('./electronFake')
  return {
    BrowserWindow: FakeWindow,
    dialog,
    nativeTheme: { shouldUseDarkColors: false },
    screen: { getAllDisplays: () => [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }] },
    utilityProcess: {
      fork(path: string, _parts: string[], options: unknown) {
        forks.push({ path, options })
        return (forked = new FakeUtilityProcess())
      }
    }
  }
})

const { openMainWindow } = await import('../../../../src-main/desktop/mainWindow')
const { utilityEngineHost } = await import('../../../../src-main/desktop/utilityEngineHost')

describe('the window', () => {
  const ownContents = new Set<number>()
  const onStateChange = vi.fn()
  let window: FakeWindow

  beforeEach(() => {
    vi.clearAllMocks()
    dialog.showMessageBox.mockResolvedValue({ response: 0 })
    openMainWindow({
      state: { bounds: { width: 1000, height: 700 }, isMaximized: true },
      preload: '/preload',
      url: 'app://blockscope/',
      ownContents,
      onStateChange
    })
    window = FakeWindow.made.at(-1)!
  })

  it('shows itself once there is something to see, and may then ask for the contract', () => {
    expect(window.loadURL).toHaveBeenCalledWith('app://blockscope/')
    expect(window.show).not.toHaveBeenCalled()
    window.emit('ready-to-show')
    expect(window.show).toHaveBeenCalled()
    expect(window.maximize).toHaveBeenCalled()
    expect(ownContents.has(7)).toBe(true)
    window.emit('closed')
    expect(ownContents.has(7)).toBe(false)
  })

  it('tells where it was when it closes', () => {
    window.emit('close')
    expect(onStateChange).toHaveBeenCalledWith({
      bounds: { x: 1, y: 2, width: 1000, height: 700 },
      isMaximized: false
    })
  })

  it('says that its page crashed, once, and reloads it when asked to', async () => {
    window.webContents.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 5 })
    window.webContents.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 5 })
    await vi.waitFor(() => expect(window.webContents.reload).toHaveBeenCalledTimes(1))
    expect(dialog.showMessageBox).toHaveBeenCalledTimes(1)
    expect(dialog.showMessageBox.mock.calls[0]).toMatchObject([
      window,
      { detail: expect.stringContaining('crashed (5). Jobs go on') }
    ])
  })

  it('leaves it when asked to', async () => {
    dialog.showMessageBox.mockResolvedValue({ response: 1 })
    window.webContents.emit('unresponsive')
    await vi.waitFor(() => expect(dialog.showMessageBox).toHaveBeenCalled())
    await Promise.resolve()
    expect(window.webContents.reload).not.toHaveBeenCalled()
  })

  it('says nothing of a page that ended as it should', () => {
    window.webContents.emit('render-process-gone', {}, { reason: 'clean-exit', exitCode: 0 })
    expect(dialog.showMessageBox).not.toHaveBeenCalled()
  })
})

describe('the engine as a utility process', () => {
  it('carries messages both ways and tells how it ended, with its last words', async () => {
    const child = utilityEngineHost('/app/engine.js').start()
    expect(forks.at(-1)).toMatchObject({ path: '/app/engine.js' })
    expect(child.pid).toBe(42)
    const onMessage = vi.fn()
    const onExit = vi.fn()
    child.onMessage(onMessage)
    child.onExit(onExit)
    child.send({ type: 'ping' })
    expect(forked.postMessage).toHaveBeenCalledWith({ type: 'ping' })
    forked.emit('message', { type: 'pong' })
    expect(onMessage).toHaveBeenCalledWith({ type: 'pong' })
    forked.stderr.write('illegal instruction\n')
    forked.emit('exit', 132)
    forked.emit('exit', 132)
    expect(onExit.mock.calls).toEqual([['exited with code 132']])
    await vi.waitFor(() => expect(child.lastWords()).toBe('illegal instruction'))
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    child.kill()
    expect(kill.mock.calls).toEqual([[42, 'SIGKILL']])
    forked.pid = undefined
    child.kill()
    expect(kill).toHaveBeenCalledTimes(1)
    expect(forked.kill).toHaveBeenCalledTimes(1)
    kill.mockRestore()
  })
})
