/**
 * Processes of Python. A new one takes seconds to import torch; where that was seen, a process that has imported it and done
 * nothing else forks one instead (resources/providers/blockscope_host/forking.py).
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import * as v from 'valibot'

export interface PythonProcess {
  requests: Writable
  answers: Readable
  /** What libraries print, and the words of a crash. */
  words: Readable
  kill(): void
  /** Whether this program goes on while it runs. */
  hold(isHeld: boolean): void
  /** It cannot be started. */
  onFault(listener: () => void): void
  /** Once, when it is gone and all that it wrote has been read: 'ended with code 1', 'was ended by SIGSEGV'. */
  onEnd(listener: (how: string) => void): void
}

const environment = () => ({ ...process.env, PYTHONDONTWRITEBYTECODE: '1' })

const howItEnded = (code: number | null, signal: string | null) =>
  signal ? `was ended by ${signal}` : `ended with code ${code}`

/** Pipes of a child are sockets, which its types do not say. */
function holdAll(handles: readonly unknown[], isHeld: boolean): void {
  for (const handle of handles as readonly Socket[])
    if (isHeld) handle.ref()
    else handle.unref()
}

export function newPython(python: string, script: string): PythonProcess {
  const child = spawn(python, [script], { stdio: 'pipe', env: environment() })
  return {
    ...{ requests: child.stdin, answers: child.stdout, words: child.stderr },
    kill: () => void child.kill('SIGKILL'),
    hold: (isHeld) => holdAll([child, child.stdin, child.stdout, child.stderr], isHeld),
    onFault: (listener) => void child.on('error', listener),
    // 'close' and not 'exit': all that it wrote has been read by then.
    onEnd: (listener) =>
      void child.on('close', (code, signal) => listener(howItEnded(code, signal)))
  }
}

/** What the forking process says of its children. */
const newsSchema = v.union([
  v.object({ started: v.number(), name: v.string() }),
  v.object({ ended: v.number(), code: v.nullable(v.number()), signal: v.nullable(v.string()) })
])
type Ended = Extract<v.InferOutput<typeof newsSchema>, { ended: number }>

/** Forks are sound on Linux alone: on macOS system libraries forbid them, and Windows has none. */
export const canFork = process.platform === 'linux'

/** A process of Python that has imported modules, and forks. It ends with `end`, or when this process does. */
export class ForkingPython {
  private readonly child: ChildProcessWithoutNullStreams
  private readonly started = new Map<string, (pid: number) => void>()
  private readonly ended = new Map<number, (news: Ended) => void>()
  private readonly gone = new Set<() => void>()
  private count = 0
  isAlive = true
  hasForked = false

  constructor(python: string, script: string, modules: readonly string[]) {
    this.child = spawn(python, [script, '--fork', ...modules], {
      stdio: 'pipe',
      env: environment()
    })
    const end = () => {
      if (!this.isAlive) return
      this.isAlive = false
      for (const tell of this.gone) tell()
    }
    this.child.on('error', end)
    this.child.on('close', end)
    this.child.stdin.on('error', () => {})
    this.child.stderr.resume()
    createInterface({ input: this.child.stdout }).on('line', (line) => this.hear(line))
    // An idle one keeps nobody from ending.
    holdAll([this.child, this.child.stdin, this.child.stdout, this.child.stderr], false)
  }

  end(): void {
    this.child.kill('SIGKILL')
  }

  private hear(line: string): void {
    const news = v.safeParse(newsSchema, parsed(line))
    if (!news.success) return
    if ('started' in news.output) {
      this.hasForked = true
      this.started.get(news.output.name)?.(news.output.started)
    } else this.ended.get(news.output.ended)?.(news.output)
  }

  /** A process that answers questions; undefined once this one is gone. */
  async fork(): Promise<PythonProcess | undefined> {
    if (!this.isAlive) return undefined
    const name = String(++this.count)
    // Of this user alone, and gone once both ends are connected.
    const folder = mkdtempSync(join(tmpdir(), 'blockscope-python-'))
    const sockets = ['talk', 'words'].map((file) => join(folder, file))
    const servers: Server[] = []
    let tell = () => {}
    const fault = new Promise<[]>((resolve) => this.gone.add((tell = () => resolve([]))))
    try {
      const [talks, says] = await Promise.all(sockets.map((path) => listening(path, servers)))
      const pid = new Promise<number>((resolve) => this.started.set(name, resolve))
      this.child.stdin.write(`${JSON.stringify({ name, sockets })}\n`)
      const [talk, words, number] = await Promise.race([
        Promise.all([talks!.first, says!.first, pid]),
        fault
      ])
      return talk && this.process(number!, talk, words!)
    } finally {
      this.gone.delete(tell)
      this.started.delete(name)
      for (const server of servers) server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }

  private process(pid: number, talk: Socket, words: Socket): PythonProcess {
    let forget = () => {}
    const news = new Promise<string>((resolve) => {
      this.ended.set(pid, ({ code, signal }) => resolve(howItEnded(code, signal)))
      const tell = () => resolve('ended with the process that it was forked from')
      this.gone.add(tell)
      forget = () => this.gone.delete(tell)
    })
    const read = (stream: Socket) => new Promise<void>((resolve) => stream.once('close', resolve))
    const all = Promise.all([news, read(talk), read(words)])
    void news.then(() => {
      this.ended.delete(pid)
      forget()
    })
    talk.on('error', () => {})
    words.on('error', () => {})
    return {
      ...{ requests: talk, answers: talk, words },
      kill: () => {
        // Whose child it is knows whether the number is still its own.
        this.child.stdin.write(`${JSON.stringify({ end: pid })}\n`)
        talk.destroy()
        words.destroy()
      },
      hold: (isHeld) => holdAll([talk, words], isHeld),
      onFault: () => {},
      onEnd: (listener) => void all.then(([how]) => listener(how))
    }
  }
}

/** A socket that one process connects to. */
async function listening(path: string, servers: Server[]): Promise<{ first: Promise<Socket> }> {
  const server = createServer()
  servers.push(server)
  const first = new Promise<Socket>((resolve) => server.once('connection', resolve))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  return { first }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
