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

/** Profiles among a command line's words, as absolute paths. `isDefaultApp`: the second word is the app's own folder. */
export function filesOf(argv: readonly string[], folder: string, isDefaultApp: boolean): string[] {
  return argv
    .slice(isDefaultApp ? 2 : 1)
    .filter((word) => !word.startsWith('-') && profileExtensions.includes(extname(word).slice(1)))
    .map((word) => resolve(folder, word))
    .filter((path) => existsSync(path))
}
