/** The CSV that convert writes (RFC 4180): 'node,parent,depth,name', then own values, sums as '<metric> (inc)', texts. */
import { UserError } from '../../errors'
import type { ProfileTree } from '../tree/profileTree'
import { exportedRows } from './exportedRows'
import { textOf } from './jsonValue'

export const csvExportHeader = 'node,parent,depth,name'
const fixedColumns = csvExportHeader.split(',').length

export function readCsvExport(bytes: Uint8Array, fileName: string): ProfileTree {
  const [header = [], ...rows] = [...records(textOf(bytes, fileName))]
  // Own values, then the sums of those that are summed, which are taken again, then texts.
  const isSum = header.map((name) => name.endsWith(' (inc)') && header.includes(name.slice(0, -6)))
  const firstText = isSum.lastIndexOf(true) + 1
  const isNumber = header.map((_, at) =>
    firstText > 0
      ? at < firstText
      : rows.every((row) => (row[at] ?? '') === '' || Number.isFinite(Number(row[at])))
  )
  const tree = exportedRows(fileName)
  rows.forEach((row, index) => {
    if (row.length !== header.length)
      throw new UserError(
        'usage',
        `${fileName}: row ${index + 2} has ${row.length} fields, the header ${header.length}.`
      )
    tree.open(row[1] === '' ? -1 : Number(row[1]), row[3]!)
    for (let at = fixedColumns; at < header.length; at++) {
      const cell = row[at]!
      if (cell === '' || isSum[at]) continue
      if (isNumber[at]) tree.number(header[at]!, Number(cell))
      else tree.text(header[at]!, cell)
    }
  })
  return tree.finish('csv', [])
}

function* records(text: string): Generator<string[]> {
  const field = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/y
  let row: string[] = []
  while (field.lastIndex < text.length) {
    const found = field.exec(text)
    // A quote that never closes: what follows it is one field.
    if (!found) return yield [...row, text.slice(field.lastIndex)]
    const [, cell = '', end] = found
    row.push(cell.startsWith('"') ? cell.slice(1, -1).replace(/""/g, '"') : cell)
    if (end === ',') continue
    yield row
    row = []
  }
  if (row.length > 0) yield [...row, '']
}
