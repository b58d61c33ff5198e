/** Launches of clusters against how many an H100 has at once: where a tile's K is divided within a cluster, one that waits for another doubles the product's time. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { namesOf, type Problem } from '@shared/choice/cost'
import { evaluate } from '@shared/choice/expression'
import { expandVariants, parseKernelRow } from '@shared/contract/kernelRow'
import { h100Size } from '../../../support/h100Size'

interface Launch {
  function: string
  grid: (string | number)[]
  cluster?: (string | number)[]
  when?: string
}

interface Row {
  id: string
  launches: Launch[]
}

const json = (path: string) => JSON.parse(readFileSync(resolve(path), 'utf8')) as unknown
const { kernels } = json('resources/kernels/cuda/manifest.json') as { kernels: unknown[] }
const rows = kernels.flatMap(expandVariants) as Row[]
const { clusters: atOnce } = json('docs/results/h100-codes-stage.json') as {
  clusters: Record<string, number>
}
const formats = ['mxfp4', 'nvfp4', 'mxfp8', 'w4a16_mxfp4']

/** Clusters of more than two CTAs that a row launches for a product: their size, and how many. */
function* clustersOf(given: Row, of: Problem): Generator<[size: number, count: number]> {
  const row = parseKernelRow(given)
  if (typeof row === 'string') throw new Error(row)
  const names = namesOf(row, of, { m: of.m }, h100Size)
  for (const { grid, cluster, when } of given.launches) {
    if (!cluster || (when && evaluate(when, names) === 0)) continue
    const size = evaluate(String(cluster[0]), names)
    if (size > 2) yield [size, evaluate(String(grid[0]), names) / size]
  }
}

it('has as many clusters as an H100 has at once, in every row of one product', () => {
  const sizes = new Set<number>()
  const waiting: string[] = []
  for (const row of rows.filter(({ launches }) => launches?.some(({ cluster }) => cluster)))
    for (const format of formats)
      for (const m of [8, 16, 64, 128, 256, 512])
        for (const k of [2048, 2880, 8192])
          for (let n = 64; n <= 10240; n += 192) {
            const of = { format, m, n, k, output: 'f16' }
            for (const [size, count] of clustersOf(row, of)) {
              sizes.add(size)
              if (count > atOnce[size]!)
                waiting.push(`${row.id} ${format} ${m} x ${n} x ${k}: ${count} of ${size}`)
            }
          }
  expect([...sizes].sort()).toEqual([4, 6, 8])
  expect(waiting.slice(0, 5)).toEqual([])
})
