/** `formats bytes`: what the operands of a product take in each format, and C. */
import { Option, type Command } from 'commander'
import { outputTypes, type OutputType } from '@shared/contract/jobs'
import { defaults } from '@shared/contract/defaults'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { expandFormats, formatNamed } from '@shared/formats/formatSets'
import { operandBars, type OperandsBar } from '@shared/formats/savings'
import { outputBytes } from '@shared/measurement/work'
import { UserError } from '@shared/errors'
import { quantity, text } from '@shared/units'
import { print, printJson } from '../ground/terminal'
import { positiveInteger, wordList } from './arguments'

interface Flags {
  formats: string[]
  M: number
  N: number
  K: number
  out: OutputType
  json?: boolean
}

export function registerBytes(formats: Command): void {
  formats
    .command('bytes')
    .description('bytes of A, B, their scales and C in each format, and how much smaller than fp16')
    .option('--formats <names>', 'formats, all with a short name, or pairs', wordList, ['all'])
    .requiredOption('-M <rows>', 'rows of A and C', positiveInteger)
    .requiredOption('-N <columns>', 'rows of B, columns of C', positiveInteger)
    .requiredOption('-K <depth>', 'columns of A and B', positiveInteger)
    .addOption(
      new Option('--out <type>', 'type of C').choices(outputTypes).default(defaults.output)
    )
    .option('--json', 'print as JSON')
    // The outer command has --json too and takes it when both do.
    .action((_flags, own: Command) => showBytes(own.optsWithGlobals<Flags>()))
}

function showBytes({ formats, M: m, N: n, K: k, out, json }: Flags): void {
  const chosen = expandFormats(formats.map(formatNamed)).map(findBlockFormat)
  const unfit = chosen.filter(({ scaleBlockSize }) => k % scaleBlockSize !== 0)
  if (unfit.length === chosen.length)
    throw new UserError(
      'usage',
      `K=${k} is a multiple of no scale block of ${unfit.map(({ id }) => id).join(', ')}.`
    )
  const bars = operandBars(chosen, m, n, k)
  const c = m * n * outputBytes[out]!
  if (json)
    return printJson({
      ...{ m, n, k, output: out, c },
      formats: bars.map(({ id, a, b, ofBf16 }) => ({
        format: id,
        a,
        b,
        timesSmallerThanFp16: ofBf16
      }))
    })
  print(line(['format', 'A', 'scales of A', 'B', 'scales of B', 'A and B', 'than fp16']))
  for (const bar of bars) print(line(cellsOf(bar)))
  print(`C of ${out}: ${size(c)}. Scales are not padded; bf16 takes what fp16 does.`)
  if (unfit.length > 0)
    print(
      `Left out, as K=${k} is no multiple of their scale block: ${unfit.map(({ id }) => id).join(', ')}.`
    )
}

function cellsOf({ id, a, b, elements, scales, ofBf16 }: OperandsBar): string[] {
  const than = ofBf16 < 1 ? `${(1 / ofBf16).toFixed(2)}x larger` : `${ofBf16.toFixed(2)}x smaller`
  const own = ofBf16 === 1 ? 'the same' : than
  const parts = [a.elements, a.scales, b.elements, b.scales, elements + scales].map(size)
  return [id === 'bf16' ? 'fp16' : id, ...parts, own]
}

const size = (bytes: number): string => (bytes === 0 ? '-' : text(quantity('bytes', bytes)))

const line = ([name, ...cells]: string[]) =>
  name!.padEnd(18) + cells.map((cell) => cell.padStart(14)).join('')
