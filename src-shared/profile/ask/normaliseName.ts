import { demangle } from './demangle'

/**
 * A name without what changes from run to run of one kernel: problem extents (K=4096), tile and stage suffixes
 * (128x256x64, stg4), grids, addresses; C++ names demangled first.
 */
export function normaliseName(name: string): string {
  return demangle(name)
    .replace(/(?<![0-9a-z])0x[0-9a-f]+/gi, '#')
    .replace(/\b([A-Za-z]\w*)\s*[=:]\s*\d+(\.\d+)?/g, '$1=#')
    .replace(/\d+(x\d+)+/g, '#')
    .replace(/(?<=(?:^|[_\W])(?:stg|stages|w|warps|bk|bm|bn|tile))\d+/gi, '#')
    .replace(/\s+/g, ' ')
    .trim()
}
