/** Layouts that people write themselves, as a small JSON file in the same terms as the registry. */
import * as v from 'valibot'
import { UserError } from '../errors'
import { digits, view } from './describe'
import type { Digit, ScaleLayout } from './layout'

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

const largestExtent = 65536

/**
 * Reads '{"name", "rows": "rowTile:0 row:8", "columns": "columnTile:0 column:4", "order": "rowTile columnTile row
 * column", "views": {"4D": "rowTile, columnTile, row, column"}}'. Digits go from the most to the least significant; 0 is
 * as many as the axis needs. Throws a UserError that names the file and the field.
 */
export function parseUserLayout(text: string, file: string): ScaleLayout {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw refused(file, 'it is not JSON')
  }
  const parsed = v.safeParse(schema, json)
  if (!parsed.success) {
    const issue = parsed.issues[0]
    const field = v.getDotPath(issue)
    throw refused(file, field ? `${field}: ${issue.message}` : issue.message)
  }
  const { name, title, rows, columns, order, views } = parsed.output
  const rowDigits = readDigits('row', rows, file)
  const columnDigits = readDigits('column', columns, file)
  const names = [...rowDigits, ...columnDigits].map((digit) => digit.name)
  const repeated = names.find((digit, i) => names.indexOf(digit) !== i)
  if (repeated) throw refused(file, `the digit "${repeated}" appears twice`)
  const ordered = order.split(/\s+/)
  const unknown = ordered.find((digit) => !names.includes(digit))
  if (unknown) throw refused(file, `order names "${unknown}", which is no digit of rows or columns`)
  const missing = names.find((digit) => ordered.filter((other) => other === digit).length !== 1)
  if (missing) throw refused(file, `order must name "${missing}" exactly once`)
  const layoutViews = Object.entries(views).map(([title, coordinates]) => view(title, coordinates))
  for (const { name: viewName, coordinates } of layoutViews) {
    const stranger = coordinates.flat().find((word) => !names.includes(word) && !/^\d+$/.test(word))
    if (stranger) throw refused(file, `view "${viewName}" names "${stranger}", which is no digit`)
  }
  return {
    name,
    title: title || name,
    source: file,
    rowDigits,
    columnDigits,
    order: ordered,
    views: layoutViews
  }
}

function readDigits(axis: Digit['axis'], text: string, file: string): Digit[] {
  const field = axis === 'row' ? 'rows' : 'columns'
  const parts = text.split(/\s+/)
  const wrong = parts.find((part) => !/^[A-Za-z]\w*:\d+$/.test(part))
  if (wrong) throw refused(file, `${field}: "${wrong}" is not written as name:extent`)
  const read = digits(axis, parts.join(' '))
  if (read[0]!.extent !== 0) {
    throw refused(
      file,
      `${field}: the first digit, "${read[0]!.name}", must have extent 0 (the rest)`
    )
  }
  const inner = read.slice(1)
  const bad = inner.find(({ extent }) => extent < 1 || extent > largestExtent)
  if (bad) {
    throw refused(file, `${field}: the extent of "${bad.name}" must be 1 to ${largestExtent}`)
  }
  return read
}

function refused(file: string, what: string): UserError {
  return new UserError('usage', `${file} is no usable layout: ${what}.`)
}
