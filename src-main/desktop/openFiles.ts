import { statSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import type { OpenDialogOptions } from 'electron'
import { captureFolderOf } from '../capture/captureFolder'

/** As in electron-builder.yml, and what else the profile view reads. */
const profileExtensions = ['hatchet', 'hatchet_msgpack', 'chrome_trace', 'json', 'shard']

export const openDialogOptions: OpenDialogOptions = {
  title: 'Open profiles',
  properties: ['openFile', 'multiSelections'],
  filters: [
    { name: 'Profiles', extensions: profileExtensions },
    { name: 'All files', extensions: ['*'] }
  ]
}

/** The folder of a capture. */
export const openFolderOptions: OpenDialogOptions = {
  title: 'Open the folder of a capture',
  properties: ['openDirectory']
}

/** The page that `blockscope open` asks for, '/profile?run=...'; nothing but a view's name and its parameters is taken. */
export function pageOf(argv: readonly string[]): string | undefined {
  const prefix = '--page='
  const page = argv.find((word) => word.startsWith(prefix))?.slice(prefix.length)
  return page !== undefined && isPage(page) ? page : undefined
}

export const isPage = (text: string): boolean => /^\/[a-z]+(\?[\w.~*%+=&-]*)?$/.test(text)

/** Profiles, and folders of captures, among a command line's words, as absolute paths. `isDefaultApp`: the second word is the app's own folder. */
export function filesOf(argv: readonly string[], folder: string, isDefaultApp: boolean): string[] {
  return argv
    .slice(isDefaultApp ? 2 : 1)
    .filter((word) => !word.startsWith('-'))
    .map((word) => resolve(folder, word))
    .filter((path) => {
      const found = statSync(path, { throwIfNoEntry: false })
      if (found?.isDirectory()) return captureFolderOf(path) !== undefined
      return found !== undefined && profileExtensions.includes(extname(path).slice(1))
    })
}
