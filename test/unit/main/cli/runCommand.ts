import { Command } from 'commander'
import { withRules } from '../../../../src-main/cli/program'

export interface CommandResult {
  stdout: string
  stderr: string
}

/** Runs one command in this process and returns what it wrote; what it throws is thrown. */
export async function runCommand(
  register: (program: Command) => void,
  argv: readonly string[]
): Promise<CommandResult> {
  const program = new Command('blockscope').exitOverride()
  register(program)
  withRules(program)
  for (const command of program.commands) {
    command.exitOverride().configureOutput({ writeErr: () => undefined })
  }
  const result: CommandResult = { stdout: '', stderr: '' }
  const collect = (stream: 'stdout' | 'stderr') => {
    const original = process[stream].write
    process[stream].write = ((text: string | Uint8Array) => {
      result[stream] += String(text)
      return true
    }) as typeof process.stdout.write
    return () => (process[stream].write = original)
  }
  const restore = [collect('stdout'), collect('stderr')]
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } finally {
    for (const undo of restore) undo()
  }
  return result
}
