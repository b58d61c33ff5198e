/**
 * Which flags of a command do not go together. A flag that another one overrides, or that does nothing without another, is
 * an error and never silence: what a run records would not be what was asked. One table for all commands.
 */
import type { Command } from 'commander'
import { UserError } from '@shared/errors'

export interface FlagRule {
  /** 'runs export' */
  commands: string[]
  /** Names of flags, any of which ... */
  flags: string[]
  /** ... excludes each of these, */
  excludes?: string[]
  /** ... or needs one of these. */
  needs?: string[]
  /** With this flag the rule does not hold. */
  unless?: string
  why: string
}

/** Commands whose flags may name the tensors of a weight. */
const commandsOfWeights = [
  ...['list', 'slice', 'error', 'convert'].map((name) => `checkpoint ${name}`),
  'formats compare'
]

export const flagRules: FlagRule[] = [
  {
    commands: ['validate'],
    flags: ['--operands'],
    excludes: [
      ...['-M', '-N', '-K', '--seed', '--dist'],
      ...['--beta', '--batch', '--batch-a', '--batch-b']
    ],
    why: 'the file brings shape and values'
  },
  {
    commands: ['validate'],
    flags: ['--packing', '--scale-layout', '--scale-layout-a', '--scale-layout-b'],
    needs: ['--operands'],
    why: 'it says how the arrays of that file lie'
  },
  {
    commands: ['validate', 'judge', 'check'],
    flags: ['--scale-layout'],
    excludes: ['--scale-layout-a', '--scale-layout-b'],
    why: 'it is the layout of both'
  },
  {
    commands: ['validate', 'sweep'],
    flags: ['--batch'],
    excludes: ['--batch-a', '--batch-b'],
    why: 'it is the batch of both'
  },
  {
    commands: ['doctor'],
    flags: ['--add'],
    excludes: ['--device', '--output', '--force', '--json'],
    why: 'it keeps the report of another machine and examines nothing'
  },
  {
    commands: ['capture'],
    flags: ['--graphs'],
    excludes: ['--graph-nodes'],
    why: 'a graph is recorded whole or kernel by kernel'
  },
  {
    commands: ['capture'],
    flags: ['--every-process'],
    excludes: ['--only'],
    why: 'both say which processes'
  },
  {
    commands: ['capture'],
    flags: ['--on-signal'],
    excludes: ['--after'],
    why: 'both say when it begins'
  },
  { commands: ['capture'], flags: ['--force'], needs: ['--out'], why: 'it replaces that folder' },
  {
    commands: ['launches'],
    flags: ['--each'],
    excludes: ['--number', '--short', '--no-demangle', '--by', '--flops'],
    why: 'each launch is a row, with its name as recorded'
  },
  { commands: ['validate'], flags: ['--force'], needs: ['--report'], why: 'it replaces a report' },
  {
    commands: ['validate'],
    flags: ['--bench'],
    excludes: ['--operands', '--json'],
    why: 'a sweep of its own operands follows, a run of its own'
  },
  {
    commands: ['validate', 'sweep'],
    flags: ['-K'],
    excludes: ['--K-range'],
    why: 'both say which K'
  },
  {
    commands: ['validate', 'sweep'],
    flags: ['--K-step'],
    needs: ['--K-range'],
    why: 'it is its distance'
  },
  {
    commands: ['validate', 'sweep'],
    flags: ['--shapes'],
    excludes: ['--K-range'],
    why: 'the shapes bring M, N and K'
  },
  {
    commands: ['validate'],
    flags: ['--K-range', '--warmup', '--reps'],
    needs: ['--bench'],
    why: 'it is of the sweep that follows'
  },
  {
    commands: ['sweep'],
    flags: ['--out-dir'],
    excludes: ['--store'],
    why: 'the folder stands instead of one in the store'
  },
  {
    commands: ['validate', 'sweep', 'gate'],
    flags: ['--shapes'],
    excludes: ['-M', '-N', '-K'],
    why: 'the shapes bring M, N and K'
  },
  {
    commands: ['validate'],
    flags: ['--shapes'],
    excludes: ['--operands'],
    why: 'the file brings its shape'
  },
  {
    commands: ['validate', 'sweep', 'gate'],
    flags: ['--tokens', '--tp'],
    needs: ['--shapes'],
    why: 'they say which of its shapes'
  },
  {
    commands: ['validate', 'sweep'],
    flags: ['--groups'],
    excludes: ['-M', '--shapes', '--batch', '--batch-a', '--batch-b'],
    why: 'the groups bring M, each with a matrix of B'
  },
  {
    commands: ['validate'],
    flags: ['--groups'],
    excludes: ['--operands'],
    why: 'the file brings its groups'
  },
  {
    commands: ['validate', 'sweep'],
    flags: ['--group-align', '--max-rows'],
    needs: ['--groups'],
    why: 'it says how they stand'
  },
  {
    commands: ['validate', 'sweep'],
    flags: ['--group-layout'],
    needs: ['--groups', '--shapes'],
    why: 'it says how groups stand'
  },
  {
    commands: ['layout detect'],
    flags: ['--groups'],
    excludes: ['--rows'],
    why: 'both say how many rows there are'
  },
  {
    commands: ['layout detect'],
    flags: ['--groups'],
    needs: ['--linear'],
    why: 'groups are told by their linear scales'
  },
  {
    commands: ['gate'],
    flags: ['--group-layout'],
    needs: ['--shapes'],
    why: 'it says how experts stand'
  },
  {
    commands: ['gate'],
    flags: ['--record'],
    needs: ['--baseline'],
    why: 'it adds to that file'
  },
  {
    commands: ['gate'],
    flags: ['--record'],
    excludes: ['--junit', '--markdown', '--dashboard', '--confidence', '--margin'],
    why: 'a record is compared with nothing'
  },
  {
    commands: ['view'],
    flags: ['--proton'],
    excludes: [
      ...['--sort', '--metadata', '--no-demangle', '--hot-path', '--flat', '--inverted'],
      ...['--node', '--group', '--by-name', '--json', '--short']
    ],
    why: "proton-viewer's text has no such thing"
  },
  {
    commands: ['view'],
    flags: ['--list'],
    excludes: [
      ...['--metrics', '--include', '--exclude', '--threshold', '--depth', '--format'],
      ...['--print-sorted', '--diff-profile', '--sort', '--no-demangle', '--hot-path', '--flat'],
      ...['--metadata', '--inverted', '--node', '--group', '--by-name', '--short']
    ],
    why: 'it lists metrics alone'
  },
  {
    commands: ['view', 'diff', 'top', 'launches'],
    flags: ['--short'],
    excludes: ['--no-demangle'],
    why: 'a mangled name has nothing to shorten'
  },
  {
    commands: ['view'],
    flags: ['--json'],
    excludes: ['--print-sorted'],
    why: 'JSON has each row once'
  },
  {
    commands: ['view'],
    flags: ['--by-name'],
    needs: ['--diff-profile'],
    why: 'it matches two profiles'
  },
  {
    commands: ['view', 'diff'],
    flags: ['--flat'],
    excludes: ['--inverted', '--group'],
    why: 'each arranges the rows'
  },
  {
    commands: ['view', 'diff'],
    flags: ['--inverted'],
    excludes: ['--group'],
    why: 'each arranges the rows'
  },
  {
    commands: ['runs show'],
    flags: ['--json'],
    excludes: ['--advice'],
    why: 'the JSON is the run as it is stored'
  },
  {
    commands: ['formats compare'],
    flags: ['--file', '--tensor'],
    excludes: ['--dist', '--seed'],
    why: 'the values are those of the tensor'
  },
  {
    commands: ['layout detect'],
    flags: ['--linear'],
    excludes: [
      ...['--side', '--operands', '--format', '-M', '-N', '-K', '--a', '--b'],
      ...['--other-scales', '--product', '--packing']
    ],
    why: 'it is judged by the linear scales'
  },
  {
    commands: ['layout detect'],
    flags: ['--operands'],
    excludes: ['--format', '-M', '-N', '-K', '--a', '--b', '--other-scales', '--product'],
    why: 'the file brings all of them'
  },
  {
    commands: ['layout detect'],
    flags: ['--rows', '--cols'],
    needs: ['--linear'],
    why: 'operands say how many scales there are'
  },
  {
    commands: commandsOfWeights,
    flags: ['--codes'],
    needs: ['--scales'],
    why: 'codes have values with their scales only'
  },
  {
    commands: commandsOfWeights,
    flags: ['--codes'],
    needs: ['--format'],
    why: 'codes alone do not say what they are'
  },
  {
    commands: commandsOfWeights,
    flags: ['--codes'],
    excludes: ['--convention'],
    why: 'the names are the convention'
  },
  {
    commands: commandsOfWeights,
    flags: ['--scales', '--global-scale', '--format', '--order'],
    needs: ['--codes'],
    why: 'they describe those codes'
  },
  {
    commands: commandsOfWeights,
    flags: ['--global-scale-use'],
    needs: ['--global-scale'],
    why: 'it says how that is used'
  },
  {
    commands: ['formats compare'],
    flags: ['--codes', '--convention', '--input-layout'],
    needs: ['--file'],
    why: 'they say how a weight of it is stored'
  },
  {
    commands: ['checkpoint convert'],
    flags: ['--rule', '--keep'],
    needs: ['--requantise'],
    why: 'without it no value changes'
  },
  {
    commands: ['checkpoint error'],
    flags: ['--original-tensor'],
    needs: ['--tensor'],
    why: 'it is of one weight'
  }
]

/** Throws a UserError for the first rule that the command line breaks. */
export function checkFlags(command: Command): void {
  const path = pathOf(command)
  const isGiven = (flag: string) => {
    const option = command.options.find(({ long, short }) => long === flag || short === flag)
    return option !== undefined && command.getOptionValueSource(option.attributeName()) === 'cli'
  }
  for (const rule of flagRules.filter(({ commands }) => commands.includes(path))) {
    if (rule.unless && isGiven(rule.unless)) continue
    for (const flag of rule.flags.filter(isGiven)) {
      const clash = rule.excludes?.find(isGiven)
      if (clash !== undefined)
        throw new UserError('usage', `${flag} and ${clash} exclude each other: ${rule.why}.`)
      if (rule.needs && !rule.needs.some(isGiven))
        throw new UserError('usage', `${flag} goes with ${rule.needs.join(' or ')}: ${rule.why}.`)
    }
  }
}

/** 'runs export' */
export function pathOf(command: Command): string {
  const names: string[] = []
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name())
  return names.join(' ')
}
