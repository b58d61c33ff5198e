import { Command, InvalidArgumentError, type Option } from 'commander'
import { didYouMean } from '@shared/knownName'
import { version } from '../../package.json'
import { printText } from '../ground/terminal'
import * as app from './app'
import * as capture from './capture'
import * as convert from './convert'
import * as check from './check'
import * as checkpoint from './checkpoint'
import * as devices from './devices'
import * as diff from './diff'
import * as doctor from './doctor'
import { checkFlags } from './flagRules'
import * as fleet from './fleet'
import * as formats from './formats'
import * as gate from './gate'
import * as judge from './judge'
import * as kernels from './kernels'
import * as launches from './launches'
import * as layout from './layout'
import * as open from './open'
import * as provider from './provider'
import * as runs from './runs'
import * as shapes from './shapes'
import * as serve from './serve'
import * as sweep from './sweep'
import * as timeline from './timeline'
import * as top from './top'
import * as validate from './validate'
import * as view from './view'

const commands = [
  devices,
  doctor,
  validate,
  judge,
  check,
  sweep,
  gate,
  shapes,
  fleet,
  runs,
  view,
  diff,
  top,
  timeline,
  capture,
  launches,
  convert,
  formats,
  layout,
  kernels,
  provider,
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
    .configureHelp({ showGlobalOptions: true })
  for (const command of commands) command.register(program)
  return withRules(program)
}

/** What holds for every command: one sentence for what is wrong, and no flag that another overrides. */
export function withRules(program: Command): Command {
  applyRules(program)
  return program.hook('preAction', (_program, action) => checkFlags(action))
}

function applyRules(command: Command): void {
  command
    .exitOverride()
    .showHelpAfterError('Add --help for the flags.')
    .configureOutput({ writeOut: printText, writeErr: (text) => printText(text, 'stderr') })
  for (const option of command.options) {
    refuseRepeats(command, option)
    const { argChoices } = option
    if (argChoices)
      option.argParser((text) => {
        const lower = text.toLowerCase()
        const found = argChoices.find((choice) => choice.toLowerCase() === lower)
        if (found !== undefined) return found
        const near = didYouMean(text, argChoices).trimStart()
        const choices = `Allowed choices are ${argChoices.join(', ')}.`
        throw new InvalidArgumentError(near ? `${near} ${choices}` : choices)
      })
  }
  for (const inner of command.commands) applyRules(inner)
}

/** The last of two values would win in silence; a flag that takes several takes them at once. */
function refuseRepeats(command: Command, option: Option): void {
  if (option.variadic || option.isBoolean()) return
  let isGiven = false
  command.on(`option:${option.name()}`, () => {
    if (isGiven) command.error(`error: ${option.flags} is given twice; give it once.`)
    isGiven = true
  })
}
