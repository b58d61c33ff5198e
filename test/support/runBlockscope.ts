import { spawn } from 'node:child_process'

export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunningProgram {
  pid: number
  /** Resolves when what has been printed so far, on either stream, matches. */
  printed(pattern: RegExp): Promise<void>
  signal(name: NodeJS.Signals): void
  /** To all that it started too, as a terminal and a scheduler do; of a program with a group of its own. */
  signalGroup(name: NodeJS.Signals): void
  done: Promise<Finished>
}

/** Starts the real program as a child. */
export function startBlockscope(
  args: string[],
  env: NodeJS.ProcessEnv = {},
  { ownGroup = false } = {}
): RunningProgram {
  const child = spawn(process.execPath, ['out/node/blockscope.js', ...args], {
    env: { ...process.env, ...env },
    detached: ownGroup,
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const output = { stdout: '', stderr: '' }
  const listeners = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      output[name] += chunk.toString()
      for (const listener of listeners) listener()
    })
  }
  const done = new Promise<Finished>((resolve) =>
    child.on('close', (code) => resolve({ code, ...output }))
  )
  return {
    pid: child.pid!,
    signal: (name) => void child.kill(name),
    signalGroup: (name) => void process.kill(-child.pid!, name),
    done,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (!pattern.test(output.stdout + output.stderr)) return
          listeners.delete(check)
          resolve()
        }
        listeners.add(check)
        check()
        // 'exit' and not 'close': what it started may hold its streams open.
        child.once('exit', (code, signal) =>
          setTimeout(
            () =>
              reject(
                new Error(
                  `ended with ${code ?? signal} before it printed ${pattern}: ${output.stderr}`
                )
              ),
            1000
          )
        )
      })
  }
}

export function runBlockscope(args: string[], env?: NodeJS.ProcessEnv): Promise<Finished> {
  return startBlockscope(args, env).done
}
