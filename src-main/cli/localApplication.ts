import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UserError } from '@shared/errors'
import { version } from '../../package.json'
import { forkedEngineHost } from '../engine/engineHost'
import { readKernelManifests, type KernelSide } from '../engine/kernelManifests'
import { createApplication, type Application, type ApplicationOptions } from '../jobs/handlers'
import { baseFolder, defaultStoreFolder } from '../store/runStore'

/** Folder of this program: out/node is two below it. */
export const programFolder = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..')

export const builtInKernels = ['cuda', 'hip'].map((name) =>
  join(programFolder, 'resources', 'kernels', name)
)

/** Python kernels, Triton's among them. */
export const providersFolder = join(programFolder, 'resources', 'providers')

type Shell = Pick<
  ApplicationOptions,
  'host' | 'mayReadFiles' | 'mayRunFiles' | 'providerFiles' | 'allowProgram'
>

export interface LocalOptions {
  /** Folder of runs instead of the usual one. */
  store?: string
  /** Folder with the user's own kernels and their manifest.json. */
  kernelDir?: string[]
  /** Folders whose kernels are compared with those of the same ids elsewhere. */
  kernelSides?: KernelSide[]
}

function cacheFolder(): string {
  const base = baseFolder('XDG_CACHE_HOME') ?? join(homedir(), '.cache')
  return join(base, 'blockscope', 'kernels')
}

/** A folder that a person named and that does not load is an error: its kernels would be left out in silence. */
function checkKernelFolders(folders: readonly (string | KernelSide)[], named: string): void {
  const { warnings } = readKernelManifests([...builtInKernels, ...folders])
  if (warnings.length > 0) throw new UserError('usage', `${named}${warnings.join(' ')}`)
}

/** Engine, store and jobs in this process, with the engine as a forked child. */
export function localApplication(
  options: LocalOptions,
  shell: Shell = { host: 'command line', mayReadFiles: true, mayRunFiles: true }
): Application {
  const ownKernels = (options.kernelDir ?? []).map((folder) => resolve(folder))
  if (ownKernels.length > 0) checkKernelFolders(ownKernels, '--kernel-dir: ')
  const { kernelSides = [] } = options
  if (kernelSides.length > 0) checkKernelFolders(kernelSides, '')
  return createApplication({
    engineHost: forkedEngineHost(join(programFolder, 'out', 'node', 'engine.js')),
    storeFolder: options.store ? resolve(options.store) : defaultStoreFolder(),
    kernelFolders: [...builtInKernels, ...ownKernels],
    kernelSides,
    cacheFolder: cacheFolder(),
    examplesFolder: join(programFolder, 'resources', 'examples'),
    providersFolder,
    appVersion: version,
    ...shell
  })
}
