/** Shapes as a file holds them: JSON, a list or an object with `shapes`, or CSV with a head. */
import * as v from 'valibot'
import { shapeRowSchema, shapesSchema, type ShapeRow } from '../contract/shapes'
import { UserError } from '../errors'
import { describeIssues } from '../schemaWords'

const columns = [
  ...(['name', 'm', 'n', 'k', 'groups', 'weight', 'tokens'] as const),
  ...(['layout', 'rows', 'alignment'] as const)
]
/** Columns that are written where a row has them. */
const rare = ['layout', 'rows', 'alignment'] as const

/** What a file is: shapes as they are, or a model's config.json, of which they are to be made. */
export type ShapeFile = { rows: ShapeRow[] } | { config: object }

/** Throws a UserError that names the file, the row and the field. */
export function readShapeFile(text: string, path: string): ShapeFile {
  const trimmed = text.trimStart()
  if (!trimmed.startsWith('{') && !trimmed.startsWith('[')) return { rows: csvRows(text, path) }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new UserError('usage', `${path} is no JSON: ${(error as Error).message}.`)
  }
  if (Array.isArray(json)) return { rows: checked(json, path) }
  const { shapes } = json as { shapes?: unknown }
  if (shapes === undefined) return { config: json as object }
  if (!Array.isArray(shapes)) throw new UserError('usage', `${path}: shapes: a list is expected.`)
  return { rows: checked(shapes, path) }
}

function checked(rows: readonly unknown[], path: string): ShapeRow[] {
  const parsed = v.safeParse(shapesSchema.entries.rows, rows)
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  throw new UserError(
    'usage',
    `${path}: ${describeIssues([issue], (field) => `row ${rowOf(field)}`)}.`
  )
}

/** '3.n' is 'row 4, n'. */
function rowOf(field: string): string {
  const [at, ...rest] = field.split('.')
  return [Number(at) + 1, ...rest].join(', ')
}

function csvRows(text: string, path: string): ShapeRow[] {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  const head = (lines[0] ?? '').split(',').map((word) => word.trim().toLowerCase())
  const unknown = head.find((word) => !(columns as readonly string[]).includes(word))
  if (unknown !== undefined || !['m', 'n', 'k'].every((name) => head.includes(name)))
    throw new UserError(
      'usage',
      `${path}: the first line names the columns, at least m, n and k of ${columns.join(', ')}` +
        `${unknown ? `; "${unknown.slice(0, 40)}" is none of them` : ''}.`
    )
  const rows = lines.slice(1).map((line, index) => {
    const cells = line.split(',').map((cell) => cell.trim())
    if (cells.length !== head.length)
      throw new UserError(
        'usage',
        `${path}: row ${index + 1} has ${cells.length} cells, and the first line ${head.length} columns.`
      )
    const given = head.flatMap((name, at): [string, unknown][] => {
      const cell = cells[at]!
      if (cell === '') return []
      if (name === 'rows') return [[name, cell.split(/\s+/).map(numberOrText)]]
      return [[name, name === 'name' ? cell : numberOrText(cell)]]
    })
    const row = Object.fromEntries(given) as Record<string, unknown>
    return { name: `${String(row['n'])}x${String(row['k'])}`, ...row }
  })
  return checked(rows, path)
}

/** Left as it is where it is no number, for the schema to refuse. */
const numberOrText = (cell: string) => (Number.isNaN(Number(cell)) ? cell : Number(cell))

/** The rows as CSV that is read back the same; `rows` of groups are separated by spaces. */
export function shapesToCsv(rows: readonly ShapeRow[]): string {
  const isLeftOut = (name: (typeof columns)[number]) =>
    rare.some((one) => one === name && rows.every((row) => row[one] === undefined))
  const written = columns.filter((name) => !isLeftOut(name))
  const line = (row: ShapeRow) =>
    written.map((name) => String(row[name] ?? '').replaceAll(',', ' ')).join(',')
  return [written.join(','), ...rows.map(line), ''].join('\n')
}

export const shapesToJson = (rows: readonly ShapeRow[]): string =>
  JSON.stringify({ shapes: rows.map((row) => v.parse(shapeRowSchema, row)) }, null, 2) + '\n'
