/** The columns of a table, from the CREATE TABLE statement that an SQLite database keeps of it. */

export interface TableColumns {
  /** In lower case, as SQL compares names; in the order of a row's values. */
  columns: string[]
  /** The column that is the row's id and has no value of its own; -1: none. */
  rowidColumn: number
  isWithoutRowid: boolean
}

const constraint = /^(constraint|primary|unique|check|foreign)\b/i

export function parseCreateTable(sql: string): TableColumns {
  const { parts, after } = definitions(sql)
  const columns: string[] = []
  let rowidColumn = -1
  const integers = new Set<string>()
  let key = ''
  for (const part of parts) {
    if (constraint.test(part)) {
      const primary = /primary\s+key\s*\(([^,)]*)\)/i.exec(part)
      if (primary) key = nameAt(primary[1]!.trim()).name
      continue
    }
    const { name, rest } = nameAt(part)
    if (/^\s*integer\b/i.test(rest)) {
      integers.add(name)
      if (/\bprimary\s+key\b(?!\s+desc)/i.test(rest)) rowidColumn = columns.length
    }
    columns.push(name)
  }
  if (rowidColumn < 0 && integers.has(key)) rowidColumn = columns.indexOf(key)
  const isWithoutRowid = /\bwithout\s+rowid\b/i.test(after)
  return { columns, rowidColumn: isWithoutRowid ? -1 : rowidColumn, isWithoutRowid }
}

/** What stands between the commas of the outermost parentheses, and what follows them. */
function definitions(sql: string): { parts: string[]; after: string } {
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (let at = 0; at < sql.length; at++) {
    const character = sql[at]!
    const skipped = endOfComment(sql, at)
    if (skipped > at) {
      at = skipped - 1
      part += ' '
      continue
    }
    if ('"`\'['.includes(character)) {
      const end = endOfQuoted(sql, at)
      if (depth > 0) part += sql.slice(at, end)
      at = end - 1
      continue
    }
    if (character === '(' && depth++ === 0) continue
    if (character === ')' && --depth === 0) {
      if (part.trim() !== '') parts.push(part.trim())
      return { parts, after: sql.slice(at + 1) }
    }
    if (character === ',' && depth === 1) {
      parts.push(part.trim())
      part = ''
    } else if (depth > 0) part += character
  }
  return { parts, after: '' }
}

function endOfComment(sql: string, at: number): number {
  if (sql.startsWith('--', at)) {
    const end = sql.indexOf('\n', at)
    return end < 0 ? sql.length : end + 1
  }
  if (!sql.startsWith('/*', at)) return at
  const end = sql.indexOf('*/', at + 2)
  return end < 0 ? sql.length : end + 2
}

/** Behind the quote that closes; a doubled one stands for itself. */
function endOfQuoted(sql: string, start: number): number {
  const close = sql[start] === '[' ? ']' : sql[start]!
  for (let at = start + 1; at < sql.length; at++) {
    if (sql[at] !== close) continue
    if (close !== ']' && sql[at + 1] === close) at++
    else return at + 1
  }
  return sql.length
}

function nameAt(part: string): { name: string; rest: string } {
  if ('"`\'['.includes(part[0] ?? '')) {
    const end = endOfQuoted(part, 0)
    const quote = part[0]!
    const inner = part.slice(1, end - 1)
    const name = quote === '[' ? inner : inner.replaceAll(quote + quote, quote)
    return { name: name.toLowerCase(), rest: part.slice(end) }
  }
  const word = /^[^\s(,]*/.exec(part)![0]
  return { name: word.toLowerCase(), rest: part.slice(word.length) }
}
