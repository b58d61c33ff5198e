import { existsSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import type { OpenDialogOptions } from 'electron'

/** As in electron-builder.yml, and what else the profile view reads. */
const profileExtensions = ['hatchet', 'hatchet_msgpack', 'chrome_trace', 'json']

export const openDialogOptions: OpenDialogOptions = {
  title: 'Open profiles',
  properties: ['openFile', 'multiSelections'],
  filters: [
    { name: 'Profiles', extensions: profileExtensions },
    { name: 'All files', extensions: ['*'] }
  ]
}

/** The page that `blockscope open` asks for, '/profile?run=...'; nothing but a view's name and its parameters is taken. */
export function pageOf(argv: readonly string[]): string | undefined {
  const prefix = '--page='
  const page = argv.find((word) => word.startsWith(prefix))?.slice(prefix.length)
  return page !== undefined && isPage(page) ? page : undefined
}

export const isPage = (text: string): boolean => /^\/[a-z]+(\?[\w.~*%+=&-]*)?$/.test(text)

/** Profiles among a command line's words, as absolute paths. `isDefaultApp`: the second word is the app's own folder. */
export function filesOf(argv: readonly string[], folder: string, isDefaultApp: boolean): string[] {
  return argv
    .slice(isDefaultApp ? 2 : 1)
    .filter((word) => !word.startsWith('-') && profileExtensions.includes(extname(word).slice(1)))
    .map((word) => resolve(folder, word))
    .filter((path) => existsSync(path))
}
