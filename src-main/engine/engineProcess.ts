/**
 * The engine process: loads the addon, owns the device, answers EngineMethods. A kernel that faults takes this process
 * with it and nothing else. Runs under child_process.fork, or under Electron as a utilityProcess.
 */
import { compareByFormat } from './compareByFormat'
import { judgementOf } from './judgement'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { amdDevices } from './amdDevices'
import type {
  EngineDetection,
  EngineMethod,
  EngineMethods,
  FromEngine,
  ToEngine
} from './engineProtocol'
import { loadAddon } from './loadAddon'
import { PythonHost } from './pythonHost'
import { withFile, withTriton } from './pythonKernels'
import { withRaised } from './raisedScales'
import { OperandFiles } from './pythonOperands'
import { onceThrough, pythonMeasurement, runPython, timePython } from './pythonRun'
import type {
  NativeBinding,
  NativeDetection,
  NativeErrorCode,
  NativeKernel,
  NativeOpenRequest,
  NativeSession
} from './nativeBinding'
import type { NativeCancelFlag, NativeProgress } from './nativeTask'

interface ParentPort {
  on(event: 'message', listener: (event: { data: ToEngine }) => void): void
  postMessage(message: FromEngine): void
}

const parentPort = (process as { parentPort?: ParentPort }).parentPort

function send(message: FromEngine): void {
  if (parentPort) parentPort.postMessage(message)
  else process.send?.(message)
}

let loaded: NativeBinding | undefined
const addon = () => (loaded ??= loadAddon())

interface OpenSession {
  native: NativeSession
  problem: NativeOpenRequest
  /** What Python kernels read of it. */
  files: OperandFiles
}

const sessions = new Map<number, OpenSession>()
let nextSession = 1
let python: { host: PythonHost; triton: string } | undefined

function openSession(id: number): OpenSession {
  const found = sessions.get(id)
  if (!found) throw new Error(`Session ${id} is not open.`)
  return found
}
const session = (id: number) => openSession(id).native

function withSourceHashes({ libraries, devices }: NativeDetection): EngineDetection {
  const hashed = ({ identity, ...kernel }: NativeKernel) => ({
    ...kernel,
    sourceHash: createHash('sha256').update(identity).digest('hex')
  })
  return {
    libraries,
    devices: devices.map((device) => ({ ...device, kernels: device.kernels.map(hashed) }))
  }
}

/** One call's work: the addon polls the flag, a provider's process is ended by the signal. */
interface Work {
  flag: NativeCancelFlag
  signal: AbortSignal
  onProgress: NativeProgress
}

function pythonOf() {
  if (!python) throw new Error('This engine was given no folder of Python kernels.')
  return python
}

type Implementation = {
  [M in EngineMethod]: (
    input: EngineMethods[M]['input'],
    work: Work
  ) => Promise<EngineMethods[M]['output']>
}

const methods: Implementation = {
  async configure({ providersFolder: folder, ...options }) {
    addon().configure(options)
    python = folder
      ? {
          host: new PythonHost(join(folder, 'host.py')),
          triton: join(folder, 'triton', 'provider.py')
        }
      : undefined
    return { version: addon().version }
  },
  async detect(input, { onProgress }) {
    onProgress(0, 'devices and libraries')
    const found = withSourceHashes(await addon().detect())
    const all = { ...found, devices: [...found.devices, ...amdDevices(found)] }
    if (!python || input?.withoutTriton) return all
    onProgress(0.5, 'Triton')
    return withTriton(all, python.host, python.triton)
  },
  addPythonKernels: ({ file, found }) => withFile(found, pythonOf().host, file),
  async compile({ device, uses }, { flag, onProgress }) {
    await addon().compileAhead(device, uses, flag, onProgress)
    return null
  },
  async open(problem, { flag, onProgress }) {
    const native = await addon().open(problem, flag, onProgress)
    const files = new OperandFiles(problem, () => native.operands(), addon().packElements)
    sessions.set(nextSession, { native, problem, files })
    return nextSession++
  },
  async validate({ session: id, request, python: kernel }, work) {
    if (!kernel) return session(id).validate(request, work.flag, work.onProgress)
    const { native, files } = openSession(id)
    const scales = await native.chooseScales(request, work.flag, work.onProgress)
    const raised = scales.filter(({ found }) => found)
    const start = performance.now()
    const { output, afterRaising, samplesNs } = await runPython(
      pythonOf().host,
      { kernel, operands: files, rules: onceThrough },
      raised,
      work.onProgress,
      work.signal
    )
    const kernelSeconds = (performance.now() - start) / 1000
    const judged = await native.judge(output, request, work.flag, work.onProgress)
    const checks = []
    for (const scale of scales) {
      const after = afterRaising[raised.indexOf(scale)]
      const check = after && (await native.checkRaised(scale, output, after, request, work.flag))
      checks.push({ scale, check })
    }
    const told = judged.status === 'proves-nothing' ? judged : withRaised(judged, checks)
    return { ...told, kernelSeconds, launchNs: Float64Array.from(samplesNs) }
  },
  async judge({ session: id, output, request }, work) {
    const { native, problem } = openSession(id)
    const validation = await native.judge(output, request, work.flag, work.onProgress)
    work.onProgress(0.9, 'looking for the mistake')
    const judgement = judgementOf(problem, await native.operands(), output, validation)
    return { validation, judgement }
  },
  async measure({ session: id, request, python: kernel }, work) {
    const companions = python?.host.waiting ?? 0
    if (!kernel) return session(id).measure({ ...request, companions }, work.flag, work.onProgress)
    const run = { kernel, operands: openSession(id).files, rules: request }
    const answer = await timePython(pythonOf().host, run, work.onProgress, work.signal)
    return pythonMeasurement(answer, request)
  },
  roofs: ({ device }, { flag, onProgress }) => addon().measureRoofs(device, flag, onProgress),
  operands: (input) => session(input.session).operands(),
  async close(input) {
    const { native, files } = openSession(input.session)
    sessions.delete(input.session)
    await Promise.all([native.close(), files.remove()])
    return null
  },
  scanValues: ({ values, range }, { flag, onProgress }) =>
    addon().scanValues(values, range, flag, onProgress),
  quantizeRows: ({ values, range, to }, { flag, onProgress }) =>
    addon().quantizeRows(values, range, to, flag, onProgress),
  compareRows: ({ original, converted, range }, { flag, onProgress }) =>
    addon().compareRows(original, converted, range, flag, onProgress),
  async repackScales(request, { flag, onProgress }) {
    await addon().repackScales(request, flag, onProgress)
    return null
  },
  async copyBytes(request, { flag, onProgress }) {
    await addon().copyBytes(request, flag, onProgress)
    return null
  },
  compareFormats: (request, { flag }) =>
    compareByFormat(request, ({ element, scale, scaleBlockSize }, values, rule) => {
      const form = { element: element.name, scale: scale.name, scaleBlockSize, rule }
      return addon().quantizeValues(values, form, flag)
    })
}

const running = new Map<number, { cancel(): void }>()

const nativeCodes: readonly string[] = ['usage', 'unavailable', 'device', 'compile', 'cancelled']

/** The addon's code, or a UserError's kind; anything else is a fault of this program. */
function errorCode(code: unknown): NativeErrorCode | 'internal' {
  return nativeCodes.includes(String(code)) ? (code as NativeErrorCode) : 'internal'
}

async function call(id: number, method: EngineMethod, input: unknown): Promise<void> {
  try {
    const flag = addon().createCancelFlag()
    const abort = new AbortController()
    running.set(id, {
      cancel() {
        flag.cancel()
        abort.abort()
      }
    })
    const onProgress: NativeProgress = (fraction, phase) =>
      send({ type: 'progress', id, fraction, phase })
    const implementation = methods[method] as (input: unknown, work: Work) => Promise<unknown>
    const value = await implementation(input, { flag, signal: abort.signal, onProgress })
    send({ type: 'result', id, value })
  } catch (thrown) {
    const error = thrown as { code?: unknown; kind?: unknown; message?: string }
    const message = error.message ?? String(thrown)
    send({ type: 'error', id, code: errorCode(error.code ?? error.kind), message })
  } finally {
    running.delete(id)
  }
}

function receive(message: ToEngine): void {
  if (message.type === 'ping') send({ type: 'pong' })
  else if (message.type === 'cancel') running.get(message.id)?.cancel()
  else void call(message.id, message.method, message.input)
}

// Without a listener a signal may go round for ever: CUDA's libraries take its place and call Node's own, which raises it again.
const listenTo = (listener: () => void): void => {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, listener)
}
if (parentPort) {
  parentPort.on('message', (event) => receive(event.data))
  listenTo(() => process.kill(process.pid, 'SIGKILL'))
} else {
  process.on('message', (message) => receive(message as ToEngine))
  // Ctrl-C reaches every process of the terminal, and what a scheduler or timeout sends every one of the group; the parent
  // decides what it means.
  listenTo(() => {})
  // The parent is gone: nobody is left to report to.
  process.on('disconnect', () => process.exit(0))
}
