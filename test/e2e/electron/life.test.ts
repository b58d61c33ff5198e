/** The shell under a real Electron: window, page, menu, files, links, what is remembered. */
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readFileSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import type { ElectronApplication } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { joined } from '@shared/profile/read/reader'
import { maxMessageBytes } from '@shared/rpc/frames'
import { syntheticShard, unknownBlock } from '../../support/syntheticShard'
import { drop, go } from '../support/actions'
import { Desktop, describeInElectron, type StartedApp } from './app'
import { chooseInMenu, menuLabels, stubDialogs, shownDialogs } from './system'

const fixtures = 'test/fixtures/proton/synthetic'

describeInElectron('the desktop app', () => {
  const desktop = new Desktop()
  let app: StartedApp
  let electron: ElectronApplication
  /** Profiles where the ordinary user may read them. */
  const profile = (name: string) => join(desktop.folder, name)

  beforeAll(async () => {
    await desktop.begin()
    for (const name of ['modern_a.hatchet', 'modern_c.hatchet', 'legacy_b.hatchet'])
      copyFileSync(join(fixtures, name), profile(name))
    app = await desktop.start()
    electron = app.electron
  })
  afterAll(() => desktop.end())

  const treegrid = () => app.page.getByRole('treegrid')
  const state = () =>
    JSON.parse(readFileSync(join(desktop.userData, 'state.json'), 'utf8')) as {
      window: { bounds: { width: number; height: number } }
      recentFiles: string[]
    }

  it('shows the page from its own scheme, connected to the main process', async () => {
    const { page } = app
    await expect.poll(() => page.url()).toMatch(/^app:\/\/blockscope\//)
    await page.getByText('Connected', { exact: true }).waitFor()
    expect(await page.evaluate('Object.keys(window.blockscope)')).toEqual(['connect'])
    expect(await page.evaluate('typeof require + typeof process')).toBe('undefinedundefined')
  })

  it('runs its page in the sandbox, as an ordinary user', async () => {
    const { user, words, metrics } = await electron.evaluate(({ app: main }) => ({
      user: process.getuid?.(),
      words: process.argv,
      metrics: main.getAppMetrics().map(({ pid, type }) => ({ pid, type }))
    }))
    expect(user).not.toBe(0)
    expect(words).not.toContain('--no-sandbox')
    const renderer = metrics.find(({ type }) => type === 'Tab')!
    if (process.platform === 'linux') {
      const status = readFileSync(`/proc/${renderer.pid}/status`, 'utf8')
      expect(status).toMatch(/^Seccomp:\s*2$/m)
      expect(status).toMatch(/^NoNewPrivs:\s*1$/m)
      // Its own process namespace: the last number is its id in there.
      expect(/^NSpid:(.*)$/m.exec(status)![1]!.trim().split(/\s+/).length).toBeGreaterThan(1)
    }
  })

  it('opens no window, goes nowhere and reaches nothing', async () => {
    const { page } = app
    await page.evaluate(`window.open('https://example.com'); location.href = 'https://example.com'`)
    const reached = await page.evaluate(
      `fetch('https://example.com').then(() => 'reached', () => 'refused')`
    )
    expect(reached).toBe('refused')
    expect(electron.windows()).toHaveLength(1)
    await expect.poll(() => page.url()).toMatch(/^app:\/\/blockscope\//)
  })

  it('has a native menu that leads to every view', async () => {
    const labels = await menuLabels(electron)
    for (const label of [
      'File > Open...',
      'File > Quit',
      'View > Sweep',
      'Help > Keyboard shortcuts'
    ])
      expect(labels).toContain(label)
    for (const view of ['Devices', 'Sweep', 'Formats', 'Layouts', 'Profile', 'Runs', 'Validate']) {
      await chooseInMenu(electron, `View > ${view}`)
      await app.page.waitForURL(new RegExp(`#/${view.toLowerCase()}`))
    }
    await chooseInMenu(electron, 'Help > Keyboard shortcuts')
    await app.page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await app.page.keyboard.press('Escape')
  })

  it("opens what the system's dialog gives, and remembers it", async () => {
    await stubDialogs(electron, { files: [profile('modern_a.hatchet')] })
    await chooseInMenu(electron, 'File > Open...')
    await treegrid().getByText('layer0').first().waitFor()
    expect((await shownDialogs(electron)).open).toHaveLength(1)
    expect(await menuLabels(electron)).toContain(
      `File > Open recent > ${profile('modern_a.hatchet')}`
    )
    expect(state().recentFiles).toEqual([profile('modern_a.hatchet')])
  })

  it('opens the folder of a capture, of shards beyond what a message holds', async () => {
    const capture = desktop.makeFolder('captured step')
    for (const pid of [41, 42]) {
      const form = { launches: 300, kernels: 3, shapesOfKernel: 2, paths: 4, pid }
      const file = join(capture, `${pid}-1.shard`)
      writeFileSync(file, joined([...syntheticShard(form)]))
      // Of a kind that a later version may add, which readers step over.
      if (pid === 41) for (let i = 0; i < 17; i++) appendFileSync(file, unknownBlock(4 << 20))
    }
    expect(statSync(join(capture, '41-1.shard')).size).toBeGreaterThan(maxMessageBytes)
    await stubDialogs(electron, { files: [capture] })
    await chooseInMenu(electron, 'File > Open folder of a capture...')
    await treegrid().getByText('layer 1').first().waitFor()
    await go(app.page, 'capture')
    const kernels = app.page.getByRole('grid', { name: 'Kernels' })
    // Six shapes of both processes, and the headings.
    await expect.poll(() => kernels.getAttribute('aria-rowcount')).toBe('7')
  })

  it('opens nothing when that dialog is cancelled', async () => {
    await go(app.page, 'runs')
    await stubDialogs(electron, { files: [] })
    await chooseInMenu(electron, 'File > Open...')
    await expect.poll(async () => (await shownDialogs(electron)).open.length).toBe(1)
    await expect.poll(() => app.page.url()).toContain('#/runs')
    expect(state().recentFiles).toHaveLength(2)
  })

  it('opens a recent file again, and forgets the list when told to', async () => {
    await chooseInMenu(electron, `File > Open recent > ${profile('modern_a.hatchet')}`)
    await treegrid().getByText('layer0').first().waitFor()
    await chooseInMenu(electron, 'File > Open recent > Clear the list')
    expect(await menuLabels(electron)).toContain('File > Open recent > None yet')
    expect(state().recentFiles).toEqual([])
  })

  it("opens a file that the system's file manager hands over", async () => {
    await go(app.page, 'devices')
    await electron.evaluate(({ app: main }, path) => {
      main.emit('open-file', { preventDefault: () => {} }, path)
    }, profile('modern_c.hatchet'))
    await app.page
      .getByRole('heading', { name: /modern_c/ })
      .or(app.page.getByText('modern_c.hatchet'))
      .first()
      .waitFor()
    await treegrid().waitFor()
  })

  it('takes the files of a second start, which ends', async () => {
    await go(app.page, 'devices')
    expect(await desktop.startAgain(profile('legacy_b.hatchet'))).toBe(0)
    await app.page.getByText('legacy_b.hatchet').first().waitFor()
    expect(electron.windows()).toHaveLength(1)
  })

  it('goes where a deep link of a second start leads, to a node of a profile', async () => {
    expect(await desktop.startAgain('--page=/layouts?tab=compare')).toBe(0)
    await app.page.waitForURL(/#\/layouts\?tab=compare/)
    const node = encodeURIComponent('ROOT > layer0').replace(/%20/g, '+')
    expect(
      await desktop.startAgain(`--page=/profile?node=${node}`, profile('modern_a.hatchet'))
    ).toBe(0)
    await app.page.locator('[role=row][aria-selected=true]').filter({ hasText: 'layer0' }).waitFor()
  })

  it('goes nowhere for a link that is none', async () => {
    await go(app.page, 'formats')
    expect(await desktop.startAgain('--page=https://example.com')).toBe(0)
    expect(await desktop.startAgain('--page=//evil/../x')).toBe(0)
    await expect.poll(() => app.page.url()).toMatch(/^app:\/\/blockscope\/.*#\/formats/)
  })

  it('opens what is dropped on it', async () => {
    await go(app.page, 'runs')
    await drop(app.page, 'dropped.hatchet', readFileSync(join(fixtures, 'modern_c.hatchet')))
    await app.page.getByText('dropped.hatchet').first().waitFor()
  })

  it("saves what is exported where the system's dialog says", async () => {
    const path = join(desktop.userData, 'saved.hatchet')
    await electron.evaluate(({ session }, to) => {
      session.defaultSession.once('will-download', (_event, item) => item.setSavePath(to))
    }, path)
    await go(app.page, 'profile')
    await app.page.getByRole('button', { name: 'Export', exact: true }).click()
    await app.page
      .getByRole('menuitem', { name: /^Profile tree/ })
      .first()
      .click()
    await expect.poll(() => existsSync(path) && statSync(path).size).toBeGreaterThan(20)
  })

  it('says what is wrong with a copied address that is none', async () => {
    await stubDialogs(electron, {})
    await electron.evaluate(({ clipboard }) => clipboard.writeText('https://example.com/'))
    await chooseInMenu(electron, 'File > Connect to copied address of a server')
    await expect
      .poll(async () => (await shownDialogs(electron)).messages)
      .toEqual([expect.stringContaining('no address of a server')])
  })

  it('comes back where its window was, after being closed', async () => {
    await electron.evaluate(({ BrowserWindow }) => {
      const [window] = BrowserWindow.getAllWindows()
      window!.unmaximize()
      window!.setBounds({ x: 40, y: 60, width: 1100, height: 720 })
    })
    const ended = new Promise((resolve) => electron.process().once('exit', resolve))
    await electron.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]!.close())
    expect(await ended).toBe(0)
    expect(state().window.bounds).toMatchObject({ width: 1100, height: 720 })
    app = await desktop.start()
    electron = app.electron
    const bounds = await electron.evaluate(({ BrowserWindow }) =>
      BrowserWindow.getAllWindows()[0]!.getBounds()
    )
    expect(bounds).toMatchObject({ width: 1100, height: 720 })
  })

  it('starts at a file and a view that its command line names', async () => {
    await electron.close()
    app = await desktop.start('--page=/formats')
    electron = app.electron
    await app.page.waitForURL(/#\/formats/)
    await electron.close()
    app = await desktop.start(profile('modern_a.hatchet'))
    electron = app.electron
    await treegrid().getByText('layer0').first().waitFor()
  })

  it('ends when it is told to, leaving no process', async () => {
    const pids = await electron.evaluate(({ app: main }) =>
      main.getAppMetrics().map(({ pid }) => pid)
    )
    await electron.close()
    if (process.platform !== 'linux') return
    // A process that ended but is not collected, as in a container without an init, is a zombie.
    const isAlive = (pid: number) => {
      const path = `/proc/${pid}/status`
      return existsSync(path) && !/^State:\s*Z/m.test(readFileSync(path, 'utf8'))
    }
    await expect.poll(() => pids.filter(isAlive)).toEqual([])
  })
})
