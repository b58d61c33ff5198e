/**
 * Questions to resources/providers/host.py about files of Python kernels. A process that has answered one is asked the next about
 * its file, for a context of the GPU takes seconds; what a kernel crashes or hangs costs that answer, and the next has a new process.
 */
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { pythonCommand } from '../ground/python'
import { canFork, ForkingPython, newPython, type PythonProcess } from './pythonProcess'
import { patienceMs, PythonWorker, type Asking, type Question } from './pythonWorker'

/** How long a process waits for the next question; it holds memory of the GPU. */
const idleMs = 30_000

/** A process that has answered about a file, as the file was then. */
interface Idle {
  worker: PythonWorker
  changedMs: number | undefined
  timer: NodeJS.Timeout
}

export class PythonHost {
  /** Of each product that a kernel with configurations ran, the one that was best: what was validated is what is timed. */
  readonly chosen = new Map<string, unknown>()

  /** What an answer had to import for seconds, so that the next ones need not. */
  private slow: readonly string[] = []
  private forking: ForkingPython | undefined
  private mayFork = canFork
  private readonly idle = new Map<string, Idle>()

  constructor(
    private readonly script: string,
    readonly python = pythonCommand()
  ) {}

  /** Processes that have answered and wait, each with its context of the GPU. */
  get waiting(): number {
    return [...this.idle.values()].filter(({ worker }) => worker.isAlive).length
  }

  /** The answer's result, not yet parsed. Rejects with a UserError, or with the code 'cancelled' once the signal aborts. */
  async ask(question: Question, asking: Asking = {}): Promise<unknown> {
    const { file, method } = question
    // What a file of kernels imports may have changed since; a job begins with a detection.
    if (method === 'detect') this.endIdle()
    const changedMs = (await stat(file).catch(() => undefined))?.mtimeMs
    const worker = this.waitingFor(file, changedMs) ?? (await this.newWorker(asking))
    try {
      const { result, imported } = await worker.ask(question, asking)
      if (imported.some((module) => !this.slow.includes(module))) this.slow = imported
      return result
    } finally {
      if (method === 'detect') worker.end()
      else if (worker.isAlive) this.keep(file, worker, changedMs)
    }
  }

  /** Ends what waits for questions. */
  close(): void {
    this.endIdle()
    this.forking?.end()
    this.forking = undefined
  }

  private endIdle(): void {
    for (const file of this.idle.keys()) this.take(file)?.worker.end()
  }

  private take(file: string): Idle | undefined {
    const found = this.idle.get(file)
    this.idle.delete(file)
    clearTimeout(found?.timer)
    return found
  }

  private waitingFor(file: string, changedMs: number | undefined): PythonWorker | undefined {
    const found = this.take(file)
    if (!found) return undefined
    if (found.worker.isAlive && found.changedMs === changedMs) return found.worker
    found.worker.end()
    return undefined
  }

  private keep(file: string, worker: PythonWorker, changedMs: number | undefined): void {
    this.take(file)?.worker.end()
    worker.rest()
    const timer = setTimeout(() => this.take(file)?.worker.end(), idleMs).unref()
    this.idle.set(file, { worker, changedMs, timer })
  }

  private async newWorker({ signal, onPhase }: Asking): Promise<PythonWorker> {
    onPhase?.('start')
    const forked = await this.forked(signal)
    return new PythonWorker(forked ?? newPython(this.python, this.script), this.python)
  }

  /** A process that need not import; undefined where there is none, or none in the time that an answer has. */
  private async forked(signal: AbortSignal | undefined): Promise<PythonProcess | undefined> {
    if (!this.mayFork || this.slow.length === 0) return undefined
    if (!this.forking?.isAlive)
      this.forking = new ForkingPython(this.python, this.script, this.slow)
    const enough = AbortSignal.any([AbortSignal.timeout(patienceMs()), ...(signal ? [signal] : [])])
    const given = once(enough, 'abort').then(() => undefined)
    const fork = this.forking.fork()
    const process = await Promise.race([fork, given])
    if (process) return process
    void fork.then((late) => late?.kill())
    if (signal?.aborted) return undefined
    // One that hangs or dies while it imports helps nobody, and would again.
    this.mayFork &&= this.forking?.hasForked ?? false
    this.close()
    return undefined
  }
}
