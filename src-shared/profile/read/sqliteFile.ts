/**
 * Tables of an SQLite 3 database, read only: pages, b-trees and records as sqlite.org/fileformat2.html describes them.
 *
 * Our own, and not a library, for three reasons. Profilers' databases are read by scanning whole tables, which is this
 * file and no SQL. They are larger than memory: sql.js and every other WebAssembly build hold the whole file in theirs,
 * and the page's security policy forbids WebAssembly. And `node:sqlite` exists from Node 22.5 on only, where we support
 * 20; better-sqlite3 downloads a binary when it is installed. This runs in the page's worker and on the command line
 * alike.
 */
import { UserError } from '../../errors'
import type { ByteSource } from './byteSource'
import { parseCreateTable, type TableColumns } from './sqliteSchema'

/** Integers beyond 2^53 come as bigint. */
export type SqliteValue = number | bigint | string | Uint8Array | null

interface Table extends TableColumns {
  name: string
  rootPage: number
}

const magic = 'SQLite format 3\0'
/** Pages have hundreds of children: a deeper tree than this is damage. */
const deepest = 40
/** One row; SQLite's own default is 1e9. */
const longestRow = 256 << 20

export function isSqlite(head: Uint8Array): boolean {
  return head.length >= magic.length && [...magic].every((c, at) => head[at] === c.charCodeAt(0))
}

export class SqliteFile {
  private readonly pageSize: number
  /** Bytes of a page without those that extensions reserve at its end. */
  private readonly usable: number
  private readonly pages: number
  private readonly textOf: (bytes: Uint8Array) => string
  private readonly tables = new Map<string, Table>()

  /**
   * Reads the header and the schema.
   * @throws UserError where the file is no database or is damaged.
   */
  constructor(
    private readonly source: ByteSource,
    private readonly fileName: string
  ) {
    const header = source.read(0, 100)
    if (header.length < 100 || !isSqlite(header)) throw this.damaged(1, 'the header is damaged')
    const view = viewOf(header)
    const size = view.getUint16(16)
    this.pageSize = size === 1 ? 65536 : size
    this.usable = this.pageSize - header[20]!
    const isPowerOfTwo = (this.pageSize & (this.pageSize - 1)) === 0
    if (this.pageSize < 512 || !isPowerOfTwo || this.usable < 480)
      throw this.damaged(1, `it says that pages have ${this.pageSize} bytes`)
    this.pages = Math.floor(source.size / this.pageSize)
    const encoding = view.getUint32(56)
    const label = encoding === 2 ? 'utf-16le' : encoding === 3 ? 'utf-16be' : 'utf-8'
    const decoder = new TextDecoder(label)
    this.textOf = (bytes) => decoder.decode(bytes)
    this.readSchema()
  }

  tableNames(): string[] {
    return [...this.tables.values()].map(({ name }) => name)
  }

  /** In any case, as SQL compares names. */
  has(table: string): boolean {
    return this.find(table) !== undefined
  }

  hasColumn(table: string, column: string): boolean {
    return this.columnAt(this.find(table), column) >= 0
  }

  /** Whether a table has rows, from its first page alone. */
  isEmpty(table: string): boolean {
    const found = this.find(table)
    if (!found) return true
    const { type, cells } = this.openPage(found.rootPage, this.readPage(found.rootPage))
    return type === 'leaf' && cells === 0
  }

  /**
   * Gives every row of a table in the order of their ids. The list is filled again for the next row.
   * @param columns names in any case; null is given for those that the table lacks
   * @throws UserError where the table is not there or its pages are damaged.
   */
  each(table: string, columns: readonly string[], take: (row: SqliteValue[]) => void): void {
    const found = this.find(table)
    if (!found) throw new UserError('usage', `${this.fileName} has no table ${table}.`)
    if (found.isWithoutRowid)
      throw new UserError(
        'usage',
        `${this.fileName}: table ${table} has no row ids, which no profiler writes: it is not read.`
      )
    const places = columns.map((name) => this.columnAt(found, name))
    const targets = targetsOf(places)
    const row: SqliteValue[] = columns.map(() => null)
    this.walk(found.rootPage, (rowid, payload, page) => {
      this.readRecord(payload, targets, row, page)
      for (let at = 0; at < places.length; at++)
        if (places[at]! >= 0 && places[at] === found.rowidColumn) row[at] = rowid
      take(row)
    })
  }

  private find(table: string): Table | undefined {
    return this.tables.get(table.toLowerCase())
  }

  private columnAt(table: Table | undefined, column: string): number {
    return table ? table.columns.indexOf(column.toLowerCase()) : -1
  }

  private readSchema(): void {
    const row: SqliteValue[] = [null, null, null, null]
    const targets = targetsOf([0, 1, 3, 4])
    this.walk(1, (_, payload, page) => {
      this.readRecord(payload, targets, row, page)
      const [type, name, rootPage, sql] = row
      if (type !== 'table' || typeof name !== 'string' || typeof sql !== 'string') return
      // Virtual tables have no pages.
      if (typeof rootPage !== 'number' || rootPage < 1) return
      this.tables.set(name.toLowerCase(), { name, rootPage, ...parseCreateTable(sql) })
    })
  }

  /** Goes through a table's b-tree, leaves from left to right. */
  private walk(
    root: number,
    take: (rowid: number | bigint, payload: Uint8Array, page: number) => void
  ): void {
    const seen = new Uint8Array((this.pages >> 3) + 1)
    const open: { page: number; depth: number }[] = [{ page: root, depth: 0 }]
    while (open.length > 0) {
      const { page, depth } = open.pop()!
      if (depth > deepest) throw this.damaged(page, 'its tree is too deep')
      const bytes = this.readPage(page)
      this.mark(seen, page)
      const { type, cells, start } = this.openPage(page, bytes)
      const view = viewOf(bytes)
      if (type === 'interior') {
        if (start + 12 + 2 * cells > bytes.length) throw this.damaged(page, 'it has too many cells')
        open.push({ page: view.getUint32(start + 8), depth: depth + 1 })
        for (let cell = cells - 1; cell >= 0; cell--) {
          const at = view.getUint16(start + 12 + 2 * cell)
          if (at + 4 > bytes.length) throw this.damaged(page, `cell ${cell} lies outside it`)
          open.push({ page: view.getUint32(at), depth: depth + 1 })
        }
        continue
      }
      if (start + 8 + 2 * cells > bytes.length) throw this.damaged(page, 'it has too many cells')
      for (let cell = 0; cell < cells; cell++) {
        const at = view.getUint16(start + 8 + 2 * cell)
        const size = readVarint(bytes, at)
        const rowid = readVarint(bytes, size.end)
        if (rowid.end > bytes.length) throw this.damaged(page, `cell ${cell} lies outside it`)
        take(rowid.value, this.payload(bytes, rowid.end, Number(size.value), page, seen), page)
      }
    }
  }

  /** Each page has one place in a tree or a chain: what is reached twice is damage, and might go round for ever. */
  private mark(seen: Uint8Array, page: number): void {
    if (seen[page >> 3]! & (1 << (page & 7))) throw this.damaged(page, 'it is reached twice')
    seen[page >> 3]! |= 1 << (page & 7)
  }

  private openPage(page: number, bytes: Uint8Array) {
    const start = page === 1 ? 100 : 0
    const kind = bytes[start]
    if (kind !== 0x0d && kind !== 0x05)
      throw this.damaged(page, `expected a page of a table, found kind ${kind}`)
    const cells = (bytes[start + 3]! << 8) | bytes[start + 4]!
    return { type: kind === 0x0d ? ('leaf' as const) : ('interior' as const), cells, start }
  }

  /** A row's bytes: what does not fit its page continues on a chain of others. */
  private payload(
    bytes: Uint8Array,
    at: number,
    size: number,
    page: number,
    seen: Uint8Array
  ): Uint8Array {
    const { usable } = this
    if (size >= 0 && size <= usable - 35) {
      if (at + size > bytes.length) throw this.damaged(page, 'a row reaches beyond it')
      return bytes.subarray(at, at + size)
    }
    if (!(size >= 0 && size <= longestRow) || size > this.source.size)
      throw this.damaged(page, `it has a row of ${size} bytes`)
    const least = Math.floor(((usable - 12) * 32) / 255) - 23
    const wanted = least + ((size - least) % (usable - 4))
    const local = wanted <= usable - 35 ? wanted : least
    if (at + local + 4 > bytes.length) throw this.damaged(page, 'a row reaches beyond it')
    const whole = new Uint8Array(size)
    whole.set(bytes.subarray(at, at + local))
    let next = viewOf(bytes).getUint32(at + local)
    for (let filled = local; filled < size;) {
      const more = this.readPage(next)
      this.mark(seen, next)
      const part = more.subarray(4, Math.min(usable, 4 + size - filled))
      whole.set(part, filled)
      filled += part.length
      next = viewOf(more).getUint32(0)
    }
    return whole
  }

  private readRecord(
    payload: Uint8Array,
    targets: Int32Array,
    row: SqliteValue[],
    page: number
  ): void {
    row.fill(null)
    const header = readVarint(payload, 0)
    const headerEnd = Number(header.value)
    if (headerEnd > payload.length) throw this.damaged(page, 'a row has a header beyond its end')
    let body = headerEnd
    let at = header.end
    for (let column = 0; at < headerEnd && column < targets.length; column++) {
      const type = readVarint(payload, at)
      at = type.end
      const kind = Number(type.value)
      const length = contentLength(kind)
      if (Number.isNaN(length)) throw this.damaged(page, 'a row has a value of no known type')
      if (body + length > payload.length) throw this.damaged(page, 'a row is longer than it says')
      const target = targets[column]!
      if (target >= 0) row[target] = this.value(payload, body, kind, length)
      body += length
    }
  }

  private value(bytes: Uint8Array, at: number, kind: number, length: number): SqliteValue {
    if (kind === 0 || kind === 10 || kind === 11) return null
    if (kind === 8 || kind === 9) return kind - 8
    if (kind >= 12) {
      const part = bytes.subarray(at, at + length)
      return kind % 2 === 1 ? this.textOf(part) : new Uint8Array(part)
    }
    if (kind === 7) return viewOf(bytes).getFloat64(at)
    const first = bytes[at]!
    if (length <= 4) {
      let value = first >= 0x80 ? first - 256 : first
      for (let more = 1; more < length; more++) value = value * 256 + bytes[at + more]!
      return value
    }
    let high = first >= 0x80 ? first - 256 : first
    let low = 0
    const highBytes = length - 4
    for (let more = 1; more < highBytes; more++) high = high * 256 + bytes[at + more]!
    for (let more = highBytes; more < length; more++) low = low * 256 + bytes[at + more]!
    const value = high * 2 ** 32 + low
    return Number.isSafeInteger(value) ? value : BigInt(high) * 2n ** 32n + BigInt(low)
  }

  private readPage(page: number): Uint8Array {
    if (page < 1 || page > this.pages) {
      throw new UserError(
        'usage',
        `${this.fileName}: page ${page} of the database is not there: it has ${this.pages} (the file is cut short or damaged).`
      )
    }
    return this.source.read((page - 1) * this.pageSize, this.pageSize)
  }

  private damaged(page: number, what: string): UserError {
    return new UserError('usage', `${this.fileName}: page ${page} of the database: ${what}.`)
  }
}

/** By column of a row, where its value goes in the list handed over; -1: nowhere. */
function targetsOf(places: readonly number[]): Int32Array {
  const targets = new Int32Array(Math.max(-1, ...places) + 1).fill(-1)
  places.forEach((column, place) => {
    if (column >= 0) targets[column] = place
  })
  return targets
}

/** Bytes of a value, by its serial type; NaN for a type that there is not. */
function contentLength(kind: number): number {
  if (kind >= 12) return (kind - (kind % 2 === 1 ? 13 : 12)) / 2
  return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][kind] ?? NaN
}

/** A big-endian base-128 integer of 1 to 9 bytes; the ninth holds 8 bits. Reads zeros beyond the end. */
function readVarint(bytes: Uint8Array, at: number): { value: number | bigint; end: number } {
  let value = 0
  for (let index = 0; index < 7; index++) {
    const byte = bytes[at + index] ?? 0
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return { value, end: at + index + 1 }
  }
  let big = BigInt(value)
  const eighth = bytes[at + 7] ?? 0
  big = big * 128n + BigInt(eighth & 0x7f)
  if (eighth >= 0x80) big = BigInt.asIntN(64, big * 256n + BigInt(bytes[at + 8] ?? 0))
  const small = Number(big)
  const end = at + (eighth < 0x80 ? 8 : 9)
  return { value: Number.isSafeInteger(small) ? small : big, end }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
