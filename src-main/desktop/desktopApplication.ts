import { join } from 'node:path'
import { app } from 'electron'
import type { AllowProgram } from '../capture/captureManager'
import { createApplication } from '../jobs/handlers'
import type { Application } from '../jobs/handlers'
import type { TakeProvider } from '../jobs/pythonFile'
import { defaultStoreFolder } from '../store/runStore'
import { utilityEngineHost } from './utilityEngineHost'

export interface DesktopOptions {
  /** Asks the person before a file of Python kernels is started. */
  takeProvider: TakeProvider
  /** Asks the person before a program is started to capture it. */
  allowProgram: AllowProgram
}

/** Engine, store and jobs, with the engine as a utility process; the runs are those that the command line sees. */
export function desktopApplication({ takeProvider, allowProgram }: DesktopOptions): Application {
  const resources = app.isPackaged ? process.resourcesPath : join(app.getAppPath(), 'resources')
  return createApplication({
    engineHost: utilityEngineHost(join(app.getAppPath(), 'out', 'main', 'engine.js')),
    storeFolder: defaultStoreFolder(),
    kernelFolders: ['cuda', 'hip'].map((name) => join(resources, 'kernels', name)),
    examplesFolder: join(resources, 'examples'),
    cacheFolder: join(app.getPath('userData'), 'kernels'),
    providersFolder: join(resources, 'providers'),
    appVersion: app.getVersion(),
    host: 'desktop',
    mayReadFiles: true,
    takeProvider,
    allowProgram
  })
}
