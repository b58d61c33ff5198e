import { InvalidArgumentError } from 'commander'
import * as v from 'valibot'
import { UserError } from '@shared/errors'

/** The Triton tutorial's spellings of our flags. */
const tutorialFlags: Record<string, string> = {
  '--K_range': '--K-range',
  '--K_step': '--K-step',
  '--format': '--formats'
}

export function withTutorialFlags(argv: readonly string[]): string[] {
  return argv.map((word) => {
    const [flag, ...value] = word.split('=')
    const ours = tutorialFlags[flag!]
    return ours ? [ours, ...value].join('=') : word
  })
}

/** 'a,b c' as a list of words. */
export function wordList(text: string): string[] {
  const words = text.split(/[\s,]+/).filter(Boolean)
  if (words.length === 0) throw new InvalidArgumentError('It names nothing.')
  return words
}

export function positiveInteger(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1)
    throw new InvalidArgumentError('A whole number above 0 is needed.')
  return value
}

export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('A whole number is needed.')
  return Number(text)
}

export function nonNegative(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
    throw new InvalidArgumentError('A number, 0 or above, is needed.')
  }
  return value
}

export function integerList(text: string): number[] {
  return wordList(text).map(positiveInteger)
}

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
  const values: number[] = []
  for (let k = from; k <= to; k += step) values.push(k)
  return values
}

/** Checks what the flags made by the contract's schema; a UserError names the field. */
export function parseSpec<S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  const parsed = v.safeParse(schema, input)
  if (parsed.success) return parsed.output
  const issue = parsed.issues[0]
  throw new UserError('usage', `${v.getDotPath(issue) ?? 'input'}: ${issue.message}`)
}
