/** What several browser tests do in the page. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect } from 'vitest'
import type { Download, Locator, Page } from 'playwright-core'
import { themes } from './browser'

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8'
)

/** Goes to a view by the address, as a link does. */
export async function go(page: Page, view: string): Promise<void> {
  await page.evaluate(`location.hash = '#/${view}'`)
}

interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** Where something lies, pixels of the window. */
export async function boxOf(locator: Locator): Promise<Box> {
  await locator.waitFor()
  return (await locator.boundingBox())!
}

/** Where a picture lies once it is drawn and moves no more: what a gesture of the mouse aims at. */
export async function steadyBox(picture: Locator): Promise<Box> {
  await expect.poll(() => picture.getAttribute('aria-busy')).not.toBe('true')
  let last = await boxOf(picture)
  await expect
    .poll(
      async () => {
        const before = JSON.stringify(last)
        last = await boxOf(picture)
        return JSON.stringify(last) === before
      },
      { interval: 100 }
    )
    .toBe(true)
  return last
}

/** Waits until an expression of the page is true. The page's policy refuses a text as code in all but the first look of Playwright's own `waitForFunction`. */
export async function isTrue(page: Page, expression: string): Promise<void> {
  await expect.poll(() => page.evaluate(`Boolean(${expression})`)).toBe(true)
}

/** The rules of axe that look at colours; all others see the same in every look. */
const rulesOfColour = ['color-contrast', 'link-in-text-block']

/** What axe calls serious or critical on the page as it is: rule and element. `rules`: those alone. */
export async function seriousFaults(page: Page, rules?: readonly string[]): Promise<string[]> {
  // A colour that is still on its way to the next look is a contrast that nobody sees. What follows scrolling never ends.
  await page.evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
    .then(() => document.getAnimations().filter(({ timeline }) => timeline === document.timeline))
    .then((running) => Promise.allSettled(running.map(({ finished }) => finished)))`)
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axeSource)
  return page.evaluate(`(() => {
    // What breaks a rule is as grave as axe calls the rule: the others' answers would be thrown away.
    const others = axe._audit.rules.filter(({ impact }) => impact === 'minor' || impact === 'moderate')
    return axe.run({
      resultTypes: ['violations'],
      rules: Object.fromEntries(others.map(({ id }) => [id, { enabled: false }])),
      ...${JSON.stringify(rules ? { runOnly: rules } : {})}
    })
  })().then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => id + ' ' + node.html.slice(0, 160))))`)
}

/** The same in the light look and in the dark: the page follows what the system prefers. */
export async function seriousFaultsInBothLooks(page: Page): Promise<string[]> {
  const faults: string[] = []
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme })
    await page.locator(`[data-theme='${colorScheme}']`).waitFor()
    const rules = colorScheme === themes[0] ? undefined : rulesOfColour
    faults.push(...(await seriousFaults(page, rules)).map((fault) => `${colorScheme}: ${fault}`))
  }
  return faults
}

/** A thousand points, each by itself short: not one round of them is through when a test on a busy machine is. Some are measured when it resolves. */
export async function startLongSweep(page: Page): Promise<void> {
  await go(page, 'sweep')
  for (const format of ['nvfp4', 'mxfp8', 'mixed'])
    await page.getByRole('checkbox', { name: format, exact: true }).uncheck({ force: true })
  for (const axis of ['M', 'N']) await page.getByLabel(axis, { exact: true }).fill('64')
  await page.getByLabel('K', { exact: true }).fill('32..32768 step 32')
  await page.getByText('Standard', { exact: true }).click()
  await page.getByRole('button', { name: 'Start sweep' }).click()
  await expect.poll(() => sweptRows(page).count()).toBeGreaterThan(2)
}

/** The rows of a sweep's table, its headings among them. */
export const sweptRows = (page: Page): Locator =>
  page.getByRole('region', { name: 'Table' }).getByRole('row')

/** Chooses an item of a menu that saves a file. */
export async function saved(page: Page, menu: string, item: RegExp): Promise<Saved> {
  await page.getByRole('button', { name: menu, exact: true }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: item }).click()
  ])
  return contentOf(download)
}

export interface Saved {
  name: string
  bytes: Buffer
  text: string
}

async function contentOf(download: Download): Promise<Saved> {
  const bytes = readFileSync(await download.path())
  return { name: download.suggestedFilename(), bytes, text: bytes.toString('utf8') }
}

/** Drops a file on the page. */
export async function drop(page: Page, name: string, bytes: Buffer): Promise<void> {
  await dropFiles(page, [{ name, bytes, modified: 0 }])
}

interface DroppedFile {
  name: string
  bytes: Buffer
  /** When it was last changed, ms. */
  modified: number
}

/** Drops files on the page at once. */
export async function dropFiles(page: Page, files: readonly DroppedFile[]): Promise<void> {
  const texts = files.map(({ name, bytes, modified }) => [name, bytes.toString('base64'), modified])
  await page.evaluate(
    `(() => {
      const data = new DataTransfer()
      for (const [name, text, lastModified] of ${JSON.stringify(texts)}) {
        const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0))
        data.items.add(new File([bytes], name, { lastModified }))
      }
      document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }))
    })()`
  )
}
