/** Shapes of a list: its rows, or those of some numbers of tokens. */
import type { ShapeRow, Shapes } from '../contract/shapes'
import { UserError } from '../errors'

/** The numbers of tokens that rows are of, ascending; none where they do not say. */
export const tokensOf = (rows: readonly ShapeRow[]): number[] =>
  [...new Set(rows.flatMap((row) => row.tokens ?? []))].sort((a, b) => a - b)

/** `source`: the list's name or path; `tokens`: of which rows, absent: of all. Throws a UserError for tokens that no row is of. */
export function listShapes(
  source: string,
  rows: readonly ShapeRow[],
  tokens?: readonly number[]
): Shapes {
  if (!tokens) return { source, rows: [...rows] }
  const known = tokensOf(rows)
  const missing = tokens.find((one) => !known.includes(one))
  if (missing !== undefined)
    throw new UserError(
      'usage',
      known.length > 0
        ? `${source} has no shapes of ${missing} tokens; it has those of ${known.join(', ')}.`
        : `${source} does not say of how many tokens its shapes are.`
    )
  return {
    source,
    tokens: [...tokens],
    rows: rows.filter((row) => row.tokens !== undefined && tokens.includes(row.tokens))
  }
}
