import { InvalidArgumentError, type Command } from 'commander'
import * as v from 'valibot'
import { UserError } from '@shared/errors'
import { parseTimeLength, timeLengthNeeded } from '@shared/timeLength'
import { describeIssues } from '@shared/schemaWords'

/** Other spellings of a command's own flags: of this command alone, since another may have a flag of that name. */
export function withSpellings<C extends Command>(command: C, spellings: Record<string, string>): C {
  const parse = command.parseOptions.bind(command)
  command.parseOptions = (argv) =>
    parse(
      argv.map((word) => {
        const [flag, ...value] = word.split('=')
        const ours = Object.hasOwn(spellings, flag!) ? spellings[flag!] : undefined
        return ours === undefined ? word : [ours, ...value].join('=')
      })
    )
  return command
}

/** 'a,b c' as a list of words. */
export function wordList(text: string): string[] {
  const words = text.split(/[\s,]+/).filter(Boolean)
  if (words.length === 0) throw new InvalidArgumentError('It names nothing.')
  return words
}

/** 'a b,c' as 'a b' and 'c': names that may hold spaces. */
export function commaList(text: string): string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
  if (names.length === 0) throw new InvalidArgumentError('It names nothing.')
  return names
}

/** 0, 1, 2, ... as far as a number is exact. */
export function wholeNumber(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('A whole number is needed.')
  if (!Number.isSafeInteger(value))
    throw new InvalidArgumentError(`It is larger than ${Number.MAX_SAFE_INTEGER}.`)
  return value
}

export function positiveInteger(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) < 1)
    throw new InvalidArgumentError('A whole number above 0 is needed.')
  return wholeNumber(text)
}

export function finiteNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value))
    throw new InvalidArgumentError('A number is needed.')
  return value
}

export function nonNegative(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
    throw new InvalidArgumentError('A number, 0 or above, is needed.')
  }
  return value
}

export function positiveNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0)
    throw new InvalidArgumentError('A number above 0 is needed.')
  return value
}

/** '500ms', '2.5s', '10m', or seconds: in milliseconds. */
export function timeLength(text: string): number {
  const found = parseTimeLength(text)
  if (found === undefined) throw new InvalidArgumentError(timeLengthNeeded)
  return found
}

export function integerList(text: string): number[] {
  return wordList(text).map(positiveInteger)
}

const mostValues = 10_000

/** From, to and step, both ends included, as the Triton tutorial counts. */
export function integerRange(bounds: readonly number[], step: number): number[] {
  const [from, to] = bounds
  if (bounds.length !== 2 || from === undefined || to === undefined) {
    throw new UserError(
      'usage',
      `--K-range takes two numbers, first and last K; got ${bounds.length}.`
    )
  }
  if (to < from) {
    throw new UserError('usage', `--K-range ${from} ${to} is empty: the last K is below the first.`)
  }
  const count = Math.floor((to - from) / step) + 1
  if (count > mostValues) {
    throw new UserError(
      'usage',
      `--K-range ${from} ${to} with --K-step ${step} is ${count} values of K; at most ${mostValues} are swept at once.`
    )
  }
  return Array.from({ length: count }, (_, at) => from + at * step)
}

/** Flags that are not named as the field they fill. */
const flagsOfFields: Record<string, string> = {
  m: '-M',
  n: '-N',
  k: '-K',
  mValues: '-M',
  nValues: '-N',
  kValues: '-K',
  distribution: '--dist',
  output: '--out',
  operandsFiles: '--operands',
  operandsAs: '--operands',
  resultFile: '--result',
  resultType: '--out',
  bOrder: '--b-order',
  accumulate: '--beta',
  outputScale: '--out-scale',
  batchA: '--batch-a',
  batchB: '--batch-b',
  groups: '--groups'
}

/** 'kValues.0' is of -K. */
function flagOf(path: string): string {
  const [field] = path.split('.')
  return flagsOfFields[field!] ?? `--${field}`
}

/** Checks what the flags made by the contract's schema; a UserError names the flag. */
export function parseSpec<S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  const parsed = v.safeParse(schema, input)
  if (parsed.success) return parsed.output
  throw new UserError('usage', `${describeIssues([parsed.issues[0]], flagOf)}.`)
}
