/** One process of Python that answers questions one after the other. Every way in which there is no answer becomes one sentence. */
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import * as v from 'valibot'
import { UserError } from '@shared/errors'
import { Patience } from '../ground/patience'
import { tailOf } from './engineHost'
import type { PythonProcess } from './pythonProcess'

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
type Message = v.InferOutput<typeof messageSchema>

/** Torch takes seconds to import, and a compiler more for one configuration: silence beyond this is a hang. */
const usualPatienceSeconds = 300

export function patienceMs(): number {
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

export interface Answered {
  result: unknown
  imported: readonly string[]
}

/** Who is told what the process says: the one question that is open. */
interface Open {
  hear(message: Message): void
  lose(kind: UserError['kind'], sentence: (question: string, phase: string) => string): void
}

export class PythonWorker {
  private open: Open | undefined
  private gone = false

  constructor(
    private readonly process: PythonProcess,
    python: string
  ) {
    const lastWords = tailOf(process.words, 10_000)
    const lose: Open['lose'] = (kind, sentence) => {
      this.gone = true
      this.open?.lose(kind, sentence)
    }
    process.onFault(() => lose('unavailable', () => `${python} cannot be started.`))
    process.onEnd((how) =>
      lose('failed', (name, phase) => `${name}: Python ${how} in ${phase}().${toldBy(lastWords())}`)
    )
    process.requests.on('error', () => {})
    createInterface({ input: process.answers }).on('line', (line) => {
      const message = v.safeParse(messageSchema, parseLine(line))
      if (message.success) this.open?.hear(message.output)
    })
  }

  /** Whether it may be asked again: what failed may have left anything behind. */
  get isAlive(): boolean {
    return !this.gone
  }

  end(): void {
    this.gone = true
    this.process.kill()
  }

  /** An idle one keeps nobody from ending. */
  rest(): void {
    this.process.hold(false)
  }

  /** One question at a time. Rejects with a UserError, or with the code 'cancelled' once the signal aborts. */
  ask(question: Question, { signal, onPhase }: Asking): Promise<Answered> {
    const name = basename(question.file)
    let phase = question.method === 'detect' ? 'detect' : 'prepare'
    this.process.hold(true)
    return new Promise((resolve, reject) => {
      const ms = patienceMs()
      const settle = () => {
        patience.end()
        signal?.removeEventListener('abort', stop)
        this.open = undefined
      }
      const fail = (kind: UserError['kind'], sentence: string) => {
        settle()
        if (kind === 'failed') this.end()
        reject(new UserError(kind, sentence))
      }
      const stop = () => {
        settle()
        this.end()
        reject(Object.assign(new Error('Cancelled.'), { code: 'cancelled' }))
      }
      const patience = new Patience(ms, () => {
        const sentence = `${name}: ${phase}() gave no sign of life for ${ms / 1000} s and was ended (BLOCKSCOPE_PROVIDER_SECONDS).`
        fail('failed', sentence)
      })
      const hear: Open['hear'] = ({ result, error, event, imported = [] }) => {
        if (event) {
          phase = event.phase ?? phase
          onPhase?.(phase)
          patience.heard()
        } else if (error) fail(error.code, error.message)
        else if (result !== undefined) {
          settle()
          resolve({ result, imported })
        }
      }
      this.open = { hear, lose: (kind, sentence) => fail(kind, sentence(name, phase)) }
      if (signal?.aborted) return stop()
      signal?.addEventListener('abort', stop, { once: true })
      // Left open: the host ends when it closes, which it does when this process is gone.
      this.process.requests.write(`${JSON.stringify(question)}\n`)
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
