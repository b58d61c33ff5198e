import { CommanderError } from 'commander'
import { UserError, exitCodeOf, messageOf } from '@shared/errors'
import { RpcError, type RpcErrorCode } from '@shared/contract/methods'
import { withTutorialFlags } from './arguments'
import { createProgram } from './program'

/** A reader that went away (blockscope view ... | head) is no error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

const rpcExitCodes: Partial<Record<RpcErrorCode, number>> = {
  'invalid-input': 2,
  'not-found': 2,
  unavailable: 3
}

function exitCodeFor(error: unknown): number {
  if (error instanceof UserError) return exitCodeOf[error.kind]
  if (error instanceof RpcError) return rpcExitCodes[error.code] ?? 1
  return 1
}

async function main(): Promise<void> {
  try {
    await createProgram().parseAsync(withTutorialFlags(process.argv))
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed its own sentence; help and version are no errors.
      process.exitCode = error.exitCode === 0 ? 0 : 2
      return
    }
    process.stderr.write(`blockscope: ${messageOf(error)}\n`)
    if (process.env.BLOCKSCOPE_DEBUG && error instanceof Error) {
      process.stderr.write(`${error.stack}\n`)
    }
    process.exitCode = exitCodeFor(error)
  }
}

void main()
