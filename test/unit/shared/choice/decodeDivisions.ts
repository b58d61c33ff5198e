/** What decode-mma took by other divisions of its work on two cards (docs/results), and which one the manifest's row has. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { namesOf } from '@shared/choice/cost'
import { parseKernelRow } from '@shared/contract/kernelRow'
import { h100Size } from '../../../support/h100Size'

export interface Divided {
  format: string
  m: number
  n: number
  k: number
  /** By the division, 'pairs by 8': tiles of B alone or in pairs, by so many warps. */
  us: Record<string, number>
}

const json = (path: string) => JSON.parse(readFileSync(resolve(path), 'utf8')) as unknown

const keyed = (file: string) => json(`docs/results/${file}.json`) as Record<string, Divided[]>

/** One row of A, and NVFP4, have kernels of their own since they were timed for all. */
export const dividedOn = (card: 'h100' | 'h200'): Divided[] => [
  ...keyed(`${card}-decode-divisions`).rows!.filter(({ m, format }) => m > 1 && format !== 'nvfp4'),
  ...(card === 'h200'
    ? [...keyed('h200-decode-one-halves').rows!, ...keyed('h200-decode-halves').divisions!]
    : [])
]

const { kernels } = json('resources/kernels/cuda/manifest.json') as { kernels: { id?: string }[] }
const row = parseKernelRow(kernels.find(({ id }) => id === 'decode-mma'))
if (typeof row === 'string') throw new Error(row)
const model = row

/** What the row's values make of a problem on a GPU of 132 multiprocessors. */
export function divisionOf({ us: _us, ...problem }: Divided): string {
  const names = namesOf(model, { ...problem, output: 'f16' }, problem, h100Size)
  return `${names.IN_PAIRS ? 'pairs' : 'tiles'} by ${names.WARPS}`
}
