import { defaultDepth, type Query } from '../ask/ask'

/** As a shell takes it for one word. */
export const quoted = (word: string) =>
  /^[\w./%,:=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/**
 * The command line that asks the same: `blockscope view FILE ...`.
 * @param files that the profile is of.
 * @param baseline file of the profile that it is compared with.
 * @param path of the node, where the query has it as a number.
 */
export function viewCommand(
  query: Query,
  files: readonly string[] = ['FILE'],
  baseline?: string,
  path = ''
): string {
  const { metrics = [], arrangement = 'tree', sort } = query
  const words = ['blockscope', 'view', ...files.map(quoted)]
  if (metrics.length > 0) words.push('-m', quoted(metrics.join()))
  if (query.include) words.push('-i', quoted(query.include))
  if (query.exclude) words.push('-e', quoted(query.exclude))
  if (query.threshold !== undefined) words.push('-t', String(query.threshold))
  if (query.depth !== undefined && query.depth !== defaultDepth)
    words.push('-d', String(query.depth))
  if (sort === 'name') words.push('--sort', 'name')
  else if (sort === 'metric' || (typeof sort === 'object' && sort.column === 0 && sort.descending))
    words.push('--sort', 'metric')
  if (query.hotPath) words.push('--hot-path')
  if (path) words.push('--node', quoted(path))
  if (arrangement === 'flat') words.push('--flat')
  if (arrangement === 'inverted') words.push('--inverted')
  if (typeof arrangement === 'object') words.push('--group', quoted(arrangement.group))
  if (query.metadata) words.push('--metadata')
  if (query.demangle === false) words.push('--no-demangle')
  if (baseline !== undefined) {
    words.push('--diff-profile', quoted(baseline))
    if (query.byName) words.push('--by-name')
  }
  return words.join(' ')
}
