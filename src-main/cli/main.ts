import { CommanderError } from 'commander'
import { UserError, exitCodeOf, messageOf } from '@shared/errors'
import { RpcError, type RpcErrorCode } from '@shared/contract/methods'
import { EngineError } from '../engine/engine'
import { hasLostOutput, printNote } from '../ground/terminal'
import { Stopped } from '../jobs/weights/weightWork'
import { createProgram } from './program'

const rpcExitCodes: Partial<Record<RpcErrorCode, number>> = {
  'invalid-input': 2,
  'not-found': 2,
  unavailable: 3
}

/** As a shell reports SIGINT. */
const interrupted = 130

function exitCodeFor(error: unknown): number {
  // Commander has printed its own sentence; help and version are no errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodeOf.usage
  if (error instanceof Stopped) return interrupted
  if (error instanceof UserError) return exitCodeOf[error.kind]
  if (error instanceof RpcError) return rpcExitCodes[error.code] ?? 1
  return 1
}

/** What nobody foresaw is said to be that. */
function sentenceOf(error: unknown): string {
  const isForeseen = [UserError, RpcError, EngineError].some((kind) => error instanceof kind)
  if (isForeseen) return messageOf(error)
  return `this is a fault of blockscope: ${messageOf(error)}. BLOCKSCOPE_DEBUG=1 shows where it is.`
}

/** Flags of the program itself; every other that stands first is of the main job, as in Triton's tutorial. */
const ownFlags = ['-h', '--help', '-V', '--version']

const withCommand = (words: readonly string[]): string[] =>
  words[0]?.startsWith('-') && !ownFlags.includes(words[0]) ? ['validate', ...words] : [...words]

/** Runs a command line, without the program's own name; what it has to say is printed. Leaves process.exitCode. */
export async function main(words: readonly string[]): Promise<void> {
  try {
    const asked = withCommand(words)
    await (await createProgram(asked)).parseAsync(asked, { from: 'user' })
  } catch (error) {
    process.exitCode = exitCodeFor(error)
    if (!(error instanceof CommanderError)) {
      printNote(`blockscope: ${sentenceOf(error)}`)
      if (process.env.BLOCKSCOPE_DEBUG && error instanceof Error)
        printNote((error.stack ?? '').split('\n'))
    }
  }
  if (hasLostOutput()) process.exitCode = exitCodeOf.failed
}
