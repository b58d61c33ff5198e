/** `layout tma`: tensor maps of a product, for its operands and scales as for C. */
import { Option, type Command } from 'commander'
import { outputTypes } from '@shared/contract/jobs'
import { UserError } from '@shared/errors'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { parseShapeText } from '@shared/shapeText'
import { tmaBoxes, type TmaTile } from '@shared/layouts/tmaBoxes'
import { print, printJson } from '../ground/terminal'
import { positiveInteger } from './arguments'

interface Flags {
  format: string
  M: number
  N: number
  K: number
  tile: string
  out: string
  json?: boolean
}

export function registerTma(layout: Command): void {
  layout
    .command('tma')
    .description(
      'TMA tensor maps of operands, scales and C for a tile: shape, strides, box, swizzle'
    )
    .requiredOption('--format <name>', 'format of the operands')
    .option('-M <rows>', 'rows of A', positiveInteger, 8192)
    .option('-N <columns>', 'columns of C', positiveInteger, 8192)
    .option('-K <length>', 'length of the sum', positiveInteger, 8192)
    .option('--tile <MxNxK>', 'tile of one block of threads', '128x256x128')
    .addOption(new Option('--out <type>', 'type of C').choices(outputTypes).default('f16'))
    .option('--json', 'print as JSON')
    .action((flags: Flags) => tma(flags))
}

const mostTileExtent = 99_999

function tileOf(text: string): TmaTile {
  const tile = parseShapeText(text)
  if (!tile || Math.max(tile.m, tile.n, tile.k) > mostTileExtent)
    throw new UserError('usage', `--tile ${text}: a tile is MxNxK, such as 128x256x128.`)
  return tile
}

function tma({ format: named, M: m, N: n, K: k, out, ...flags }: Flags): void {
  const tile = tileOf(flags.tile)
  const format = findBlockFormat(named)
  const boxes = tmaBoxes({ format, output: out, m, n, k }, tile)
  if (flags.json) return printJson(boxes)
  print(
    `${format.id}, ${m} x ${n} x ${k}, tile ${tile.m} x ${tile.n} x ${tile.k}; outermost first, strides in bytes`
  )
  for (const { tensor, element, shape, strides, box, swizzle, loads, problem } of boxes) {
    const times = loads === 1 ? '' : `, ${loads} loads a tile`
    print(
      `${tensor.padEnd(12)} ${element.padEnd(14)} shape (${shape.join(', ')})  strides (${strides.join(', ')})  ` +
        `box (${box.join(', ')})  swizzle ${swizzle}${times}`
    )
    if (problem) print(`${''.padEnd(12)} TMA refuses it: ${problem}`)
  }
}
