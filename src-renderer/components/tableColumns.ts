/** Columns of a DataTable, and a table as text for copying. */
export interface Column<Row> {
  id: string
  title: string
  /** Shown dimmed after the title; numbers of a column share it. */
  unit?: string
  /** For sorting and raw copies. */
  value: (row: Row) => string | number | undefined
  /** For the screen; the value itself if absent. */
  text?: (row: Row) => string
  numeric?: boolean
  /** CSS grid track: '120px', 'minmax(140px, 1fr)'. */
  width?: string
  hint?: string
  /** Holds controls, not data: not sorted, not copied, its title only for screen readers. */
  controls?: boolean
}

export interface SortOrder {
  column: string
  descending: boolean
}

export function shownText<Row>(column: Column<Row>, row: Row): string {
  return column.text?.(row) ?? String(column.value(row) ?? '–')
}

export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  order: SortOrder | undefined
): readonly Row[] {
  const column = columns.find(({ id }) => id === order?.column)
  if (!column || !order) return rows
  const sign = order.descending ? -1 : 1
  return [...rows].sort((a, b) => sign * compare(column.value(a), column.value(b)))
}

/** Numbers by size, names in natural order (K=512 before K=4096), what is missing last. */
function compare(a: string | number | undefined, b: string | number | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a).localeCompare(String(b), 'en', { numeric: true })
}

const titleOf = <Row>(column: Column<Row>) =>
  column.unit ? `${column.title} (${column.unit})` : column.title

/** Tab-separated with raw numbers: pastes into a spreadsheet. */
export function toTsv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const clean = (value: string) => value.replace(/[\t\n\r]+/g, ' ')
  const lines = rows.map((row) =>
    columns.map((column) => clean(String(column.value(row) ?? ''))).join('\t')
  )
  return [columns.map((column) => column.title).join('\t'), ...lines].join('\n')
}

export function toCsv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const quoted = (value: string) =>
    /[",\n\r]/.test(value) ? `"${value.replace(/"/g, '""')}"` : value
  const lines = rows.map((row) =>
    columns.map((column) => quoted(String(column.value(row) ?? ''))).join(',')
  )
  return [columns.map((column) => quoted(column.title)).join(','), ...lines].join('\n')
}

/** As shown, with units in the heading. */
export function toMarkdown<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const clean = (value: string) => value.replace(/\|/g, '\\|').replace(/\s+/g, ' ')
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [
    line(columns.map((column) => clean(titleOf(column)))),
    line(columns.map((column) => (column.numeric ? '--:' : '---'))),
    ...rows.map((row) => line(columns.map((column) => clean(shownText(column, row)))))
  ].join('\n')
}
