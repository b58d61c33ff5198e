/** `blockscope serve` as a process: what it prints, how it ends, and a page that outlives a restart of it. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from 'playwright-core'
import { connectSocket } from '../../src-main/transports/webSocket'
import { patience } from '../support/patience'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'
import { program, startServerProcess } from './support/server'
import type { StartedServer } from './support/server'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-serve-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const started: StartedServer[] = []
const start = async (options?: Parameters<typeof startServerProcess>[0]) => {
  const server = await startServerProcess(options)
  started.push(server)
  return server
}
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()))
})

const run = (...words: string[]) => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [program, 'serve', '--no-open', ...words],
    {
      encoding: 'utf8',
      timeout: patience
    }
  )
  return { status, stderr }
}

describe('blockscope serve', () => {
  it('prints its address once, answers calls with its token, and ends well', async () => {
    const server = await start()
    const token = new URL(server.url).hash.slice('#t='.length)
    expect(server.output().split(token)).toHaveLength(2)
    expect(server.output()).toContain(`ssh -N -L ${server.port}:127.0.0.1:${server.port}`)
    const client = await connectSocket(`ws://127.0.0.1:${server.port}/rpc`, token)
    const info = await client.call('app.info', {})
    expect(info).toMatchObject({ host: 'server', storeFolder: server.storeFolder })
    client.close()
    expect(await server.stop()).toBe(0)
  })

  it('refuses operand files named by path', async () => {
    const server = await start()
    const token = new URL(server.url).hash.slice('#t='.length)
    const client = await connectSocket(`ws://127.0.0.1:${server.port}/rpc`, token)
    await expect(
      client.call('jobs.start', {
        kind: 'validate',
        formats: ['nvfp4'],
        operandsFiles: ['/etc/passwd']
      })
    ).rejects.toMatchObject({ code: 'invalid-input' })
    client.close()
  })

  it('has the same address again with a token file', async () => {
    const flags = ['--token-file', join(folder, 'token')]
    const first = await start({ flags })
    await first.stop()
    const second = await start({ flags, port: first.port })
    expect(second.url).toBe(first.url)
  })

  it.each([
    [['--port', '70000'], 2, 'A port is a number from 0 to 65535'],
    [['--port', 'http'], 2, 'A port is a number from 0 to 65535'],
    [['--token-file', folder], 2, 'is no file; name one'],
    [['--speed', '9'], 2, "unknown option '--speed'"]
  ])('refuses %j', (words, status, message) => {
    const result = run(...words)
    expect(result.stderr).toContain(message)
    expect(result.status).toBe(status)
  })

  it('says so when the port is taken', async () => {
    const server = await start()
    expect(run('--port', String(server.port))).toEqual({
      status: 3,
      stderr: `blockscope: Port ${server.port} of 127.0.0.1 is in use; choose another with --port, or 0 for any.\n`
    })
  })
})

describeInBrowser('the page of blockscope serve', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await workerBrowser()
  })

  it('connects, notices a stopped server, and is back when it is', async () => {
    const flags = ['--token-file', join(folder, 'page-token')]
    const storeFolder = join(folder, 'store')
    const first = await start({ flags, storeFolder })
    const { page, close, policyViolations } = await openPage(browser, first.url)
    await page.getByText('Connected', { exact: true }).waitFor()
    await first.stop()
    await page.getByText('Connected', { exact: true }).waitFor({ state: 'detached' })
    await start({ flags, storeFolder, port: first.port })
    await page.getByText('Connected', { exact: true }).waitFor()
    await expect.poll(() => page.url()).not.toContain('t=')
    expect(policyViolations).toEqual([])
    await close()
  })

  it('opened with a file and a node by blockscope open shows the node of the file', async () => {
    const profile = join(folder, 'opened.hatchet')
    const frame = (name: string) => ({ name, type: 'function' })
    const kernel = { frame: frame('matmul'), metrics: { 'time (ns)': 5000 }, children: [] }
    const tree = { frame: frame('ROOT'), metrics: { 'time (ns)': 0 }, children: [kernel] }
    writeFileSync(profile, JSON.stringify([tree, {}]))
    const server = await start({
      command: ['open', profile, '--node', 'ROOT > matmul'],
      environment: { ELECTRON_OVERRIDE_DIST_PATH: folder, DISPLAY: '', WAYLAND_DISPLAY: '' }
    })
    const url = /http:\/\/\S+/.exec(server.output())![0]
    expect(url).toContain('&/profile?node=ROOT+%3E+matmul')
    const { page, close, policyViolations, errors } = await openPage(browser, url)
    await page.getByRole('row', { selected: true, name: /matmul/ }).waitFor()
    await expect.poll(() => page.url()).toContain('#/profile?node=')
    await expect.poll(() => page.url()).not.toContain('t=')
    expect([policyViolations, errors]).toEqual([[], []])
    await close()
  })
})

it('blockscope app, where there is no Electron, opens its files in browser mode', async () => {
  const profile = join(folder, 'run.hatchet')
  writeFileSync(profile, '[]')
  const server = await start({
    command: ['app', profile],
    environment: { ELECTRON_OVERRIDE_DIST_PATH: folder, DISPLAY: '', WAYLAND_DISPLAY: '' }
  })
  expect(server.output()).toContain('The app opens in the browser instead.')
  const token = new URL(server.url).hash.slice('#t='.length)
  const client = await connectSocket(`ws://127.0.0.1:${server.port}/rpc`, token)
  const abort = new AbortController()
  const { handle, name } = await new Promise<{ handle: string; name: string }>(
    (resolve, reject) => {
      client
        .call('files.watchOpened', {}, { signal: abort.signal, onProgress: resolve })
        .catch(reject)
    }
  )
  abort.abort()
  expect(name).toBe('run.hatchet')
  const { bytes } = await client.call('files.read', { handle })
  expect(new TextDecoder().decode(bytes)).toBe('[]')
  await expect(client.call('files.read', { handle: profile })).rejects.toMatchObject({
    code: 'invalid-input'
  })
  client.close()
})
