/**
 * Electron's security checklist (docs/tutorial/security.md), item by item: the rule each has here and what proves it.
 * The fuses of item 19 are checked with the packaging, in packaging.test.ts.
 */
import { EventEmitter } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import type { App, IpcMainEvent, Session } from 'electron'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { connectPort } from '../../../../src-main/transports/messagePort'
import type { PortLike } from '@shared/rpc/portWire'
import { handlersWith } from '../transports/support'
import { FakeContents, FakeSession, fakeEvent } from './electronFake'

const { ipcMain, protocol, channelsMade, exposed, ipcRenderer } = await vi.hoisted(async () => {
  const { EventEmitter } = await import('node:events')
  return {
    ipcMain: new EventEmitter(),
    protocol: { registerSchemesAsPrivileged: vi.fn() },
    channelsMade: [] as { port1: unknown; port2: unknown }[],
    exposed: {} as Record<string, Record<string, unknown>>,
    ipcRenderer: Object.assign(new EventEmitter(), { send: vi.fn() })
  }
})

vi.mock('electron', () => ({
  ipcMain,
  protocol,
  ipcRenderer,
  contextBridge: {
    exposeInMainWorld: (name: string, api: Record<string, unknown>) => (exposed[name] = api)
  },
  MessageChannelMain: class {
    port1: EventEmitter
    port2: MessagePortLike
    constructor() {
      const { port1, port2 } = new MessageChannel()
      // As Electron's MessagePortMain: events carry their data.
      this.port1 = Object.assign(new EventEmitter(), {
        postMessage: (value: unknown) => port1.postMessage(value),
        start: () => port1.on('message', (data) => this.port1.emit('message', { data })),
        close: () => port1.close()
      })
      port1.on('close', () => this.port1.emit('close'))
      this.port2 = port2 as unknown as MessagePortLike
      channelsMade.push(this)
    }
  }
}))
type MessagePortLike = PortLike

const { guardContents, guardSession, isLocalRequest } =
  await import('../../../../src-main/desktop/guards')
const { bridgePages, isTrustedSender } = await import('../../../../src-main/desktop/bridge')
const { pageAddress } = await import('../../../../src-main/desktop/pageAddress')
const { answerPage, registerPageScheme } = await import('../../../../src-main/desktop/pageProtocol')
const { windowOptions } = await import('../../../../src-main/desktop/windowOptions')

const desktopFolder = join(__dirname, '../../../../src-main/desktop')
const sources = readdirSync(desktopFolder)
  .map((name) => readFileSync(join(desktopFolder, name), 'utf8'))
  .join('\n')

const address = pageAddress()
const own = 'app://blockscope/index.html'
const foreign = [
  'https://blockscope/',
  'app://blockscope.evil/',
  'app://evil/',
  'app://blockscope@evil/',
  'app://user@blockscope/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/html,x',
  'about:blank',
  'not a url',
  ''
]

const options = windowOptions(
  { bounds: { width: 1, height: 1 }, isMaximized: false },
  '/preload',
  true
)

describe('1, 6, 8, 9, 10: nothing remote, and no switch that weakens the page', () => {
  it('the window shows the own scheme', () => expect(address.url).toBe('app://blockscope/'))
  it.each([
    'webSecurity',
    'allowRunningInsecureContent',
    'experimentalFeatures',
    'enableBlinkFeatures'
  ])('%s is not set anywhere', (name) => {
    expect(options.webPreferences).not.toHaveProperty(name)
    expect(sources).not.toContain(name)
  })
  it('requests to the network are cancelled', () => {
    const session = new FakeSession()
    guardSession(session as unknown as Session, address)
    const isCancelled = (url: string) => {
      let cancelled: boolean | undefined
      session.beforeRequest({ url }, ({ cancel }) => (cancelled = cancel))
      return cancelled
    }
    expect(isCancelled(own)).toBe(false)
    expect(isCancelled('blob:app://blockscope/1')).toBe(false)
    expect(isCancelled('https://example.com/')).toBe(true)
    expect(isCancelled('http://127.0.0.1:5173/')).toBe(true)
    expect(isCancelled('ws://127.0.0.1/')).toBe(true)
    expect(isCancelled('file:///etc/passwd')).toBe(true)
    expect(isCancelled('nonsense')).toBe(true)
  })
  it('while developing, only Vite and its WebSocket are let through', () => {
    const vite = pageAddress('http://localhost:5173')
    expect(isLocalRequest('ws://localhost:5173/?token=x', vite)).toBe(true)
    expect(isLocalRequest('http://localhost:5173/main.ts', vite)).toBe(true)
    expect(isLocalRequest('http://localhost:5174/', vite)).toBe(false)
  })
})

describe('2, 3, 4: isolation and sandbox', () => {
  it('are written out', () =>
    expect(options.webPreferences).toMatchObject({
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false
    }))
  it('the sandbox is enabled for all, before the app is ready', () => {
    const index = readFileSync(join(desktopFolder, 'index.ts'), 'utf8')
    const at = index.indexOf('app.enableSandbox()')
    expect(at).toBeGreaterThan(0)
    expect(at).toBeLessThan(index.indexOf('whenReady'))
    expect(sources).not.toContain('no-sandbox')
  })
})

describe('5: permissions', () => {
  const session = new FakeSession()
  guardSession(session as unknown as Session, address)
  const asks = (permission: string, requestingUrl: string) => {
    let answer: boolean | undefined
    session.permissionRequest({}, permission, (allowed) => (answer = allowed), { requestingUrl })
    return [answer, session.permissionCheck({}, permission, requestingUrl)]
  }
  it.each(['media', 'geolocation', 'notifications', 'openExternal', 'clipboard-read', 'hid'])(
    '%s is denied',
    (permission) => expect(asks(permission, own)).toEqual([false, false])
  )
  it('writing to the clipboard is allowed to the page alone', () => {
    expect(asks('clipboard-sanitized-write', own)).toEqual([true, true])
    expect(asks('clipboard-sanitized-write', 'https://example.com/')).toEqual([false, false])
  })
})

describe('7 and 18: the page comes from its own scheme, with a security policy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-page-'))
  beforeAll(() => {
    mkdirSync(join(folder, 'renderer'))
    writeFileSync(join(folder, 'renderer', 'index.html'), 'page')
    writeFileSync(join(folder, 'outside.json'), '{}')
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  const answer = (url: string, method = 'GET') =>
    answerPage({ url, method }, join(folder, 'renderer'), address)

  it('the scheme is standard and secure and cannot bypass the policy', () => {
    registerPageScheme()
    expect(protocol.registerSchemesAsPrivileged).toHaveBeenCalledWith([
      { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true } }
    ])
  })
  it('every answer has the policy', async () => {
    for (const response of [await answer('app://blockscope/'), await answer('app://blockscope/x')])
      expect(response.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self';/
      )
    const page = await answer('app://blockscope/')
    expect([page.status, await page.text()]).toEqual([200, 'page'])
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  })
  it.each([
    'app://blockscope/../outside.json',
    'app://blockscope/%2e%2e/outside.json',
    'app://blockscope/..%2foutside.json',
    'app://other/index.html'
  ])('%s is not found', async (url) => expect((await answer(url)).status).toBe(404))
  it('only GET is answered', async () =>
    expect((await answer('app://blockscope/', 'POST')).status).toBe(405))
})

describe('11, 12, 13, 14, 15: no webview, navigation, window or program is opened', () => {
  const app = new EventEmitter()
  const contents = new FakeContents()
  guardContents(app as unknown as App, address)
  app.emit('web-contents-created', {}, contents)

  it('webviews are off and prevented', () => {
    expect(options.webPreferences?.webviewTag).toBe(false)
    const event = fakeEvent()
    contents.emit('will-attach-webview', event)
    expect(event.preventDefault).toHaveBeenCalled()
  })
  it.each(['will-navigate', 'will-redirect', 'will-frame-navigate'])(
    '%s to anywhere else is prevented',
    (name) => {
      for (const url of foreign) {
        const event = fakeEvent(url)
        contents.emit(name, event)
        expect(event.preventDefault, url).toHaveBeenCalled()
      }
      const event = fakeEvent(own)
      contents.emit(name, event)
      expect(event.preventDefault).not.toHaveBeenCalled()
    }
  )
  it('new windows are denied, own address or not', () => {
    for (const url of [own, 'https://example.com/'])
      expect(contents.windowOpenHandler!({ url })).toEqual({ action: 'deny' })
  })
  it('nothing is ever handed to the system to open', () =>
    expect(sources).not.toMatch(/openExternal|openPath|\bshell\b.*from 'electron'/))
  it("downloads are the page's own", () => {
    const session = new FakeSession()
    guardSession(session as unknown as Session, address)
    const isPrevented = (url: string) => {
      const event = fakeEvent()
      session.emit('will-download', event, { getURL: () => url })
      return event.preventDefault.mock.calls.length > 0
    }
    expect(isPrevented('blob:app://blockscope/7c')).toBe(false)
    expect(isPrevented('blob:https://example.com/7c')).toBe(true)
    expect(isPrevented('app://blockscope/index.html')).toBe(true)
    expect(isPrevented('https://example.com/')).toBe(true)
  })
})

describe('16: a supported version', () => {
  it('is pinned exactly', () => {
    const { devDependencies } = JSON.parse(
      readFileSync(join(desktopFolder, '../../package.json'), 'utf8')
    )
    expect(devDependencies.electron).toMatch(/^\d+\.\d+\.\d+$/)
    expect(Number(devDependencies.electron.split('.')[0])).toBeGreaterThanOrEqual(45)
  })
})

describe('17: senders', () => {
  type Event = Pick<IpcMainEvent, 'sender' | 'senderFrame'>
  const event = (id: number, frame: { url: string; parent: unknown } | null) =>
    ({ sender: { id }, senderFrame: frame }) as unknown as Event
  const isTrusted = (sent: Event) => isTrustedSender(sent, address, new Set([7]))

  it('must be the top frame of an own window at the own address', () => {
    expect(isTrusted(event(7, { url: own, parent: null }))).toBe(true)
    expect(isTrusted(event(8, { url: own, parent: null }))).toBe(false)
    expect(isTrusted(event(7, { url: own, parent: {} }))).toBe(false)
    expect(isTrusted(event(7, null))).toBe(false)
    for (const url of foreign) expect(isTrusted(event(7, { url, parent: null })), url).toBe(false)
  })

  it('get a port that speaks the contract; others get nothing', async () => {
    bridgePages(handlersWith({ 'runs.list': async () => [] }), address, new Set([7]))
    const postMessage = vi.fn()
    const ask = (id: number) =>
      ipcMain.emit('blockscope:connect', {
        sender: { id },
        senderFrame: { url: own, parent: null, postMessage }
      })
    ask(8)
    expect(postMessage).not.toHaveBeenCalled()
    ask(7)
    const [channel, message, ports] = postMessage.mock.calls[0]!
    expect([channel, message]).toEqual(['blockscope:port', null])
    expect(ports[0]).toBe(channelsMade[0]!.port2)
    const client = connectPort(channelsMade[0]!.port2 as PortLike)
    expect(await client.call('runs.list', {})).toEqual([])
    await expect(client.call('runs.get', { id: '../x' })).rejects.toMatchObject({
      code: 'invalid-input'
    })
    client.close()
  })

  it('have one channel to write to', () =>
    expect(sources.match(/ipcMain\.(on|once|handle)\w*\(/g)).toHaveLength(1))
})

describe('20: the preload script', () => {
  it('exposes connect and nothing else, and passes on ports without the event', async () => {
    const posted: unknown[][] = []
    vi.stubGlobal('window', { postMessage: (...message: unknown[]) => posted.push(message) })
    vi.stubGlobal('location', { origin: 'app://blockscope' })
    // By path: the preload script belongs to the page's TypeScript project, not to this one.
    await import(join(desktopFolder, 'preload.ts'))
    expect(Object.keys(exposed)).toEqual(['blockscope'])
    expect(Object.keys(exposed.blockscope!)).toEqual(['connect'])
    const returned = (exposed.blockscope!.connect as (extra: string) => unknown)('anything')
    expect(returned).toBeUndefined()
    expect(ipcRenderer.send).toHaveBeenCalledWith('blockscope:connect')

    ipcRenderer.emit('blockscope:port', { ports: ['the port'], sender: ipcRenderer })
    ipcRenderer.emit('blockscope:action', { sender: ipcRenderer }, 'go.sweep')
    expect(posted).toEqual([
      ['blockscope:port', 'app://blockscope', ['the port']],
      [{ type: 'blockscope:action', action: 'go.sweep' }, 'app://blockscope']
    ])
    vi.unstubAllGlobals()
  })
})
