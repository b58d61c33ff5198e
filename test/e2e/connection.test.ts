/** The page's client against the real server, in a real browser: what no simulated WebSocket or policy would show. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { outcomeOf } from '@shared/measurement/outcome'
import type { Browser } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer } from '../../src-main/server/server'
import type { RunningServer, ServerOptions } from '../../src-main/server/server'
import { sampleRun } from '../support/sampleRun'
import { handlersWith } from '../unit/main/transports/support'
import { isTrue } from './support/actions'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

describeInBrowser('the page of a server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-connection-'))
  let browser: Browser
  /** For all tests, each of which leaves it running. */
  let server: RunningServer

  const start = (options: Partial<ServerOptions> = {}) =>
    startServer({
      handlers: handlersWith({
        'runs.list': async () => [],
        'runs.samples': async ({ step }) => ({ samplesNs: [step, 0.5], samplesMHz: [] }),
        'runs.export': async () => ({ name: 'a.bin', bytes: new Uint8Array([0, 255, 7]) }),
        'runs.annotate': async ({ id, label, notes }) => ({
          id,
          kind: 'sweep',
          label: label ?? '',
          notes: notes ?? '',
          createdAt: '',
          status: 'done',
          device: 'cpu',
          formats: [],
          shape: '',
          options: '',
          outcome: outcomeOf(sampleRun())
        }),
        'jobs.watch': (_input, { signal, progress }) => {
          progress({ type: 'notice', message: 'started' })
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(new Error('aborted')))
          )
        }
      }),
      rendererFolder: folder,
      port: 0,
      host: '127.0.0.1',
      allowedHosts: [],
      ...options
    })

  beforeAll(async () => {
    await build({
      configFile: false,
      root: path('./support/connectionPage'),
      base: './',
      logLevel: 'error',
      resolve: { alias: { '@shared': path('../../src-shared') } },
      build: { outDir: folder, emptyOutDir: true, target: 'chrome120' }
    })
    server = await start()
    browser = await workerBrowser()
  })
  afterAll(async () => {
    await server?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('connects, takes the token out of the address, and carries values whole', async () => {
    const { page, close, policyViolations, errors } = await openPage(browser, server.url)
    const result = await page.evaluate(`(async () => {
      const client = await connect()
      const { bytes } = await client.call('runs.export', { id: 'a', as: 'csv' })
      const samples = await client.call('runs.samples', { id: 'a', step: 3 })
      const proxied = new Proxy({ id: 'a', label: 'µ' }, {})
      const annotated = await client.call('runs.annotate', proxied)
      const refused = await client.call('runs.get', { id: '../x' }).catch((error) => error.code + ': ' + error.message)
      return { bytes: [...bytes], isBytes: bytes instanceof Uint8Array, samples, label: annotated.label, refused }
    })()`)
    expect(result).toEqual({
      bytes: [0, 255, 7],
      isBytes: true,
      samples: { samplesNs: [3, 0.5], samplesMHz: [] },
      label: 'µ',
      refused: expect.stringMatching(/^invalid-input: runs\.get: id: .*run id/)
    })
    await expect.poll(() => page.url()).toBe(`http://127.0.0.1:${server.port}/`)
    expect(
      await page.evaluate('document.cookie + sessionStorage.length + localStorage.length')
    ).toBe('00')
    expect(policyViolations).toEqual([])
    expect(errors).toEqual([])
    await close()
  })

  it('keeps the rest of a deep link', async () => {
    const url = `${server.url}&/profile?run=a`
    const { page, close } = await openPage(browser, url)
    await page.evaluate('connect()')
    await expect.poll(() => new URL(page.url()).hash).toBe('#/profile?run=a')
    await close()
  })

  it('learns of a dropped connection, and connects again to a server that kept its token', async () => {
    const { page, close, policyViolations } = await openPage(browser, server.url)
    await page.evaluate(`(async () => {
      globalThis.client = await connect()
      globalThis.events = []
      globalThis.ended = client.call('jobs.watch', { id: 'a' }, { onProgress: (event) => events.push(event) })
        .catch((error) => error.code)
    })()`)
    await isTrue(page, 'events.length === 1')
    const { port, token } = server
    await server.close()
    expect(await page.evaluate('ended')).toBe('disconnected')
    expect(await page.evaluate('connect().catch((error) => [error.code, error.message])')).toEqual([
      'disconnected',
      'The server cannot be reached.'
    ])
    server = await start({ port, token })
    expect(await page.evaluate(`connect().then((client) => client.call('runs.list', {}))`)).toEqual(
      []
    )
    expect(policyViolations).toEqual([])
    await close()
  })

  it.each([
    ['a token of an earlier start', (url: string) => url.replace(/t=.{8}/, 't=AAAAAAAA')],
    ['no token', (url: string) => url.split('#')[0]!]
  ])('says what to do about %s', async (_name, change) => {
    const { page, close } = await openPage(browser, change(server.url))
    expect(await page.evaluate('connect().catch((error) => [error.code, error.message])')).toEqual([
      'unavailable',
      expect.stringContaining('Open the address that "blockscope serve" printed')
    ])
    await close()
  })

  it('starts anew when the address of a new start is opened in its tab', async () => {
    const stale = server.url.replace(/t=.{8}/, 't=AAAAAAAA')
    const { page, close } = await openPage(browser, stale)
    expect(await page.evaluate('connect().catch((error) => error.code)')).toBe('unavailable')
    await page.evaluate(`location.href = ${JSON.stringify(server.url)}`)
    await page.waitForURL((url) => url.hash === '' || url.hash.startsWith('#t='))
    await isTrue(
      page,
      `performance.getEntriesByType('navigation')[0].type === 'reload' && 'connect' in globalThis`
    )
    expect(await page.evaluate(`connect().then((client) => client.call('runs.list', {}))`)).toEqual(
      []
    )
    await close()
  })

  it('may not be used by a page of another origin', async () => {
    const other = await start()
    const { page, close } = await openPage(browser, other.url)
    const state = await page.evaluate(`new Promise((resolve) => {
      const socket = new WebSocket('ws://127.0.0.1:${server.port}/rpc', ['blockscope.v1', 'token.${server.token}'])
      socket.onopen = () => resolve('open')
      socket.onerror = () => resolve('refused')
    })`)
    expect(state).toBe('refused')
    await close()
    await other.close()
  })

  it('saves a file', async () => {
    const { page, close, policyViolations } = await openPage(browser, server.url)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.evaluate(`saveFile('chart.csv', 'k,tflops\\n', 'text/csv')`)
    ])
    expect(download.suggestedFilename()).toBe('chart.csv')
    expect(readFileSync(await download.path(), 'utf8')).toBe('k,tflops\n')
    expect(policyViolations).toEqual([])
    await close()
  })
})
