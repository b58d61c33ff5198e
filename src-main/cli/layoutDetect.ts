import { Option, type Command } from 'commander'
import { exitCodeOf, UserError } from '@shared/errors'
import { detectLayout, type Detection } from '@shared/layouts/detect'
import { detectGroups } from '@shared/layouts/detectGroups'
import { detectFromProduct, type ProductDetection } from '@shared/layouts/detectProduct'
import { detectionLines, productLines } from '@shared/layouts/detectWords'
import { elementPackings } from '@shared/layouts/elementPacking'
import type { ScaleLayout, ScaleShape } from '@shared/layouts/layout'
import { layouts } from '@shared/layouts/registry'
import { productOperandsOf } from '@shared/operands/productOperands'
import { readNamedSync } from '../ground/named'
import { arrayFileOnDisk } from '../jobs/arrays/arrayFiles'
import { print, printJson } from '../ground/terminal'
import { positiveInteger } from './arguments'
import { groupRows } from './groupFlags'
import { groupsWords } from './layoutGroups'
import { rawOperands, type RawOperandFlags, type Side } from './layoutDetectOperands'
import { layoutOf } from './layoutFlags'

interface Flags extends RawOperandFlags {
  packed: string
  linear?: string
  rows?: number
  cols?: number
  groups?: number[]
  side?: Side
  operands?: string
  layoutFile?: string
  json?: boolean
}

export function registerDetect(layout: Command): void {
  layout
    .command('detect')
    .description('which layout packed scales are in, by the linear scales or by a product')
    .requiredOption('--packed <file>', 'the packed scales, raw bytes')
    .optionsGroup('By the linear scales:')
    .option('--linear <file>', 'the linear scales, raw bytes, row-major')
    .option('--rows <count>', 'rows of the scale matrix', positiveInteger)
    .option('--cols <count>', 'columns of the scale matrix: K / V', positiveInteger)
    .option('--groups <rows>', `in place of --rows, ${groupsWords}`, groupRows)
    .optionsGroup('By the operands and their product:')
    .addOption(new Option('--side <operand>', 'whose scales are packed').choices(['a', 'b']))
    .option(
      '--operands <file>',
      'all of them in one file, as validate --operands reads it (docs/layouts.md)'
    )
    .option('--format <name>', 'format of the operands')
    .option('-M <rows>', 'rows of A and C', positiveInteger)
    .option('-N <rows>', 'rows of B, columns of C', positiveInteger)
    .option('-K <depth>', 'columns of A and B', positiveInteger)
    .option('--a <file>', 'codes of A, (M, K), packed or one per byte')
    .option('--b <file>', 'codes of B, (N, K), packed or one per byte')
    .option('--other-scales <file>', 'linear scales of the other operand')
    .option('--product <file>', 'C, (M, N), float64 or float32, without a scale per tensor')
    .addOption(
      new Option('--packing <name>', 'how packed codes lie (layout elements list)').choices(
        elementPackings.map(({ name }) => name)
      )
    )
    .optionsGroup('Options:')
    .option('--layout-file <file>', 'a layout of your own to try besides')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExit code: 0 a layout, 1 a mistake or no known layout, 2 wrong usage.')
    .action(detect)
}

async function detect(flags: Flags): Promise<void> {
  const known = flags.layoutFile
    ? [...layouts, layoutOf({ layoutFile: flags.layoutFile })]
    : layouts
  const found = flags.linear ? fromLinear(flags, known) : await fromProduct(flags, known)
  if (flags.json) printJson(found.detection)
  else print(found.lines)
  if (found.detection.verdict !== 'layout') process.exitCode = exitCodeOf.failed
}

interface Found {
  detection: Detection | ProductDetection
  lines: string[]
}

function fromLinear(
  { packed, linear, rows, cols, groups }: Flags,
  known: readonly ScaleLayout[]
): Found {
  if (groups && cols) {
    const bytes = readNamedSync(packed)
    const shape = { rows: groups.reduce((sum, count) => sum + count, 0), columns: cols }
    const detection = detectGroups(bytes, readNamedSync(linear!), groups, cols, known)
    return { detection, lines: detectionLines(detection, bytes.length, shape) }
  }
  if (!rows || !cols)
    throw new UserError('usage', '--linear also needs --rows (or --groups) and --cols.')
  const shape: ScaleShape = { rows, columns: cols }
  const bytes = readNamedSync(packed)
  const detection = detectLayout(bytes, readNamedSync(linear!), shape, known)
  return { detection, lines: detectionLines(detection, bytes.length, shape) }
}

async function fromProduct(flags: Flags, known: readonly ScaleLayout[]): Promise<Found> {
  const { side, operands: file } = flags
  if (!side) {
    throw new UserError(
      'usage',
      'Name what to judge by: --linear with the linear scales, or --side with operands and product.'
    )
  }
  const operands = file
    ? productOperandsOf(await arrayFileOnDisk(file, '--operands'), side, flags.packing)
    : rawOperands(flags, side)
  const bytes = readNamedSync(flags.packed)
  const detection = detectFromProduct(operands, bytes, known)
  const rows = side === 'a' ? operands.m : operands.n
  return { detection, lines: productLines(detection, bytes.length, { side, rows }) }
}
