import { CsvRows } from '@shared/profile/read/csvRows'

/** The rows of a text that comes in pieces of so many bytes. */
export function csvCells(text: string, size: number): { line: number; cells: string[] }[] {
  const found: { line: number; cells: string[] }[] = []
  const rows = new CsvRows('f', (cells, line) => found.push({ line, cells }))
  const bytes = new TextEncoder().encode(text)
  for (let from = 0; from < bytes.length; from += size)
    rows.write(bytes.subarray(from, from + size))
  rows.finish()
  return found
}
