import { EventEmitter } from 'node:events'
import { vi } from 'vitest'

/** The few parts of Electron that the desktop folder uses, each an emitter or a spy. */
export class FakeContents extends EventEmitter {
  windowOpenHandler: ((details: { url: string }) => { action: string }) | undefined
  readonly reload = vi.fn()
  readonly send = vi.fn()
  constructor(readonly id = 1) {
    super()
  }
  setWindowOpenHandler(handler: (details: { url: string }) => { action: string }): void {
    this.windowOpenHandler = handler
  }
}

export class FakeWindow extends EventEmitter {
  static made: FakeWindow[] = []
  readonly webContents = new FakeContents(7)
  readonly show = vi.fn()
  readonly maximize = vi.fn()
  readonly loadURL = vi.fn(async () => {})
  isDestroyed = () => false
  isMaximized = () => false
  getNormalBounds = () => ({ x: 1, y: 2, width: 1000, height: 700 })
  constructor(readonly options: unknown) {
    super()
    FakeWindow.made.push(this)
  }
}

type Verdict = (result: { cancel: boolean }) => void

export class FakeSession extends EventEmitter {
  permissionRequest!: (
    contents: unknown,
    permission: string,
    callback: (isAllowed: boolean) => void,
    details: { requestingUrl: string }
  ) => void
  permissionCheck!: (contents: unknown, permission: string, origin: string) => boolean
  beforeRequest!: (details: { url: string }, callback: Verdict) => void
  readonly protocol = { handle: vi.fn() }
  constructor() {
    super()
    // One session lives through many starts of the app.
    this.setMaxListeners(0)
  }
  readonly webRequest = {
    onBeforeRequest: (listener: FakeSession['beforeRequest']) => (this.beforeRequest = listener)
  }
  setPermissionRequestHandler(handler: FakeSession['permissionRequest']): void {
    this.permissionRequest = handler
  }
  setPermissionCheckHandler(handler: FakeSession['permissionCheck']): void {
    this.permissionCheck = handler
  }
}

/** An event that tells whether it was prevented. */
export const fakeEvent = (url = '') => ({ url, preventDefault: vi.fn() })
