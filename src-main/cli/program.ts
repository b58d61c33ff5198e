import { Command, InvalidArgumentError, type Option } from 'commander'
import { didYouMean } from '@shared/knownName'
import { version } from '../../package.json'
import { printText } from '../ground/terminal'
import { checkFlags } from './flagRules'

/** In the order of --help. Only the file of the command that is asked for is loaded: it is most of a short command's time. */
const commands: Record<string, () => Promise<{ register(program: Command): void }>> = {
  devices: () => import('./devices'),
  doctor: () => import('./doctor'),
  validate: () => import('./validate'),
  judge: () => import('./judge'),
  check: () => import('./check'),
  sweep: () => import('./sweep'),
  gate: () => import('./gate'),
  shapes: () => import('./shapes'),
  fleet: () => import('./fleet'),
  runs: () => import('./runs'),
  view: () => import('./view'),
  diff: () => import('./diff'),
  top: () => import('./top'),
  timeline: () => import('./timeline'),
  capture: () => import('./capture'),
  launches: () => import('./launches'),
  convert: () => import('./convert'),
  formats: () => import('./formats'),
  layout: () => import('./layout'),
  kernels: () => import('./kernels'),
  provider: () => import('./provider'),
  checkpoint: () => import('./checkpoint'),
  serve: () => import('./serve'),
  app: () => import('./app'),
  open: () => import('./open')
}

/** The command line for words that begin with a command's name, or whole: what --help lists and a name is guessed from. */
export async function createProgram(words: readonly string[] = []): Promise<Command> {
  const program = new Command('blockscope')
    .description('Profiler for GPU block-scaled matrix-multiplication kernels.')
    .version(version)
    .configureHelp({ showGlobalOptions: true })
  const asked = Object.hasOwn(commands, words[0] ?? '') ? [words[0]!] : Object.keys(commands)
  for (const { register } of await Promise.all(asked.map((name) => commands[name]!())))
    register(program)
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
