/**
 * One question to resources/providers/host.py about a file of Python kernels, in a process of its own: what a kernel crashes or
 * hangs costs that answer. Every way in which there is none becomes one sentence.
 */
import { spawn } from 'node:child_process'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import * as v from 'valibot'
import { UserError } from '@shared/errors'
import { pythonCommand } from '../ground/python'
import { tailOf } from './engineHost'

const messageSchema = v.object({
  result: v.optional(v.unknown()),
  error: v.optional(
    v.object({ code: v.picklist(['usage', 'unavailable', 'failed']), message: v.string() })
  ),
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

  constructor(
    private readonly script: string,
    readonly python = pythonCommand()
  ) {}

  /** The answer's result, not yet parsed. Rejects with a UserError, or with the code 'cancelled' once the signal aborts. */
  ask(question: Question, { signal, onPhase }: Asking = {}): Promise<unknown> {
    const name = basename(question.file)
    const child = spawn(this.python, [this.script], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
    })
    const lastWords = tailOf(child.stderr, 10_000)
    let phase = question.method === 'detect' ? 'detect' : 'prepare'
    return new Promise<unknown>((resolve, reject) => {
      let patience: NodeJS.Timeout | undefined
      const settle = () => {
        clearTimeout(patience)
        signal?.removeEventListener('abort', stop)
        child.kill('SIGKILL')
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
      child.on('error', () => fail('unavailable', `${this.python} cannot be started.`))
      // 'close' and not 'exit': all that it wrote has been read by then.
      child.on('close', (code, endedBy) => {
        const how = endedBy ? `was ended by ${endedBy}` : `ended with code ${code}`
        fail('failed', `${name}: Python ${how} in ${phase}().${toldBy(lastWords())}`)
      })
      child.stdin.on('error', () => {})
      createInterface({ input: child.stdout }).on('line', (line) => {
        const message = v.safeParse(messageSchema, parseLine(line))
        if (!message.success) return
        const { result, error, event } = message.output
        if (event) {
          phase = event.phase ?? phase
          onPhase?.(phase)
          waitOn()
        } else if (error) fail(error.code, error.message)
        else if (result !== undefined) {
          settle()
          resolve(result)
        }
      })
      // Left open: the host ends when it closes, which it does when this process is gone.
      child.stdin.write(`${JSON.stringify(question)}\n`)
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
