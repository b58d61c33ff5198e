/**
 * Lines of text with their cells below one another, two blanks between them; all rows have as many cells.
 * `left`: columns whose cells stand at the left, the others at the right.
 */
export function columnLines(
  rows: readonly (readonly string[])[],
  left: (column: number) => boolean
): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]!.length)))
  return rows.map((row) =>
    row
      .map((cell, at) => (left(at) ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  ')
      .trimEnd()
  )
}
