import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { OutputFile } from '../ground/files'

const pageLifeMs = 60_000

/** Whether windows can be shown: always on macOS and Windows, with X11 or Wayland elsewhere. */
export function hasDisplay(
  environment: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform
): boolean {
  if (platform === 'darwin' || platform === 'win32') return true
  return Boolean(environment.DISPLAY || environment.WAYLAND_DISPLAY)
}

/** A page that leads on to `url`. */
export const redirectPage = (url: string): string =>
  '<!doctype html><meta charset="utf-8"><title>blockscope</title>' +
  `<meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">blockscope</a>\n`

/**
 * Opens the browser at a secret address. Arguments of a process can be read by every user of the machine, so the browser
 * is given a file that only its owner can read and that leads on to the address.
 */
export function openBrowser(url: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-'))
  const page = join(folder, 'open.html')
  const file = new OutputFile(page, {})
  file.write(redirectPage(url))
  file.commit()
  const remove = () => rmSync(folder, { recursive: true, force: true })
  setTimeout(remove, pageLifeMs).unref()
  process.once('exit', remove)

  const address = pathToFileURL(page).href
  const [command, ...parts]: [string, ...string[]] =
    process.platform === 'darwin'
      ? ['open', address]
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '""', address]
        : ['xdg-open', address]
  const child = spawn(command, parts, { stdio: 'ignore', detached: true })
  // Without a browser the printed address remains.
  child.on('error', () => {})
  child.unref()
}
