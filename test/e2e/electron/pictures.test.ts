/** What the desktop app draws of each view is what the browser draws of it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { go, isTrue } from '../support/actions'
import { workerBrowser, openPage } from '../support/browser'
import { browserPath } from '../support/browserFlags'
import { startServerProcess } from '../support/server'
import { Desktop, describeInElectron, type StartedApp } from './app'

const views = [
  'devices',
  'validate',
  'sweep',
  'formats',
  'layouts',
  'profile',
  'timeline',
  'runs'
] as const
type View = (typeof views)[number]
/** As wide as the smallest window that every view is made for. */
const size = { width: 1024, height: 640 }

/**
 * By view of the app, then by view of the browser: the mean difference of two pictures' channels, 0 to 1, at a quarter of
 * their size, where glyph edges of two versions of Chromium fade.
 */
type Compared = Partial<Record<View, Record<string, number>>>

describeInElectron('pictures of the views', () => {
  const desktop = new Desktop()
  let app: StartedApp
  const settled = async (page: StartedApp['page'], view: View) => {
    await go(page, view)
    await page.getByRole('main').waitFor()
    await page.getByText('Detecting devices').first().waitFor({ state: 'detached' })
    await page.getByText('No device', { exact: true }).waitFor({ state: 'detached' })
    await page.waitForTimeout(700)
  }

  beforeAll(async () => {
    await desktop.begin()
    app = await desktop.start()
  })
  afterAll(() => desktop.end())

  it.skipIf(browserPath === undefined)('are those of the browser, view by view', async () => {
    const server = await startServerProcess()
    const browser = await workerBrowser()
    const ofBrowser: Record<string, string> = {}
    const { page, close } = await openPage(browser, server.url, { size: 'narrow' })
    for (const view of views) {
      await settled(page, view)
      ofBrowser[view] = (await page.screenshot({ animations: 'disabled' })).toString('base64')
    }
    await close()
    await server.stop()

    await app.electron.evaluate(async ({ BrowserWindow, nativeTheme }, { width, height }) => {
      nativeTheme.themeSource = 'light'
      const window = BrowserWindow.getAllWindows()[0]!
      window.unmaximize()
      window.setContentSize(width, height)
      // A browser without a window has none.
      await window.webContents.insertCSS('* { scrollbar-width: none !important }')
    }, size)
    await isTrue(app.page, `innerWidth === ${size.width} && innerHeight === ${size.height}`)
    const compared: Compared = {}
    for (const view of views) {
      await settled(app.page, view)
      compared[view] = await app.electron.evaluate(
        async ({ BrowserWindow, nativeImage }, { pictures, width, height }) => {
          const small = { width: width / 4, height: height / 4, quality: 'best' as const }
          const own = await BrowserWindow.getAllWindows()[0]!.webContents.capturePage()
          const bitmap = own.resize(small).toBitmap()
          const differences: Record<string, number> = {}
          for (const [name, base64] of Object.entries(pictures)) {
            const other = nativeImage
              .createFromBuffer(Buffer.from(base64, 'base64'))
              .resize(small)
              .toBitmap()
            if (other.length !== bitmap.length) throw new Error('The pictures differ in size.')
            let sum = 0
            for (let i = 0; i < bitmap.length; i++) sum += Math.abs(bitmap[i]! - other[i]!)
            differences[name] = sum / bitmap.length / 255
          }
          return differences
        },
        { pictures: ofBrowser, ...size }
      )
    }
    for (const view of views) {
      const differences = compared[view]!
      const nearest = Object.entries(differences).sort(([, a], [, b]) => a - b)[0]![0]
      expect(nearest, `${view}: ${JSON.stringify(differences)}`).toBe(view)
      expect(differences[view], view).toBeLessThan(0.01)
    }
  })
})
