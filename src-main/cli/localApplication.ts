import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { version } from '../../package.json'
import { forkedEngineHost } from '../engine/engineHost'
import { createApplication, type Application } from '../jobs/handlers'
import { defaultStoreFolder } from '../store/runStore'

/** Folder of this program: out/node is two below it. */
export const programFolder = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..')

export interface LocalOptions {
  /** Folder of runs instead of the usual one. */
  store?: string
  /** Folder with the user's own kernels and their manifest.json. */
  kernelDir?: string[]
}

function cacheFolder(): string {
  const base = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  return join(base, 'blockscope', 'kernels')
}

/** Engine, store and jobs in this process, with the engine as a forked child. */
export function localApplication(
  options: LocalOptions,
  shell: { host: string; mayReadFiles: boolean } = { host: 'command line', mayReadFiles: true }
): Application {
  return createApplication({
    engineHost: forkedEngineHost(join(programFolder, 'out', 'node', 'engine.js')),
    storeFolder: options.store ? resolve(options.store) : defaultStoreFolder(),
    kernelFolders: [
      join(programFolder, 'resources', 'kernels', 'cuda'),
      ...(options.kernelDir ?? []).map((folder) => resolve(folder))
    ],
    cacheFolder: cacheFolder(),
    tritonScript: join(programFolder, 'resources', 'providers', 'triton', 'provider.py'),
    appVersion: version,
    ...shell
  })
}
