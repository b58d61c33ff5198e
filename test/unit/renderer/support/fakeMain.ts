/** The main side in memory: answers the contract's methods, and lets a test say what a job does and when. */
import { historyPoints, labelledHistory } from '@shared/measurement/history'
import { outcomeOf } from '@shared/measurement/outcome'
import { referenceQuantize } from '@shared/formats/compare'
import { RpcError } from '@shared/contract/methods'
import type { Client, Handlers, JobEvent, Method } from '@shared/contract/methods'
import { jobSpecSchema, type JobSpec, type RunStatus } from '@shared/contract/jobs'
import * as v from 'valibot'
import type { Run, RunSummary, Step } from '@shared/contract/run'
import { compareByFormat } from '../../../../src-main/engine/compareByFormat'
import { cpu, detection, makeRun } from './samples'

type Listener = (event: JobEvent) => void

export function summaryOf(run: Run): RunSummary {
  return {
    id: run.id,
    kind: run.kind,
    label: run.label,
    notes: run.notes,
    createdAt: run.createdAt,
    status: run.status,
    device: run.device?.name ?? '',
    formats: run.spec.formats,
    shape: '',
    options: '',
    outcome: outcomeOf(run)
  }
}

export class FakeMain {
  readonly calls: { method: Method; input: unknown }[] = []
  readonly runs = new Map<string, Run>()
  readonly trash = new Map<string, Run>()
  detection = detection
  /** Answers in place of the usual ones, by method. */
  readonly overrides: Partial<Handlers> = {}
  connections = 0
  private listeners = new Map<string, Set<Listener>>()
  private drops = new Set<() => void>()
  private nextId = 1

  /** One attempt to connect, as the page's client makes it. */
  readonly connect = (): Promise<Client> => {
    this.connections++
    let open = true
    const pending = new Set<(error: RpcError) => void>()
    this.drops.add(() => {
      open = false
      for (const reject of pending) reject(new RpcError('disconnected', 'The connection closed.'))
    })
    const call = (method: Method, input: unknown, options: Record<string, unknown> = {}) => {
      if (!open) return Promise.reject(new RpcError('disconnected', 'The connection closed.'))
      this.calls.push({ method, input })
      return new Promise((resolve, reject) => {
        pending.add(reject)
        const context = {
          signal: (options.signal as AbortSignal) ?? new AbortController().signal,
          progress: (value: unknown) => {
            if (open) (options.onProgress as ((value: unknown) => void) | undefined)?.(value)
          }
        }
        const handlers = { ...this.handlers, ...this.overrides } as Record<string, unknown>
        const handler = handlers[method] as (input: unknown, context: unknown) => Promise<unknown>
        handler(input, context)
          .then(resolve, reject)
          .finally(() => pending.delete(reject))
      })
    }
    return Promise.resolve({ call } as Client)
  }

  /** Every connection breaks; jobs go on. */
  dropConnections(): void {
    for (const drop of this.drops) drop()
    this.drops.clear()
  }

  emit(id: string, event: JobEvent): void {
    for (const listener of this.listeners.get(id) ?? []) listener(event)
  }

  private start(spec: JobSpec): { id: string } {
    const id = `run-${this.nextId++}`
    this.runs.set(
      id,
      makeRun(id, {
        kind: spec.kind,
        spec,
        status: 'running',
        device: this.detection.devices.find((device) => device.id === spec.device) ?? cpu,
        createdAt: new Date().toISOString(),
        command: `blockscope ${spec.kind}`
      })
    )
    return { id }
  }

  /** A running job that already exists, as another page would have started it. */
  addJob(run: Run): void {
    this.runs.set(run.id, run)
  }

  step(id: string, step: Step): void {
    const run = this.find(id)
    run.steps = [...run.steps.filter(({ index }) => index !== step.index), step]
    this.emit(id, { type: 'step', step })
  }

  end(id: string, status: RunStatus = 'done', reason = ''): void {
    Object.assign(this.find(id), { status, reason })
    this.emit(id, { type: 'end', status, reason })
    for (const [, set] of this.ends.get(id) ?? []) set()
  }

  private ends = new Map<string, [string, () => void][]>()

  private find(id: string): Run {
    const run = this.runs.get(id)
    if (!run) throw new RpcError('not-found', `There is no run ${id}.`)
    return run
  }

  private readonly handlers: Handlers = {
    'app.info': async () => ({
      version: '0.1.0',
      host: 'server',
      system: 'linux x64',
      storeFolder: '/home/someone/.local/share/blockscope',
      targets: [
        { architecture: 'x86-64', instruction: 'vpdpbusd', state: 'run', note: 'Every machine.' },
        {
          architecture: 'sm_100a',
          instruction: 'tcgen05.mma kind::mxf4',
          state: 'compiled',
          note: 'Assembles; nobody has run it on the hardware.'
        }
      ]
    }),
    'devices.detect': async () => this.detection,
    'providers.add': async () => ({}),
    'runs.history': async ({ point, label = '' }) => {
      const points = historyPoints([...this.runs.values()])
      const shown = point ?? points[0]?.point
      return { points, point: shown, ...labelledHistory([...this.runs.values()], shown, label) }
    },
    'examples.read': async () => {
      throw new RpcError('unavailable', 'No examples came with this program.')
    },
    'kernels.machineCode': async () => {
      throw new RpcError('unavailable', 'nvcc was not found.')
    },
    'formats.compare': (comparison) => compareByFormat(comparison, referenceQuantize),
    'jobs.plan': async (spec) => ({
      steps: spec.kind === 'sweep' ? spec.kValues.length * spec.formats.length : 18,
      secondsRange: [30, 60],
      notes: []
    }),
    'jobs.startWithFiles': async ({ spec }) => this.start(spec),
    'jobs.start': async (input: JobSpec) => this.start(v.parse(jobSpecSchema, input)),
    'jobs.list': async () =>
      [...this.runs.values()].filter((run) => run.status === 'running').map(summaryOf),
    'jobs.watch': async ({ id }, { progress }) => {
      const run = this.find(id)
      progress({ type: 'snapshot', run: structuredClone(run), stepsPlanned: 18 })
      if (run.status !== 'running') {
        progress({ type: 'end', status: run.status, reason: run.reason })
        return summaryOf(run)
      }
      const set = this.listeners.get(id) ?? new Set()
      this.listeners.set(id, set.add(progress))
      await new Promise<void>((resolve) =>
        this.ends.set(id, [...(this.ends.get(id) ?? []), [id, resolve]])
      )
      return summaryOf(run)
    },
    'jobs.cancel': async ({ id }) => {
      this.end(id, 'cancelled', 'Cancelled; what was done is saved.')
      return {}
    },
    'runs.list': async () => [...this.runs.values()].map(summaryOf),
    'runs.get': async ({ id }) => this.find(id),
    'runs.samples': async () => ({
      samplesNs: Array.from({ length: 60 }, (_, index) => 1e6 + ((index * 7919) % 1000) * 40),
      samplesMHz: []
    }),
    'runs.annotate': async ({ id, label, notes }) => {
      const run = this.find(id)
      this.runs.set(id, { ...run, label: label ?? run.label, notes: notes ?? run.notes })
      return summaryOf(this.find(id))
    },
    'runs.remove': async ({ id }) => {
      this.trash.set(id, this.find(id))
      this.runs.delete(id)
      return {}
    },
    'runs.restore': async ({ id }) => {
      this.runs.set(id, this.trash.get(id)!)
      return {}
    },
    'runs.export': async ({ id, as }) => ({
      name: `${id}.${as}`,
      bytes: new TextEncoder().encode(id)
    }),
    'runs.import': async ({ name }) => {
      if (!/\.(json|zip)$/.test(name)) throw new RpcError('invalid-input', `${name} is no run.`)
      this.runs.set(name, makeRun(name))
      return summaryOf(this.find(name))
    },
    'captures.start': async () => ({}),
    'captures.watch': () => new Promise(() => {}),
    'captures.begin': async () => ({}),
    'captures.stop': async () => ({}),
    'captures.list': async () => ({ captures: [], running: null }),
    'captures.open': async () => ({ shards: [] }),
    'files.watchOpened': () => new Promise(() => {}),
    'files.read': async () => ({ name: 'x', bytes: new Uint8Array(), size: 0 })
  }
}
