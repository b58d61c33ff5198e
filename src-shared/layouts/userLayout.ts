/** Layouts that people write themselves, in the same terms as the registry: as a small JSON file, or in one line. */
import * as v from 'valibot'
import { UserError } from '../errors'
import { describeIssues } from '../schemaWords'
import { digits, view } from './describe'
import { tileExtent, type Digit, type ScaleLayout } from './layout'

const words = (what: string) =>
  v.pipe(v.string(), v.trim(), v.minLength(1, `${what} is empty`), v.maxLength(400))

const schema = v.strictObject({
  name: v.pipe(v.string(), v.regex(/^[\w.-]{1,60}$/, 'a name takes letters, digits, _ . and -')),
  title: v.optional(v.pipe(v.string(), v.maxLength(200)), ''),
  rows: words('rows'),
  columns: words('columns'),
  order: words('order'),
  views: v.optional(v.record(v.string(), words('a view')), {})
})

const largestTile = 65536

/**
 * Reads '{"name", "rows": "rowTile:0 row:8", "columns": "columnTile:0 column:4", "order": "rowTile columnTile row
 * column", "views": {"4D": "rowTile, columnTile, row, column"}}'. Digits go from the most to the least significant; one of
 * each axis has extent 0, as many as the axis needs. Throws a UserError that names the file and the field.
 */
export function parseUserLayout(text: string, file: string): ScaleLayout {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw refused(file, 'it is not JSON')
  }
  return readLayout(json, file)
}

/**
 * Reads 'name = digits of the row | digits of the column | order' (layoutText writes it). Throws a UserError that names the
 * layout and the field.
 */
export function parseLayoutText(text: string): ScaleLayout {
  const [name, description, ...more] = text.split('=').map((part) => part.trim())
  const [rows, columns, order, ...others] = description?.split('|') ?? []
  if (!name || order === undefined || more.length > 0 || others.length > 0) {
    throw refused(`"${name}"`, 'it is not written as name = row digits | column digits | order')
  }
  return readLayout({ name, rows, columns, order }, `"${name}"`)
}

/** A layout under another name as the JSON that parseUserLayout reads. */
export function userLayoutJson(layout: ScaleLayout, name: string): string {
  const written = (parts: Digit[]) =>
    parts.map((digit) => `${digit.name}:${digit.extent}`).join(' ')
  const views = layout.views.map(
    (view) => [view.name, view.coordinates.map((words) => words.join(' ')).join(', ')] as const
  )
  const description = {
    name,
    rows: written(layout.rowDigits),
    columns: written(layout.columnDigits),
    order: layout.order.join(' '),
    views: Object.fromEntries(views)
  }
  return JSON.stringify(description, null, 2)
}

/** `where`: what an error names. */
function readLayout(fields: unknown, where: string): ScaleLayout {
  const parsed = v.safeParse(schema, fields)
  if (!parsed.success) {
    throw refused(where, describeIssues([parsed.issues[0]]))
  }
  const { name, title, rows, columns, order, views } = parsed.output
  const rowDigits = readDigits('row', rows, where)
  const columnDigits = readDigits('column', columns, where)
  const names = [...rowDigits, ...columnDigits].map((digit) => digit.name)
  const repeated = names.find((digit, i) => names.indexOf(digit) !== i)
  if (repeated) throw refused(where, `the digit "${repeated}" appears twice`)
  const ordered = order.split(/\s+/)
  const unknown = ordered.find((digit) => !names.includes(digit))
  if (unknown)
    throw refused(where, `order names "${unknown}", which is no digit of rows or columns`)
  const missing = names.find((digit) => ordered.filter((other) => other === digit).length !== 1)
  if (missing) throw refused(where, `order must name "${missing}" exactly once`)
  const layoutViews = Object.entries(views).map(([title, coordinates]) => view(title, coordinates))
  for (const { name: viewName, coordinates } of layoutViews) {
    const stranger = coordinates.flat().find((word) => !names.includes(word) && !/^\d+$/.test(word))
    if (stranger) throw refused(where, `view "${viewName}" names "${stranger}", which is no digit`)
  }
  return {
    name,
    title: title || name,
    source: where,
    rowDigits,
    columnDigits,
    order: ordered,
    views: layoutViews
  }
}

function readDigits(axis: Digit['axis'], text: string, where: string): Digit[] {
  const field = axis === 'row' ? 'rows' : 'columns'
  const parts = text.split(/\s+/)
  const wrong = parts.find((part) => !/^[A-Za-z]\w*:\d+$/.test(part))
  if (wrong) throw refused(where, `${field}: "${wrong}" is not written as name:extent`)
  const read = digits(axis, parts.join(' '))
  const rest = read.filter(({ extent }) => extent === 0)
  if (rest.length === 0) {
    throw refused(where, `${field}: one digit must have extent 0 (the rest), most often the first`)
  }
  if (rest.length > 1) {
    throw refused(
      where,
      `${field}: "${rest[0]!.name}" and "${rest[1]!.name}" both have extent 0; one digit takes the rest`
    )
  }
  const bad = read.find(({ extent }) => extent > largestTile)
  if (bad) {
    throw refused(where, `${field}: the extent of "${bad.name}" must be 1 to ${largestTile}`)
  }
  if (tileExtent(read) > largestTile) {
    throw refused(where, `${field}: the digits make a tile of more than ${largestTile}`)
  }
  return read
}

function refused(where: string, what: string): UserError {
  return new UserError('usage', `${where} is no usable layout: ${what}.`)
}
