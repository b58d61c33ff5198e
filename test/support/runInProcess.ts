import { main } from '../../src-main/cli/main'
import type { Finished } from './runBlockscope'

/**
 * The command line as blockscope.js runs it, in this process: what it printed and the exit code that it left. One at a
 * time: the streams and the exit code are the process's own.
 */
export async function runInProcess(
  args: readonly string[],
  env: Record<string, string> = {}
): Promise<Finished> {
  const before = { env: { ...process.env }, code: process.exitCode }
  const result: Finished = { code: 0, stdout: '', stderr: '' }
  const restore = (['stdout', 'stderr'] as const).map((stream) => {
    const original = process[stream].write
    process[stream].write = ((data: string | Uint8Array) => {
      result[stream] += typeof data === 'string' ? data : Buffer.from(data).toString()
      return true
    }) as typeof process.stdout.write
    return () => (process[stream].write = original)
  })
  Object.assign(process.env, env)
  process.exitCode = undefined
  try {
    await main(args)
    result.code = Number(process.exitCode ?? 0)
  } finally {
    for (const undo of restore) undo()
    process.exitCode = before.code
    for (const name of Object.keys(env)) delete process.env[name]
    Object.assign(process.env, before.env)
  }
  return result
}
