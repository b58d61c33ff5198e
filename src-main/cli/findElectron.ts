import { existsSync } from 'node:fs'
import { join } from 'node:path'

const executables: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'Electron.app/Contents/MacOS/Electron',
  win32: 'electron.exe'
}

/**
 * Path of an Electron that is there already. Importing the package 'electron' would download one, so the places where it
 * keeps its binary are looked at instead.
 */
export function findElectron(
  programFolder: string,
  environment: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform
): string | undefined {
  const executable = executables[platform] ?? 'electron'
  const folders = [
    environment.ELECTRON_OVERRIDE_DIST_PATH,
    join(programFolder, 'node_modules', 'electron', 'dist')
  ]
  return folders
    .filter((folder): folder is string => Boolean(folder))
    .map((folder) => join(folder, executable))
    .find((path) => existsSync(path))
}
