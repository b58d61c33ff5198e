/** What was measured of decode and decode-fp8 where CTAs give one another sums of a tile, and since when that is as it is today. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { namesOf } from '@shared/choice/cost'
import { h100Size } from '../../../support/h100Size'
import { kernelsOf } from './kernelsOfManifest'

interface Product {
  format: string
  m: number
  n: number
  k: number
}

const kernels = kernelsOf('sm_90')

/** Whether its CTAs have parts of tiles, but for those of a cluster: such a product takes less than before docs/results/h200-decode-slots.json. */
export function hasParts(kernel: string, { format, m, n, k }: Product): boolean {
  const model = kernels.find(({ id }) => id === kernel)?.model
  if (!model || !['decode', 'decode-fp8'].includes(kernel)) return false
  const problem = { format, m, n, k, output: 'bf16' }
  return (namesOf(model, problem, { m }, h100Size).PARTS ?? 1) > 1
}

/** All that was timed of them with what they are today. */
export function partsOfToday(): (Product & { kernel: string; us: { now: number } })[] {
  const file = resolve('docs/results/h200-decode-slots.json')
  return JSON.parse(readFileSync(file, 'utf8')).today
}
