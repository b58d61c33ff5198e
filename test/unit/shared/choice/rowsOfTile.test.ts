/** How many rows of A a tile of wgmma has where B's codes are widened inside the product (docs/kernels.md, "What a small product waits for"). */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { namesOf } from '@shared/choice/cost'
import { evaluate } from '@shared/choice/expression'
import { parseKernelRow } from '@shared/contract/kernelRow'
import { h100Size } from '../../../support/h100Size'

interface Row {
  id?: string
  launches: { function: string; when?: string }[]
}

const { kernels } = JSON.parse(
  readFileSync(resolve('resources/kernels/cuda/manifest.json'), 'utf8')
) as { kernels: Row[] }
const wgmma = kernels.find(({ id }) => id === 'wgmma')!

/** The kernels that are launched, by their names, on a GPU of 132 multiprocessors. */
function launched(m: number, n: number, k: number, parts?: number[]): string[] {
  const row = parseKernelRow(wgmma)
  if (typeof row === 'string') throw new Error(row)
  const of = { format: 'mxfp4', m, n, k, output: 'f16' }
  const product = { m, ...(parts && { parts, groups: parts.length }) }
  const names = namesOf(row, of, product, h100Size)
  return wgmma.launches
    .filter(({ when }) => !when || evaluate(when, names) !== 0)
    .map((launch) => launch.function)
}

it.each([
  [128, 2880, 2880, 128],
  [129, 2880, 2880, 192],
  [256, 5120, 5120, 256],
  // Three tiles of 192 are one turn of 66 clusters, two of 256 a part of one.
  [512, 5120, 5120, 192],
  [512, 4096, 7168, 256],
  [512, 2880, 2880, 256],
  // Three of either.
  [513, 8192, 8192, 192],
  [577, 8192, 8192, 256]
])('%i rows by %i x %i are in tiles of %i', (m, n, k, rows) => {
  expect(launched(m, n, k)).toEqual(['widenRows', `multiplyOfCodes${rows}`])
})

it.each([
  [[1, 128, 0], 128],
  [[129, 129], 192],
  // A large one among small ones.
  [[400, 10, 20], 192],
  [[300, 10, 20, 0, 5], 128],
  [[193, 180], 256],
  [[256, 256], 256],
  // Two of 192 instead of two of 256.
  [[257, 300], 192],
  [[385, 400], 256]
])('groups of %j rows are in tiles of %i', (parts, rows) => {
  const m = parts.reduce((sum, count) => sum + count, 0)
  expect(launched(m, 2880, 2880, parts)).toEqual([
    'widenRowsOfAllGroups',
    `multiplyGroupsOfCodes${rows}`,
    'fallbackGroups'
  ])
})
