/** Single elements: `layout fragment` in the registers of an MMA, `layout value` in a swizzle of fp4 weights. */
import { InvalidArgumentError, type Command } from 'commander'
import { UserError } from '@shared/errors'
import {
  axisNames,
  findFragment,
  fragmentPlace,
  fragmentShapes,
  registerElements,
  type Fragment
} from '@shared/layouts/fragments'
import { hopperValueLayout, hopperValuePlace, type MmaVersion } from '@shared/layouts/hopperValue'
import { print, printJson } from '../ground/terminal'
import { positiveInteger, wholeNumber } from './arguments'

interface FragmentFlags {
  shape: string
  operand: string
  bits?: number
  row?: number
  col?: number
  lane?: number
  register?: number
  json?: boolean
}

interface ValueFlags {
  mma: MmaVersion
  rows: number
  cols: number
  row: number
  col: number
  json?: boolean
}

export function registerFragment(layout: Command): void {
  layout
    .command('fragment')
    .description('which lane and register holds an element of A, B or C in an MMA')
    .requiredOption('--shape <shape>', fragmentShapes.join(', '))
    .requiredOption('--operand <name>', 'A (M x K), B (K x N) or C (M x N)')
    .option('--bits <count>', 'bits of an element in the registers', positiveInteger)
    .option('--row <row>', 'row of the matrix; with --col', wholeNumber)
    .option('--col <column>', 'column of the matrix', wholeNumber)
    .option('--lane <lane>', 'or a lane; with --register: what it holds', wholeNumber)
    .option('--register <register>', '32-bit register of the operand, from 0', wholeNumber)
    .option('--json', 'print as JSON')
    .action((flags: FragmentFlags) => fragment(flags))
  layout
    .command('value')
    .description('where an fp4 value lies in the Hopper value swizzle of triton_kernels')
    .option('--mma <version>', 'MMA version the swizzle is made for: 2 or 3', mmaVersion, 3)
    .requiredOption('--rows <count>', 'rows of the weights: N', positiveInteger)
    .requiredOption('--cols <count>', 'fp4 values of a row: K', positiveInteger)
    .requiredOption('--row <row>', 'row of the value', wholeNumber)
    .requiredOption('--col <column>', 'column of the value', wholeNumber)
    .option('--json', 'print as JSON')
    .action((flags: ValueFlags) => value(flags))
}

function mmaVersion(text: string): MmaVersion {
  if (text === '2') return 2
  if (text === '3') return 3
  throw new InvalidArgumentError('It is 2 (mma) or 3 (wgmma).')
}

function fragment({ shape, operand, bits, row, col, lane, register, json }: FragmentFlags): void {
  const found = findFragment(shape, operand, bits)
  const byPlace = row !== undefined && col !== undefined && (lane ?? register) === undefined
  const byRegister = lane !== undefined && register !== undefined && (row ?? col) === undefined
  if (byPlace) return printPlace(found, row, col, json)
  if (byRegister) return printRegister(found, lane, register, json)
  throw new UserError(
    'usage',
    'Name one place: --row R --col C for an element, or --lane L --register R for what a register holds.'
  )
}

const titleOf = ({ shape, operand, bits }: Fragment) =>
  `${operand} of ${shape}, ${bits}-bit elements`

/** B is K x N as in the PTX ISA: its row is k and its column n. */
const isTransposed = ({ operand }: Fragment) => operand === 'B'

function printPlace(found: Fragment, row: number, col: number, json?: boolean): void {
  const [outer, inner] = isTransposed(found) ? [col, row] : [row, col]
  const place = fragmentPlace(found, outer, inner)
  const [outerName, innerName] = axisNames(found.operand)
  const { shape, operand, bits } = found
  if (json) {
    const at = { [outerName]: outer, [innerName]: inner }
    return printJson({ shape, operand, bits, ...at, ...place })
  }
  const last = place.bit + bits - 1
  const end = last < 32 ? String(last) : `31 and bits 0 to ${last - 32} of the next`
  print([
    titleOf(found),
    `${outerName} ${outer}, ${innerName} ${inner}: lane ${place.lane}, register ${place.register}, ` +
      `bits ${place.bit} to ${end} (element ${place.element} of the lane)`
  ])
}

function printRegister(found: Fragment, lane: number, register: number, json?: boolean): void {
  const elements = registerElements(found, lane, register)
  const [outerName, innerName] = axisNames(found.operand)
  if (json) {
    const { shape, operand, bits } = found
    const named = elements.map(({ outer, inner, bit }) => ({
      [outerName]: outer,
      [innerName]: inner,
      bit
    }))
    return printJson({ shape, operand, bits, lane, register, elements: named })
  }
  print([
    `${titleOf(found)}: lane ${lane}, register ${register}`,
    ...elements.map(
      ({ outer, inner, bit }) =>
        `from bit ${String(bit).padStart(2)}: ${outerName} ${outer}, ${innerName} ${inner}`
    )
  ])
}

function value({ mma, rows, cols, row, col, json }: ValueFlags): void {
  const place = hopperValuePlace(mma, { rows, k: cols }, row, col)
  const { name } = hopperValueLayout(mma)
  if (json) {
    return printJson({ layout: name, row, column: col, ...place })
  }
  print([
    `${name}, ${rows} x ${cols} fp4 values (${place.size} bytes with padding)`,
    `row ${row}, column ${col}: packed byte ${place.packedByte}, ${place.nibble ? 'high' : 'low'} nibble`,
    `lies in the 16-bit half word at byte ${place.offset}; its bits, sign first: ${place.bits.join(', ')}`
  ])
}
