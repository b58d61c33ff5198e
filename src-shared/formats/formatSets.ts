/** Words for several formats: those with a short name; every pair of elements under every scale it may have. */
import { blockFormats, everyBlockFormat, findBlockFormat } from './blockFormat'

const formatSets: Record<string, readonly string[]> = {
  all: blockFormats.map(({ id }) => id),
  pairs: everyBlockFormat.map(({ id }) => id)
}

/** As it is spelt here. Throws a UserError for what names none. */
export function formatNamed(name: string): string {
  const lower = name.toLowerCase()
  return Object.hasOwn(formatSets, lower) ? lower : findBlockFormat(name).id
}

/** Ids of formats, each once; `names` as formatNamed spells them. */
export const expandFormats = (names: readonly string[]): string[] => [
  ...new Set(names.flatMap((name) => formatSets[name] ?? [name]))
]
