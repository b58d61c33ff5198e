import { Option, type Command } from 'commander'
import { UserError } from '@shared/errors'
import {
  codeLanguages,
  filledFormula,
  formulaText,
  layoutCode,
  type CodeLanguage
} from '@shared/layouts/formula'
import {
  packedMap,
  packedOffset,
  paddedShape,
  viewCoordinates,
  type ScaleLayout,
  type ScaleShape
} from '@shared/layouts/layout'
import { layouts } from '@shared/layouts/registry'
import { readerPlace, readerTile, scaleReaders } from '@shared/layouts/scaleReaders'
import { wordOperations } from '@shared/layouts/wordOperations'
import { print, printJson, writeData } from '../ground/terminal'
import { wholeNumber } from './arguments'
import { registerDetect } from './layoutDetect'
import { registerElements } from './layoutElements'
import { layoutOf, withLayout, withSize, type LayoutFlags } from './layoutFlags'
import { registerFragment } from './layoutFragment'
import { registerGroups } from './layoutGroups'
import { registerPack } from './layoutPack'
import { registerTma } from './layoutTma'

interface ShapeFlags extends LayoutFlags {
  rows: number
  cols: number
  padding: boolean
  json?: boolean
}

export function register(program: Command): void {
  const layout = program
    .command('layout')
    .description('Scale-factor layouts: where each scale lies.')
  layout
    .command('list')
    .description('the layouts')
    .option('--json', 'print as JSON')
    .action((flags: { json?: boolean }) => list(flags))
  withShape(layout.command('map').description('the linear index at each packed position')).action(
    (flags: ShapeFlags) => map(flags)
  )
  withShape(layout.command('locate').description('where one scale lies, in every view'))
    .requiredOption('--row <m>', 'row of the operand', wholeNumber)
    .requiredOption('--col <k>', 'scale column: k / V', wholeNumber)
    .action((flags: ShapeFlags & { row: number; col: number }) => locate(flags))
  registerPack(layout)
  registerFragment(layout)
  registerElements(layout)
  registerTma(layout)
  registerGroups(layout)
  withLayout(
    layout
      .command('code')
      .description('the index function as code, or the permutation of axes (torch)')
  )
    .addOption(
      new Option('--language <name>', 'language of the code')
        .choices(codeLanguages)
        .default('python')
    )
    .option('--json', 'print as JSON')
    .action(code)
  registerDetect(layout)
}

function withShape(command: Command): Command {
  return withSize(withLayout(command))
    .option('--no-padding', 'refuse sizes that the layout would have to pad')
    .option('--json', 'print as JSON')
}

function read(flags: ShapeFlags): { layout: ScaleLayout; shape: ScaleShape } {
  const layout = layoutOf(flags)
  const shape = { rows: flags.rows, columns: flags.cols }
  const padded = paddedShape(layout, shape)
  if (!Number.isSafeInteger(padded.rows * padded.columns)) {
    throw new UserError(
      'usage',
      `${shape.rows} x ${shape.columns} scales are more than an offset can count; use smaller sizes.`
    )
  }
  if (!flags.padding && (padded.rows !== shape.rows || padded.columns !== shape.columns)) {
    throw new UserError(
      'usage',
      `${layout.name} takes ${padded.rows} x ${padded.columns} for ${shape.rows} x ${shape.columns} scales; ` +
        'leave --no-padding out, or use sizes that divide.'
    )
  }
  return { layout, shape }
}

function list(flags: { json?: boolean }): void {
  if (flags.json) return printJson(layouts)
  for (const layout of layouts) {
    print(`${layout.name.padEnd(22)}${layout.title}`)
    print(`${''.padEnd(22)}${layout.source}`)
  }
}

/** A million lines of sixteen are more than anyone reads. */
const mostPositions = 2 ** 24

function map(flags: ShapeFlags): void {
  const { layout, shape } = read(flags)
  const positions = paddedShape(layout, shape)
  if (positions.rows * positions.columns > mostPositions) {
    throw new UserError(
      'usage',
      `A map of ${shape.rows} x ${shape.columns} scales is too long; at most ${mostPositions} are shown at once.`
    )
  }
  const packed = Array.from(packedMap(layout, shape))
  if (flags.json) return printJson({ packed })
  const padded = paddedShape(layout, shape)
  print(
    `${layout.name}: ${shape.rows} x ${shape.columns} scales, ${padded.rows * padded.columns} bytes.`
  )
  print('Linear index at each packed position, 16 a line; . is padding.')
  const width = String(shape.rows * shape.columns - 1).length
  for (let at = 0; at < packed.length; at += 16) {
    const cells = packed.slice(at, at + 16).map((index) => (index < 0 ? '.' : String(index)))
    print(`${String(at).padStart(8)}  ${cells.map((cell) => cell.padStart(width)).join(' ')}`)
  }
}

function locate(flags: ShapeFlags & { row: number; col: number }): void {
  const { layout, shape } = read(flags)
  const { row, col } = flags
  if (row >= shape.rows || col >= shape.columns) {
    throw new UserError(
      'usage',
      `Row ${row}, column ${col} lies outside ${shape.rows} x ${shape.columns} scales.`
    )
  }
  const views = layout.views.map((view) => ({
    name: view.name,
    ...viewCoordinates(layout, shape, view, row, col)
  }))
  const found = {
    layout: layout.name,
    row,
    column: col,
    linearIndex: row * shape.columns + col,
    offset: packedOffset(layout, shape, row, col),
    padded: paddedShape(layout, shape),
    formula: formulaText(layout, shape),
    filled: filledFormula(layout, shape, row, col),
    views,
    // A layout of one's own may bear any name; only those of the registry are known to an instruction.
    readers: flags.layoutFile === undefined ? scaleReaders(layout.name, row, col) : [],
    operations: flags.layoutFile === undefined ? wordOperations(layout, { row, column: col }) : []
  }
  if (flags.json) return printJson(found)
  print(
    `${layout.name}, ${shape.rows} x ${shape.columns} scales (padded ${found.padded.rows} x ${found.padded.columns})`
  )
  print(`row ${row}, column ${col}: linear index ${found.linearIndex}, packed byte ${found.offset}`)
  print(`offset = ${found.formula}`)
  print(`       = ${found.filled}`)
  const viewWidth = Math.max(8, ...views.map(({ name }) => name.length + 2))
  for (const view of views) {
    print(
      `${view.name.padEnd(viewWidth)}(${view.shape.join(', ')})  [${view.coordinates.join(', ')}]`
    )
  }
  for (const reader of found.readers) {
    print(
      `${reader.instruction}  ${readerTile(reader)}: ${readerPlace(reader)} (${reader.selector})`
    )
  }
  for (const { byte, operation, rows, k } of found.operations) {
    print(
      `byte ${byte} of its 32-bit load  operation ${operation}: rows ${rows.join(' to ')}, k ${k.join(' to ')}`
    )
  }
}

function code(flags: LayoutFlags & { language: CodeLanguage; json?: boolean }): void {
  const text = layoutCode(layoutOf(flags), flags.language)
  if (flags.json) printJson({ language: flags.language, code: text })
  else writeData(text)
}
