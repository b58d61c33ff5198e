/** Launches of clusters against how many an H100 has at once: where a tile's K is divided within a cluster, one that waits for another doubles the product's time. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { evaluate, withValues, type Names } from '@shared/choice/expression'
import { parseKernelRow } from '@shared/contract/kernelRow'

interface Launch {
  function: string
  grid: (string | number)[]
  cluster?: (string | number)[]
  when?: string
}

const json = (path: string) => JSON.parse(readFileSync(resolve(path), 'utf8')) as unknown
const { kernels: rows } = json('resources/kernels/cuda/manifest.json') as {
  kernels: { id?: string; launches: Launch[] }[]
}
const { clusters: atOnce } = json('docs/results/h100-codes-stage.json') as {
  clusters: Record<string, number>
}
const formats = {
  mxfp4: { BITS_A: 4, BITS_B: 4, V: 32 },
  nvfp4: { BITS_A: 4, BITS_B: 4, V: 16 },
  mxfp8: { BITS_A: 8, BITS_B: 8, V: 32 },
  w4a16_mxfp4: { BITS_A: 16, BITS_B: 4, V: 32 }
}
const one = { GROUPS: 0, ACCUMULATE: 0, BYTES_C: 2, SMS: 132 }

/** Clusters of more than two CTAs that a row launches for a product: their size, how many, and what for. */
function* clustersOf(id: string, of: Names): Generator<[size: number, count: number]> {
  const given = rows.find((row) => row.id === id)!
  const row = parseKernelRow(given)
  if (typeof row === 'string') throw new Error(row)
  const names = withValues({ ...row.constants, ...of }, row.values)
  for (const { grid, cluster, when } of given.launches) {
    if (!cluster || (when && evaluate(when, names) === 0)) continue
    const size = evaluate(String(cluster[0]), names)
    if (size > 2) yield [size, evaluate(String(grid[0]), names) / size]
  }
}

it.each(['wgmma', 'decode', 'decode-fp8'])('%s has its clusters on an H100 at once', (id) => {
  const sizes = new Set<number>()
  const waiting: string[] = []
  for (const [format, bits] of Object.entries(formats)) {
    if (id === 'decode-fp8' && format !== 'mxfp4') continue
    for (const m of [8, 16, 32, 64, 128, 192, 256, 512])
      for (const k of [2048, 2880, 8192])
        for (let n = 64; n <= 10240; n += 128)
          for (const [size, count] of clustersOf(id, {
            ...one,
            ...bits,
            M: m,
            N: n,
            K: k,
            MOST_ROWS: m,
            GROUP_ROWS: m
          })) {
            sizes.add(size)
            if (count > atOnce[size]!)
              waiting.push(`${format} ${m} x ${n} x ${k}: ${count} clusters of ${size}`)
          }
  }
  expect(sizes.size).toBeGreaterThan(1)
  expect(waiting.slice(0, 5)).toEqual([])
})
