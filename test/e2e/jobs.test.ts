/** A running job and the pages that show it: connections break and come back, and two pages look at once. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { go, startLongSweep, sweptRows } from './support/actions'
import { describeInBrowser, workerBrowser, openPage } from './support/browser'
import { startServerProcess, type StartedServer } from './support/server'

describeInBrowser('A running job', () => {
  let browser: Browser
  let server: StartedServer
  let tunnel: Tunnel
  beforeAll(async () => {
    server = await startServerProcess()
    tunnel = await openTunnel(server.port)
    browser = await workerBrowser()
  })
  afterAll(async () => {
    tunnel?.close()
    await server?.stop()
  })

  const cancel = (page: Page) => page.getByRole('button', { name: 'Cancel', exact: true })
  const status = (page: Page, text: RegExp) =>
    page.locator('section[aria-labelledby=sweep-title] header').getByText(text)

  it('survives a broken connection: the page says so, reconnects, and shows what was measured meanwhile', async () => {
    const url = server.url.replace(`:${server.port}/`, `:${tunnel.port}/`)
    const { page, close, policyViolations } = await openPage(browser, url)
    await startLongSweep(page)
    tunnel.cut()
    await page.getByText(/Connection lost\. Running jobs continue on the host/).waitFor()
    const before = await sweptRows(page).count()
    tunnel.mend()
    await page.getByText('Connected', { exact: true }).waitFor()
    await page.getByText(/Connection lost/).waitFor({ state: 'detached' })
    await expect.poll(() => sweptRows(page).count()).toBeGreaterThan(before)
    await cancel(page).click()
    await status(page, /\(cancelled\)$/).waitFor()
    const fresh = await openPage(browser, server.url)
    await go(fresh.page, page.url().replace(/^.*#\//, ''))
    await status(fresh.page, /\(cancelled\)$/).waitFor()
    expect(await sweptRows(page).count()).toBe(await sweptRows(fresh.page).count())
    await fresh.close()
    expect(policyViolations).toEqual([])
    await close()
  })

  it('is shown by a second page, which cancels it for both', async () => {
    const first = await openPage(browser, server.url)
    await startLongSweep(first.page)
    const second = await openPage(browser, server.url)
    await go(second.page, first.page.url().replace(/^.*#\//, ''))
    await expect.poll(() => sweptRows(second.page).count()).toBeGreaterThan(2)
    await cancel(second.page).click()
    await status(second.page, /\(cancelled\)$/).waitFor()
    await status(first.page, /\(cancelled\)$/).waitFor()
    await expect
      .poll(
        async () => (await sweptRows(first.page).count()) - (await sweptRows(second.page).count())
      )
      .toBe(0)
    expect([first.errors, second.errors]).toEqual([[], []])
    await first.close()
    await second.close()
  })
})

interface Tunnel {
  port: number
  /** Ends every connection and refuses new ones, as a broken SSH tunnel does. */
  cut(): void
  mend(): void
  close(): void
}

/** What lies between a remote server and its page: bytes both ways, nothing else. */
async function openTunnel(target: number): Promise<Tunnel> {
  const sockets = new Set<Socket>()
  let isCut = false
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    return socket
  }
  const tunnel: Server = createServer((near) => {
    if (isCut) {
      near.destroy()
      return
    }
    const far = keep(connect(target, '127.0.0.1'))
    keep(near).pipe(far).pipe(near)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => tunnel.listen(0, '127.0.0.1', resolve))
  const endAll = () => sockets.forEach((socket) => socket.destroy())
  return {
    port: (tunnel.address() as AddressInfo).port,
    cut() {
      isCut = true
      endAll()
    },
    mend() {
      isCut = false
    },
    close() {
      endAll()
      tunnel.close()
    }
  }
}
