import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { KernelRow } from '@shared/contract/kernelRow'
import { version } from '../../package.json'
import { forkedEngineHost } from '../engine/engineHost'
import { readKernelSources, type KernelSide } from '../engine/kernelManifests'
import { createApplication, type Application, type ApplicationOptions } from '../jobs/handlers'
import { baseFolder, defaultStoreFolder } from '../store/runStore'

/** Folder of this program: out/node is two below it. */
export const programFolder = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..')

export const builtInKernels = ['cuda', 'hip'].map((name) =>
  join(programFolder, 'resources', 'kernels', name)
)

/** The built-in folders and those of --kernel-dir. */
export const kernelFoldersOf = (kernelDir: readonly string[] = []): string[] => [
  ...builtInKernels,
  ...kernelDir.map((folder) => resolve(folder))
]

/** Throws a UserError for a folder of --kernel-dir that does not load. */
export const kernelSourcesOf = (kernelDir?: readonly string[]): KernelRow[] =>
  readKernelSources(kernelFoldersOf(kernelDir), '--kernel-dir: ')

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

/** Engine, store and jobs in this process, with the engine as a forked child. */
export function localApplication(
  options: LocalOptions,
  shell: Shell = { host: 'command line', mayReadFiles: true, mayRunFiles: true }
): Application {
  const { kernelDir = [], kernelSides = [] } = options
  if (kernelDir.length > 0) kernelSourcesOf(kernelDir)
  if (kernelSides.length > 0) readKernelSources([...builtInKernels, ...kernelSides])
  return createApplication({
    engineHost: forkedEngineHost(join(programFolder, 'out', 'node', 'engine.js')),
    storeFolder: options.store ? resolve(options.store) : defaultStoreFolder(),
    kernelFolders: kernelFoldersOf(kernelDir),
    kernelSides,
    cacheFolder: cacheFolder(),
    examplesFolder: join(programFolder, 'resources', 'examples'),
    providersFolder,
    appVersion: version,
    ...shell
  })
}
