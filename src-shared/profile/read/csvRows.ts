/** Rows of comma-separated values as they stream in, quoted as in RFC 4180: "a,b", """", line breaks within quotes. */
import { UserError } from '../../errors'
import { profileLimits } from '../tree/limits'

export class CsvRows {
  private readonly decoder = new TextDecoder()
  private text = ''
  /** 1-based line of what is in `text`. */
  private line = 1

  /** @param take gets the cells of each row, and the line that the row begins at; empty lines are left out */
  constructor(
    private readonly fileName: string,
    private readonly take: (cells: string[], line: number) => void
  ) {}

  write(chunk: Uint8Array): void {
    this.text += this.decoder.decode(chunk, { stream: true })
    this.run(false)
    if (this.text.length > profileLimits.stringBytes) {
      throw new UserError(
        'usage',
        `${this.fileName}: line ${this.line}: a row of over 1 MiB: is a quote left open?`
      )
    }
  }

  finish(): void {
    this.text += this.decoder.decode()
    this.run(true)
  }

  /** Takes the rows that are complete; what follows them waits for more. */
  private run(isLast: boolean): void {
    const { text } = this
    let at = 0
    while (at < text.length) {
      const row = readRow(text, at, isLast)
      if (!row) break
      if (row.cells.length > 1 || row.cells[0] !== '') this.take(row.cells, this.line)
      this.line += row.lines
      at = row.end
    }
    this.text = text.slice(at)
  }
}

/** One row from `start`; null where the text ends within it. */
function readRow(
  text: string,
  start: number,
  isLast: boolean
): { cells: string[]; end: number; lines: number } | null {
  const cells: string[] = []
  let lines = 1
  let at = start
  for (;;) {
    let cell = ''
    if (text[at] === '"') {
      for (at++; ; at++) {
        const close = text.indexOf('"', at)
        // A quote that is the last so far may be the first half of a doubled one.
        if (close < 0 || (close === text.length - 1 && !isLast)) {
          if (!isLast) return null
          cell += text.slice(at)
          at = text.length
          break
        }
        cell += text.slice(at, close)
        at = close + 1
        if (text[at] !== '"') break
        cell += '"'
      }
      lines += cell.split('\n').length - 1
    }
    let end = at
    while (end < text.length && text[end] !== ',' && text[end] !== '\n') end++
    if (end === text.length && !isLast) return null
    cells.push(cell + text.slice(at, end).replace(/\r$/, ''))
    if (text[end] !== ',') return { cells, end: end + 1, lines }
    at = end + 1
  }
}
