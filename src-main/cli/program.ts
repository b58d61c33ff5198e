import { Command } from 'commander'
import { version } from '../../package.json'
import * as app from './app'
import * as convert from './convert'
import * as checkpoint from './checkpoint'
import * as devices from './devices'
import * as diff from './diff'
import * as formats from './formats'
import * as layout from './layout'
import * as open from './open'
import * as runs from './runs'
import * as serve from './serve'
import * as sweep from './sweep'
import * as top from './top'
import * as validate from './validate'
import * as view from './view'

const commands = [
  devices,
  validate,
  sweep,
  runs,
  view,
  diff,
  top,
  convert,
  formats,
  layout,
  checkpoint,
  serve,
  app,
  open
]

/** The whole command line; each command is a file of its own. */
export function createProgram(): Command {
  const program = new Command('blockscope')
    .description('Profiler for GPU block-scaled matrix-multiplication kernels.')
    .version(version)
    .showHelpAfterError('Add --help for the flags.')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
  for (const command of commands) command.register(program)
  for (const command of program.commands) inheritExit(command)
  return program
}

/** Commander copies settings to a command when it is made by .command(), not to those within it made earlier. */
function inheritExit(command: Command): void {
  command.exitOverride().showHelpAfterError('Add --help for the flags.')
  for (const inner of command.commands) inheritExit(inner)
}
