/**
 * One question to resources/providers/host.py about a file of Python kernels, in a process of its own: what a kernel crashes or
 * hangs costs that answer. Every way in which there is none becomes one sentence.
 */
import { once } from 'node:events'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import * as v from 'valibot'
import { UserError } from '@shared/errors'
import { pythonCommand } from '../ground/python'
import { tailOf } from './engineHost'
import { canFork, ForkingPython, newPython, type PythonProcess } from './pythonProcess'

const messageSchema = v.object({
  result: v.optional(v.unknown()),
  error: v.optional(
    v.object({ code: v.picklist(['usage', 'unavailable', 'failed']), message: v.string() })
  ),
  /** Of what takes long to import, what it had imported. */
  imported: v.optional(v.array(v.string())),
  /** A sign of life: which method is at work, or a configuration that was tried. */
  event: v.optional(v.looseObject({ phase: v.optional(v.string()) }))
})

/** Torch takes seconds to import, and a compiler more for one configuration: silence beyond this is a hang. */
const usualPatienceSeconds = 300

function patienceMs(): number {
  const seconds = Number(process.env.BLOCKSCOPE_PROVIDER_SECONDS)
  return (seconds > 0 ? seconds : usualPatienceSeconds) * 1000
}

export interface Question {
  method: 'detect' | 'run'
  /** Absolute path of the file of kernels. */
  file: string
  [more: string]: unknown
}

export interface Asking {
  signal?: AbortSignal
  /** A sign of life: 'prepare', 'run'. */
  onPhase?: (phase: string) => void
}

export class PythonHost {
  /** Of each product that a kernel with configurations ran, the one that was best: what was validated is what is timed. */
  readonly chosen = new Map<string, unknown>()

  /** What an answer had to import for seconds, so that the next ones need not. */
  private slow: readonly string[] = []
  private forking: ForkingPython | undefined
  private mayFork = canFork

  constructor(
    private readonly script: string,
    readonly python = pythonCommand()
  ) {}

  /** The answer's result, not yet parsed. Rejects with a UserError, or with the code 'cancelled' once the signal aborts. */
  async ask(question: Question, asking: Asking = {}): Promise<unknown> {
    const forked = await this.forked(asking.signal)
    return this.answer(forked ?? newPython(this.python, this.script), question, asking)
  }

  /** Ends what waits for questions. */
  close(): void {
    this.forking?.end()
    this.forking = undefined
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

  private answer(
    child: PythonProcess,
    question: Question,
    { signal, onPhase }: Asking
  ): Promise<unknown> {
    const name = basename(question.file)
    const lastWords = tailOf(child.words, 10_000)
    let phase = question.method === 'detect' ? 'detect' : 'prepare'
    return new Promise<unknown>((resolve, reject) => {
      let patience: NodeJS.Timeout | undefined
      const settle = () => {
        clearTimeout(patience)
        signal?.removeEventListener('abort', stop)
        child.kill()
      }
      const fail = (kind: UserError['kind'], sentence: string) => {
        settle()
        reject(new UserError(kind, sentence))
      }
      const stop = () => {
        settle()
        reject(Object.assign(new Error('Cancelled.'), { code: 'cancelled' }))
      }
      const waitOn = () => {
        clearTimeout(patience)
        const ms = patienceMs()
        patience = setTimeout(
          () =>
            fail(
              'failed',
              `${name}: ${phase}() gave no sign of life for ${ms / 1000} s and was ended (BLOCKSCOPE_PROVIDER_SECONDS).`
            ),
          ms
        )
      }
      waitOn()
      if (signal?.aborted) return stop()
      signal?.addEventListener('abort', stop, { once: true })
      child.onFault(() => fail('unavailable', `${this.python} cannot be started.`))
      child.onEnd((how) =>
        fail('failed', `${name}: Python ${how} in ${phase}().${toldBy(lastWords())}`)
      )
      child.requests.on('error', () => {})
      createInterface({ input: child.answers }).on('line', (line) => {
        const message = v.safeParse(messageSchema, parseLine(line))
        if (!message.success) return
        const { result, error, event, imported } = message.output
        if (event) {
          phase = event.phase ?? phase
          onPhase?.(phase)
          waitOn()
        } else if (error) fail(error.code, error.message)
        else if (result !== undefined) {
          if (imported?.some((module) => !this.slow.includes(module))) this.slow = imported
          settle()
          resolve(result)
        }
      })
      // Left open: the host ends when it closes, which it does when this process is gone.
      child.requests.write(`${JSON.stringify(question)}\n`)
    })
  }
}

/** What a process that died had to say: a line that names an error, else its last. */
function toldBy(words: string): string {
  const lines = words
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const told = lines.findLast((line) => /error|assert|fault/i.test(line)) ?? lines.at(-1)
  return told ? ` Its last words: ${told.slice(0, 300)}` : ''
}

/** Another program under the name of Python may write anything. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
