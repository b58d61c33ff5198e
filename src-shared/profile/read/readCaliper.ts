/** Caliper's split JSON, which hatchet reads (hatchet/readers/caliper_reader.py): rows, columns, and a table of path nodes. */
import { UserError } from '../../errors'
import { CaliperTable, type CaliperColumn } from './caliperTable'
import { listOf, numberOr, parseJson, property, stringOr } from './jsonValue'
import type { OpenedProfile } from './reader'

/** Columns of paths, the best first. */
const pathColumns = ['source.function#callpath.address', 'path']

export function readCaliper(bytes: Uint8Array, fileName: string): OpenedProfile {
  const file = parseJson(bytes, fileName)
  const names = listOf(property(file, 'columns')).map((name) => stringOr(name, ''))
  const about = listOf(property(file, 'column_metadata'))
  const nodes = listOf(property(file, 'nodes'))
  const pathName = pathColumns.find((name) => names.includes(name))
  if (!pathName)
    throw new UserError(
      'usage',
      `${fileName}: no column of the Caliper file is a path; it has ${names.slice(0, 5).join(', ')}.`
    )
  const pathAt = names.indexOf(pathName)
  const columns = names.map((name, at): CaliperColumn | null => {
    const isValue =
      property(about[at], 'is_value') !== false && name !== 'mpi.rank' && name !== 'rank'
    return isValue && at !== pathAt
      ? { name, unit: stringOr(property(about[at], 'attribute.unit'), '') }
      : null
  })
  const table = new CaliperTable()
  const paths = new Map<number, string[]>()
  for (const row of listOf(property(file, 'data'))) {
    const cells = listOf(row)
    const node = cells[pathAt]
    const path = typeof node === 'number' ? pathOf(nodes, node, paths, fileName) : []
    const values: [CaliperColumn, number][] = []
    columns.forEach((column, at) => {
      const value = numberOr(cells[at], NaN)
      if (column && !Number.isNaN(value)) values.push([column, value])
    })
    table.add(path, values)
  }
  if (table.records === 0)
    throw new UserError('usage', `${fileName}: the Caliper file has no rows.`)
  return { tree: table.finish(), timeline: null }
}

/** Labels from the outermost region to a node of the file's table. */
function pathOf(
  nodes: readonly unknown[],
  at: number,
  known: Map<number, string[]>,
  fileName: string
): string[] {
  const found = known.get(at)
  if (found) return found
  const path: string[] = []
  const seen = new Set<number>()
  for (let node: unknown = at; typeof node === 'number'; node = property(nodes[node], 'parent')) {
    if (seen.has(node) || nodes[node] === undefined)
      throw new UserError(
        'usage',
        `${fileName}: node ${node} of the Caliper file ${seen.has(node) ? 'is its own parent' : 'is not there'}.`
      )
    seen.add(node)
    path.push(stringOr(property(nodes[node], 'label'), '') || 'UNKNOWN')
  }
  known.set(at, path.reverse())
  return path
}
