/** The parts of the system that a test plays: the native menu, and dialogs, stubbed at Electron's API. */
import type { ElectronApplication } from 'playwright-core'
import type { MenuItem } from 'electron'

/** All items of the native menu: 'File > Open recent > None yet'. Mnemonics are left out. */
export function menuLabels(electron: ElectronApplication): Promise<string[]> {
  return electron.evaluate(({ Menu }) => {
    const labelsOf = (items: MenuItem[], prefix: string): string[] =>
      items.flatMap((item) => {
        const label = prefix + item.label.replaceAll('&', '')
        return item.submenu ? labelsOf(item.submenu.items, `${label} > `) : [label]
      })
    return labelsOf(Menu.getApplicationMenu()!.items, '')
  })
}

export async function chooseInMenu(electron: ElectronApplication, path: string): Promise<void> {
  await electron.evaluate(({ Menu, BrowserWindow }, wanted) => {
    let items = Menu.getApplicationMenu()!.items
    let found: MenuItem | undefined
    for (const name of wanted.split(' > ')) {
      found = items.find((item) => item.label.replaceAll('&', '') === name)
      if (!found) throw new Error(`The menu has no "${name}" of "${wanted}".`)
      items = found.submenu?.items ?? []
    }
    if (!found?.enabled) throw new Error(`"${wanted}" is disabled.`)
    const [window] = BrowserWindow.getAllWindows()
    found.click({}, window, window?.webContents)
  }, path)
}

export interface Answers {
  /** What the dialog for files is answered with; none: cancelled. */
  files?: string[]
  /** Index of the button that a message is answered with. */
  button?: number
}

interface Shown {
  open: string[]
  messages: string[]
}

/** Answers dialogs from here on, and keeps what was asked. */
export async function stubDialogs(electron: ElectronApplication, answers: Answers): Promise<void> {
  await electron.evaluate(({ dialog }, { files = [], button = 0 }) => {
    const shown: Shown = { open: [], messages: [] }
    Object.assign(globalThis, { shownDialogs: shown })
    type Asked = { title?: string; message?: string }
    const last = (words: unknown[]) => words.at(-1) as Asked
    Object.assign(dialog, {
      showOpenDialog: async (...words: unknown[]) => {
        shown.open.push(last(words).title ?? '')
        return { canceled: files.length === 0, filePaths: files }
      },
      showMessageBox: async (...words: unknown[]) => {
        shown.messages.push(last(words).message ?? '')
        return { response: button, checkboxChecked: false }
      }
    })
  }, answers)
}

export function shownDialogs(electron: ElectronApplication): Promise<Shown> {
  return electron.evaluate(() => (globalThis as unknown as { shownDialogs: Shown }).shownDialogs)
}
