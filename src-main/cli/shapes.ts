import type { Command } from 'commander'
import { existsSync } from 'node:fs'
import { extname, resolve } from 'node:path'
import type { GroupLayout } from '@shared/contract/groups'
import {
  bundledListNames,
  isBundledList,
  withGroupLayout,
  type Shapes
} from '@shared/contract/shapes'
import { columnLines } from '@shared/columns'
import { UserError } from '@shared/errors'
import { knownName } from '@shared/knownName'
import { usesOf } from '@shared/measurement/modelTime'
import {
  bundledLists,
  bundledModels,
  bundledShapes,
  usualTokens
} from '@shared/shapes/bundledModels'
import { listShapes } from '@shared/shapes/listShapes'
import { modelShapes } from '@shared/shapes/modelShapes'
import { readShapeFile, shapesToCsv, shapesToJson } from '@shared/shapes/shapeFile'
import { writeOutput } from '../ground/files'
import { readNamed } from '../ground/named'
import { print, printJson } from '../ground/terminal'
import { integerList, positiveInteger } from './arguments'
import { groupLayoutOption } from './groupFlags'

const names = [...Object.keys(bundledModels), ...bundledListNames]

export interface ShapeFlags {
  groupLayout?: GroupLayout
  shapes?: string
  tokens?: number[]
  tp?: number
}

const ofTokens = `tokens of a step, comma-separated (default: ${usualTokens.join(',')}; of a list all that it has)`
const ofTp = 'GPUs that share each layer (default: 1)'

/** Of validate and sweep. */
export const addShapeFlags = (command: Command): Command =>
  command
    .option(
      '--shapes <model>',
      `shapes of a model: ${names.join(', ')}, a config.json, or a list (JSON, CSV)`
    )
    .option('--tokens <list>', `of --shapes: ${ofTokens}`, integerList)
    .option('--tp <count>', `of --shapes: ${ofTp}`, positiveInteger)
    .addOption(groupLayoutOption())

export function register(program: Command): void {
  program
    .command('shapes')
    .description('The linear layers of a model as shapes: M, N, K and how often each is done.')
    .argument('<model>', `config.json, a list (JSON, CSV), or ${names.join(', ')}`)
    .option('--tokens <list>', ofTokens, integerList)
    .option('--tp <count>', ofTp, positiveInteger)
    .addOption(groupLayoutOption())
    .option('--out <file>', 'write them as .json or .csv')
    .option('--force', 'replace the file if it is there')
    .option('--json', 'print as JSON')
    .action(shapes)
}

async function shapes(
  model: string,
  flags: Omit<ShapeFlags, 'shapes'> & { out?: string; force?: boolean; json?: boolean }
): Promise<void> {
  const { rows } = await readShapes({ ...flags, shapes: model })
  if (flags.out !== undefined) {
    const ending = extname(flags.out)
    if (ending !== '.json' && ending !== '.csv')
      throw new UserError('usage', `--out ${flags.out}: the name must end in .json or .csv.`)
    await writeOutput(
      flags.out,
      [ending === '.csv' ? shapesToCsv(rows) : shapesToJson(rows)],
      flags
    )
  }
  if (flags.json) return printJson(shapesToJson(rows).trimEnd())
  const hasLayouts = rows.some(({ layout }) => layout)
  const cells = rows.map((row) => [
    row.name,
    ...[row.tokens, row.m, row.n, row.k, row.groups, usesOf(row)].map((value) =>
      String(value ?? '-')
    ),
    ...(hasLayouts ? [row.layout ?? '-'] : [])
  ])
  const head = ['layer', 'tokens', 'M', 'N', 'K', 'groups', 'uses']
  const table = [[...head, ...(hasLayouts ? ['layout'] : [])], ...cells]
  print(columnLines(table, (column) => column === 0 || column === head.length))
}

/** What --shapes names. Throws a UserError for what is no file and no model, and for flags that the file overrides. */
export async function readShapes({
  shapes: words = '',
  tokens,
  tp,
  groupLayout
}: ShapeFlags): Promise<Shapes> {
  const step = { tokens: tokens ?? usualTokens, tp: tp ?? 1 }
  const isPath = /[/\\.]/.test(words) || (existsSync(words) && !names.includes(words))
  if (!isPath) {
    const name = knownName(words, names, 'model here', 'Models')
    if (!isBundledList(name)) return bundledShapes(name, step, groupLayout)
    checkIsList(name, tp ?? groupLayout)
    return listShapes(name, bundledLists[name](), tokens)
  }
  const source = resolve(words)
  const read = readShapeFile((await readNamed(words)).toString(), words)
  if ('config' in read) {
    const rows = withGroupLayout(modelShapes(read.config, words, step), groupLayout)
    return { source, ...step, ...(groupLayout && { groupLayout }), rows }
  }
  checkIsList(words, tp ?? groupLayout)
  return listShapes(source, read.rows, tokens)
}

function checkIsList(name: string, ofModel: unknown): void {
  if (ofModel !== undefined)
    throw new UserError(
      'usage',
      `${name} is a list of shapes: --tp and --group-layout are of a model.`
    )
}

/** The field of a job; undefined where no shapes were named. */
export const shapesOf = async (flags: ShapeFlags): Promise<Shapes | undefined> =>
  flags.shapes === undefined ? undefined : readShapes(flags)
