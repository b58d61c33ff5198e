/** The contract's methods, done: what every transport serves. */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Detection } from '@shared/contract/devices'
import type { JobSpec } from '@shared/contract/jobs'
import type { Handlers } from '@shared/contract/methods'
import { provenBy } from '@shared/measurement/examination'
import { UserError } from '@shared/errors'
import { Engine, EngineError } from '../engine/engine'
import { CaptureManager, type AllowProgram } from '../capture/captureManager'
import type { EngineHost } from '../engine/engineHost'
import type { EngineMethods } from '../engine/engineProtocol'
import { readKernelManifests, withModels, type KernelSide } from '../engine/kernelManifests'
import { machineCodeOf } from '../engine/machineCode/machineCode'
import { MachineMemory } from '../store/machineMemory'
import { keptReports } from '../store/deviceReports'
import { capturesName, RunStore } from '../store/runStore'
import { importRun } from '../store/importRun'
import { sortFiles } from './arrays/sortFiles'
import { readExample } from './examples'
import { exportRun } from './exportRun'
import { JobManager } from './jobManager'
import { OpenedFiles } from './openedFiles'
import { addPythonKernels, offerFiles, withoutFile, type TakeProvider } from './pythonFile'
import { RecordedPaths } from './recordedPaths'
import { readHistory } from './runHistory'
import { targets } from './targets'
import { doesWithout, isSettledWithout, mayDoWithout, namesAuto } from './withoutTriton'
import { callEngine } from './weights/weightWork'

export interface ApplicationOptions {
  engineHost: EngineHost
  storeFolder: string
  /** Folders with a manifest.json of kernels: the built-in one and the user's own. */
  kernelFolders: string[]
  /** Folders whose kernels are compared with those of the same ids elsewhere. */
  kernelSides?: KernelSide[]
  /** For compiled kernels. */
  cacheFolder: string
  /** Bundled examples; absent: there are none. */
  examplesFolder?: string
  /** resources/providers: Python kernels, Triton's among them. */
  providersFolder?: string
  appVersion: string
  /** 'desktop', 'server', 'command line': which shell this is. */
  host: string
  /** Whether callers may name files of this machine (operand files). Not over the network. */
  mayReadFiles: boolean
  /** Files of Python kernels whose kernels are offered to every caller; whoever started this program chose them. */
  providerFiles?: string[]
  /** Whether callers may name others, which are run: only who types a command line. Absent: no. */
  mayRunFiles?: boolean
  /**
   * Takes a file of Python kernels that a caller offers: its path once the person at this machine has allowed it to be started,
   * undefined where they have not. Absent: none is taken.
   */
  takeProvider?: TakeProvider
  /** Whether a caller may start a program to capture it; absent: none may. */
  allowProgram?: AllowProgram
}

export interface Application {
  handlers: Handlers
  jobs: JobManager
  store: RunStore
  engine: Engine
  /** What earlier jobs found out about this machine. */
  memory: MachineMemory
  /** What is here, asked once; `suffices`: whether what is found without Triton, whose import takes seconds, is enough. */
  detect(suffices?: (found: Detection) => boolean | Promise<boolean>): Promise<Detection>
  /** A file the operating system asked to open; pages that watch are told. */
  openFile(path: string): void
  /** Cancels what runs, waits until it is on disk, ends the engine. */
  close(): Promise<void>
}

/** Puts engine, store and jobs together. Nothing is started or read until a handler is called. */
export function createApplication(options: ApplicationOptions): Application {
  const store = new RunStore(options.storeFolder)
  const folders = [...options.kernelFolders, ...(options.kernelSides ?? [])]
  let manifests = readKernelManifests(folders)
  const engineOptions = () => ({
    kernelSources: manifests.sources,
    cacheDirectory: options.cacheFolder,
    providersFolder: options.providersFolder
  })
  const engine = new Engine(options.engineHost, engineOptions())
  /** The folders of kernels as they are now; warnings, if that has to wait. The engine of a job at work is left alone. */
  const rereadKernels = (): string[] => {
    const now = readKernelManifests(folders)
    if (isDeepStrictEqual(now, manifests)) return []
    if (jobs.list().length > 0)
      return ['The folders of kernels have changed: detect again when no job runs.']
    manifests = now
    engine.restartWith(engineOptions())
    return []
  }
  const paths = new RecordedPaths(options.providersFolder)
  const chosenFiles = (options.providerFiles ?? []).map((file) => paths.providerAt(file))
  const detectNow = async (
    input: EngineMethods['detect']['input'],
    warnings: string[]
  ): Promise<Detection> => {
    const found = await engine.call('detect', input).catch(refuseDetection)
    return { ...found, devices: withModels(found.devices, manifests.sources), warnings }
  }
  let detection: Promise<Detection> | undefined
  const detect = (refresh = false): Promise<Detection> => {
    if (refresh || !detection) {
      const late = refresh ? rereadKernels() : []
      const warnings = [...manifests.warnings, ...late]
      detection = detectNow(null, warnings).then((found) => offerFiles(engine, found, chosenFiles))
      detection.catch(() => (detection = undefined))
    }
    return detection
  }
  const detectEnough: Application['detect'] = async (suffices) => {
    if (!suffices || detection || chosenFiles.length > 0) return detect()
    const found = await detectNow({ withoutTriton: true }, manifests.warnings)
    return (await suffices(found)) ? found : detect()
  }
  /** What a job needs to know. */
  const detectFor = (spec: JobSpec): Promise<Detection> =>
    mayDoWithout(spec)
      ? detectEnough(({ devices }) => doesWithout(spec, devices))
      : detectEnough(namesAuto(spec) ? (found) => isSettledWithout(spec, found, memory) : undefined)
  /** Adds the kernels of a file to those that are offered; of a file that was added before, as it is now. */
  const offer = async (file: string): Promise<Detection> => {
    const found = withoutFile(await detect(), file)
    const all = { ...found, ...(await addPythonKernels(engine, file, found)) }
    if (!chosenFiles.includes(file)) chosenFiles.push(file)
    detection = Promise.resolve(all)
    return all
  }
  const memory = new MachineMemory(join(options.cacheFolder, 'machine.json'))
  const { appVersion } = options
  const jobs = new JobManager({ engine, store, memory, appVersion, detect: detectFor, paths })
  const opened = new OpenedFiles()
  const captures = new CaptureManager(join(store.folder, capturesName), options.allowProgram)

  const handlers: Handlers = {
    'app.info': async () => {
      const reports = await keptReports(store.folder)
      return {
        version: options.appVersion,
        host: options.host,
        system: `${process.platform} ${process.arch}`,
        storeFolder: store.folder,
        targets: targets.map((target) => provenBy(target, reports))
      }
    },
    'devices.detect': ({ refresh }) => detect(refresh),
    'providers.add': async ({ file: given }) => {
      if (!options.takeProvider)
        throw new UserError(
          'usage',
          'A file of Python kernels is a program: the desktop app of this machine takes one, and serve --provider FILE.py.'
        )
      const file = await options.takeProvider(given)
      return file === undefined ? {} : { file, detection: await offer(file) }
    },
    'formats.compare': (comparison, { signal }) =>
      callEngine({ engine, signal }, 'compareFormats', comparison),
    'kernels.machineCode': (wanted) => machineCodeOf(options.kernelFolders, wanted),
    'jobs.plan': async (spec) => {
      refuseFiles(spec)
      const { steps, estimate, notes } = await jobs.plan(spec)
      return { steps: steps.length, secondsRange: estimate.range, notes }
    },
    'jobs.start': async (spec) => {
      refuseFiles(spec)
      return { id: await jobs.start(spec) }
    },
    'jobs.startWithFiles': async ({ spec, files }) => {
      refusePrograms(spec)
      const { spec: named, read } = await sortFiles(spec, files)
      return { id: await jobs.start(named, { read }) }
    },
    'jobs.list': async () => jobs.list(),
    'jobs.watch': ({ id }, { signal, progress }) => jobs.watch(id, signal, progress),
    'jobs.cancel': async ({ id }) => {
      await jobs.cancel(id)
      return {}
    },
    'runs.list': () => store.list(),
    'runs.get': async ({ id }) => jobs.current(id) ?? store.read(id),
    'runs.history': ({ point, label }) => readHistory(store, point, label),
    'runs.samples': ({ id, step }) => store.samples(id, step),
    'runs.annotate': ({ id, label, notes }) => store.annotate(id, { label, notes }),
    'runs.remove': async ({ id }) => {
      await store.remove(id)
      return {}
    },
    'runs.restore': async ({ id }) => {
      await store.restore(id)
      return {}
    },
    'runs.export': async ({ id, as }) => exportRun(await store.located(id), as),
    'runs.import': ({ name, bytes }) => importRun(store, name, bytes),
    'captures.start': async (spec) => ({ id: await captures.start(spec) }),
    'captures.watch': ({ id }, { signal, progress }) => captures.watch(id, signal, progress),
    'captures.begin': async ({ id }) => {
      captures.begin(id)
      return {}
    },
    'captures.stop': async ({ id, what }) => {
      captures.stop(id, what)
      return {}
    },
    'captures.list': async () => captures.list(),
    'captures.open': async ({ id }) => ({ shards: opened.shardsOf(captures.folderOf(id)) }),
    'examples.read': ({ id }) => readExample(options.examplesFolder, id),
    'files.watchOpened': async (_input, { signal, progress }) => {
      await opened.watch(signal, progress)
      return {}
    },
    'files.read': ({ handle, at }) => opened.read(handle, at)
  }

  function refusePrograms(spec: JobSpec): void {
    const { providerFiles = [] } = paths.located(spec)
    const others = providerFiles.filter((file) => !chosenFiles.includes(file))
    if (others.length === 0 || options.mayRunFiles) return
    throw new UserError(
      'usage',
      'A file of Python kernels is a program: only the command line runs one, with --provider.'
    )
  }

  function refuseFiles(spec: JobSpec): void {
    refusePrograms(spec)
    const named = ['operandsFiles', 'resultFile'].some((name) => name in spec)
    if (named && !options.mayReadFiles) {
      throw new UserError(
        'usage',
        'Operand files are read by the command line and the desktop app, not through the server.'
      )
    }
  }

  return {
    handlers,
    jobs,
    store,
    engine,
    memory,
    detect: detectEnough,
    openFile: (path) => opened.add(path),
    async close() {
      await captures.close()
      await jobs.close()
      engine.close()
    }
  }
}

/** Without an addon nothing can be detected: that is a machine's state, not a fault of this program. */
function refuseDetection(error: unknown): never {
  if (error instanceof EngineError && error.code === 'unavailable') {
    throw new UserError('unavailable', error.message, { cause: error })
  }
  throw error
}
