/** What decode-mma took by other divisions of its work on two cards (docs/results), and which one the manifest's row has. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { withValues } from '@shared/choice/expression'
import { parseKernelRow } from '@shared/contract/kernelRow'
import { findBlockFormat } from '@shared/formats/blockFormat'

export interface Divided {
  format: string
  m: number
  n: number
  k: number
  /** By the division, 'pairs by 8': tiles of B alone or in pairs, by so many warps. */
  us: Record<string, number>
}

const json = (path: string) => JSON.parse(readFileSync(resolve(path), 'utf8')) as unknown

export const dividedOn = (card: string): Divided[] =>
  (json(`docs/results/${card}-decode-divisions.json`) as { rows: Divided[] }).rows

const { kernels } = json('resources/kernels/cuda/manifest.json') as { kernels: { id?: string }[] }
const row = parseKernelRow(kernels.find(({ id }) => id === 'decode-mma'))
if (typeof row === 'string') throw new Error(row)
const { constants, values } = row

/** What the row's values make of a problem on a GPU of 132 multiprocessors. */
export function divisionOf({ format, m, n, k }: Divided): string {
  const { a, b, scaleBlockSize } = findBlockFormat(format)
  const bits = { BITS_A: a.storageBits, BITS_B: b.storageBits, V: scaleBlockSize }
  const problem = { M: m, N: n, K: k, MOST_ROWS: m, GROUPS: 0, ACCUMULATE: 0, BYTES_C: 2, SMS: 132 }
  const names = withValues({ ...constants, ...bits, ...problem }, values)
  return `${names.IN_PAIRS ? 'pairs' : 'tiles'} by ${names.WARPS}`
}
