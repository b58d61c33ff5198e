/**
 * Files of Python kernels that come in through the window. Such a file is a program: whatever the page asks for, the person
 * is told what would be started and asked, here and not in the page.
 */
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { BrowserWindow, Dialog, MessageBoxOptions, OpenDialogOptions } from 'electron'
import { makeFolder, writeFileAtomic } from '../ground/files'
import { pythonCommand } from '../ground/python'
import type { TakeProvider } from '../jobs/pythonFile'

const openOptions: OpenDialogOptions = {
  title: 'Add a file of Python kernels',
  properties: ['openFile'],
  filters: [{ name: 'Python', extensions: ['py'] }]
}

export interface PythonFilesOptions {
  dialog: Pick<Dialog, 'showOpenDialog' | 'showMessageBox'>
  /** What the dialogs belong to. */
  window: () => BrowserWindow | undefined
  /** Where files that are dropped are kept: a job is repeated by the name of its file. */
  folder: string
}

/** Absolute path of a file that may be started; undefined where the person chose none or said no. */
export function takePythonFiles({ dialog, window, folder }: PythonFilesOptions): TakeProvider {
  const allowed = new Set<string>()
  const choose = async () => {
    const owner = window()
    const { filePaths } = await (owner
      ? dialog.showOpenDialog(owner, openOptions)
      : dialog.showOpenDialog(openOptions))
    return filePaths[0]
  }
  const mayStart = async (path: string, name: string) => {
    if (allowed.has(path)) return true
    const owner = window()
    const question = questionOf(path, name)
    const { response } = await (owner
      ? dialog.showMessageBox(owner, question)
      : dialog.showMessageBox(question))
    if (response === 0) allowed.add(path)
    return response === 0
  }
  return async (given) => {
    if (!given) {
      const path = await choose()
      return path !== undefined && (await mayStart(path, path)) ? path : undefined
    }
    // By its content: what was allowed is this text, and no other under its name.
    const hash = createHash('sha256').update(given.bytes).digest('hex').slice(0, 16)
    const path = join(folder, hash, given.name)
    if (!(await mayStart(path, given.name))) return undefined
    await makeFolder(dirname(path))
    await writeFileAtomic(path, given.bytes)
    return path
  }
}

const questionOf = (path: string, name: string): MessageBoxOptions => ({
  type: 'warning',
  title: 'blockscope',
  message: `Start Python with ${name}?`,
  detail:
    `${pythonCommand()} is started with it now, and again for every step of a job with its kernels. ` +
    'The file is a program: it can do whatever you can on this computer.' +
    (path === name ? '' : `\n\nIt is kept as ${path}.`),
  buttons: ['Start it', 'Cancel'],
  defaultId: 1,
  cancelId: 1,
  noLink: true
})
