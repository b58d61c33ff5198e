/** `layout pack` and `layout unpack`: raw scale bytes from row-major into a layout and back. */
import { InvalidArgumentError, type Command } from 'commander'
import { UserError } from '@shared/errors'
import { packBatch, paddedShape, unpackBatch } from '@shared/layouts/layout'
import { writeOutput } from '../ground/files'
import { readNamedSync } from '../ground/named'
import { print, printJson } from '../ground/terminal'
import { positiveInteger } from './arguments'
import {
  layoutOf,
  withLayout,
  withOutput,
  withSize,
  type LayoutFlags,
  type OutputFlags
} from './layoutFlags'

interface PackFlags extends LayoutFlags, OutputFlags {
  rows: number
  cols: number
  linear: string
  batch: number
  fill: number
}

interface UnpackFlags extends LayoutFlags, OutputFlags {
  rows: number
  cols: number
  packed: string
  batch: number
}

export function registerPack(layout: Command): void {
  withOutput(
    withSize(withLayout(layout.command('pack').description('row-major scales into a layout')))
  )
    .requiredOption('--linear <file>', 'the scales, raw bytes, row-major')
    .option(
      '--batch <count>',
      'matrices, one after another, each padded by itself',
      positiveInteger,
      1
    )
    .option('--fill <code>', 'scale code of the padding, 0 to 255', scaleCode, 0)
    .action((flags: PackFlags) => pack(flags))
  withOutput(
    withSize(withLayout(layout.command('unpack').description('scales out of a layout, row-major')))
  )
    .requiredOption('--packed <file>', 'the packed scales, raw bytes')
    .option(
      '--batch <count>',
      'matrices, one after another, each padded by itself',
      positiveInteger,
      1
    )
    .action((flags: UnpackFlags) => unpack(flags))
}

function scaleCode(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > 255) {
    throw new InvalidArgumentError('A whole number from 0 to 255 is needed.')
  }
  return Number(text)
}

async function pack(flags: PackFlags): Promise<void> {
  const { layout, shape, padded } = placed(flags)
  const what = `${times(flags)}${sizeOf(shape)} scales`
  const linear = readScales(flags.linear, flags.batch * flags.rows * flags.cols, what)
  const packed = packBatch(layout, shape, linear, flags.fill)
  const bytes = await writeOutput(flags.out, [packed], flags)
  if (flags.json) return printJson({ layout: layout.name, padded, out: flags.out, bytes })
  print(
    `${what} in ${layout.name}: ${packed.length} bytes ` +
      `(padded to ${sizeOf(padded)}) written to ${flags.out}.`
  )
}

async function unpack(flags: UnpackFlags): Promise<void> {
  const { layout, shape, padded } = placed(flags)
  const scales = `${times(flags)}${sizeOf(shape)} scales`
  const what = `${scales} in ${layout.name} (padded to ${sizeOf(padded)})`
  const packed = readScales(flags.packed, flags.batch * padded.rows * padded.columns, what)
  const bytes = await writeOutput(flags.out, [unpackBatch(layout, shape, packed)], flags)
  if (flags.json) return printJson({ layout: layout.name, shape, out: flags.out, bytes })
  print(`${scales} out of ${layout.name} written to ${flags.out}.`)
}

type Shape = ReturnType<typeof paddedShape>

const times = ({ batch }: { batch: number }) => (batch === 1 ? '' : `${batch} x `)

const sizeOf = ({ rows, columns }: Shape) => `${rows} x ${columns}`

/** Larger matrices would not fit one buffer. */
const mostBytes = 2 ** 31 - 1

function placed(flags: LayoutFlags & { rows: number; cols: number; batch: number }) {
  const layout = layoutOf(flags)
  const shape = { rows: flags.rows, columns: flags.cols }
  const padded = paddedShape(layout, shape)
  const bytes = flags.batch * padded.rows * padded.columns
  if (bytes > mostBytes) {
    throw new UserError(
      'usage',
      `${layout.name} takes ${bytes} bytes for ${times(flags)}${sizeOf(shape)} scales; at most ${mostBytes} are packed at once.`
    )
  }
  return { layout, shape, padded }
}

function readScales(file: string, bytes: number, what: string): Uint8Array {
  const found = readNamedSync(file)
  if (found.length === bytes) return found
  throw new UserError(
    'usage',
    `${file} has ${found.length} bytes; ${what} take ${bytes}. Check --rows, --cols and --batch.`
  )
}
