/** `layout elements`: how fp4 and fp6 codes lie in bytes, and from one order into another. */
import { Option, type Command } from 'commander'
import { UserError } from '@shared/errors'
import {
  bitsText,
  elementBit,
  elementPackings,
  findElementPacking,
  groupText,
  repackElements
} from '@shared/layouts/elementPacking'
import { writeOutput } from '../ground/files'
import { readNamedSync } from '../ground/named'
import { print, printJson } from '../ground/terminal'
import { wholeNumber } from './arguments'
import { withOutput, type OutputFlags } from './layoutFlags'

interface ConvertFlags extends OutputFlags {
  from: string
  to: string
  in: string
}

export function registerElements(layout: Command): void {
  const elements = layout
    .command('elements')
    .description('how fp4 and fp6 codes lie in bytes: nibble orders, padding, containers')
  const packing = (flag: string, what: string) =>
    new Option(`--${flag} <packing>`, what)
      .choices(elementPackings.map(({ name }) => name))
      .makeOptionMandatory()
  elements
    .command('list')
    .description('the packings')
    .option('--json', 'print as JSON')
    .action((flags: { json?: boolean }) => list(flags))
  elements
    .command('locate')
    .description('which bits hold the code of an index along K, in every packing of its width')
    .requiredOption('--bits <count>', 'bits of a code: 4 or 6', wholeNumber)
    .requiredOption('--index <k>', 'index along K, from the start of the row', wholeNumber)
    .option('--json', 'print as JSON')
    .action((flags: { bits: number; index: number; json?: boolean }) => locate(flags))
  withOutput(elements.command('convert').description('packed codes from one order into another'))
    .addOption(packing('from', 'order of the file'))
    .addOption(packing('to', 'order to write'))
    .requiredOption('--in <file>', 'the packed codes, raw bytes')
    .action((flags: ConvertFlags) => convert(flags))
}

function list({ json }: { json?: boolean }): void {
  if (json) return printJson(elementPackings)
  print(
    elementPackings.flatMap((packing) => [
      `${packing.name.padEnd(18)}${packing.title}`,
      `${''.padEnd(18)}${packing.source}`,
      `${''.padEnd(18)}bytes, high bits first: ${groupText(packing)}`
    ])
  )
}

function locate(flags: { bits: number; index: number; json?: boolean }): void {
  const { bits, index, json } = flags
  const fitting = elementPackings.filter(({ storageBits }) => storageBits === bits)
  if (fitting.length === 0) {
    throw new UserError('usage', `--bits ${bits}: packings are known for codes of 4 and 6 bits.`)
  }
  const found = fitting.map((packing) => {
    const first = elementBit(packing, index)
    return { packing: packing.name, byte: Math.floor(first / 8), bit: first % 8 }
  })
  if (json) return printJson({ bits, index, found })
  print(
    found.map(
      ({ packing, byte, bit }) => `${packing.padEnd(18)}byte ${byte}, ${bitsText(bit, bits)}`
    )
  )
}

async function convert(flags: ConvertFlags): Promise<void> {
  const { from, to, in: source, out } = flags
  const [before, after] = [findElementPacking(from), findElementPacking(to)]
  if (before.storageBits !== after.storageBits) {
    throw new UserError(
      'usage',
      `${from} holds codes of ${before.storageBits} bits and ${to} of ${after.storageBits}; quantise again for another width.`
    )
  }
  const stored = readNamedSync(source)
  const packed = repackElements(before, after, stored)
  const codes = (stored.length / before.groupBytes) * before.bits.length
  const bytes = await writeOutput(out, [packed], flags)
  if (flags.json) return printJson({ from, to, codes, out, bytes })
  print(`${codes} codes from ${from} to ${to}: ${bytes} bytes written to ${out}.`)
}
