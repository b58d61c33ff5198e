/** What was measured of the kernels for few rows of A where an older file's times are of others, and which those are. */
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
interface Timed extends Product {
  kernel: string
  us: number
}

const kernels = kernelsOf('sm_90')

const namesFor = (kernel: string, { format, m, n, k }: Product) => {
  const model = kernels.find(({ id }) => id === kernel)?.model
  return model && namesOf(model, { format, m, n, k, output: 'bf16' }, { m }, h100Size)
}

/** Whether a kernel multiplies a product in float16, since docs/results/h200-decode-halves.json. */
const isInHalves = (kernel: string, product: Product) =>
  product.format === 'nvfp4'
    ? kernel === 'decode' || (kernel === 'decode-mma' && product.m > 1)
    : kernel === 'decode' && (namesFor(kernel, product)?.AS_THEY_ARE ?? 0) > 0

/** Whether its CTAs have parts of tiles but for those of a cluster, which take less since h200-decode-slots.json. */
const hasParts = (kernel: string, product: Product) =>
  ['decode', 'decode-fp8'].includes(kernel) && (namesFor(kernel, product)?.PARTS ?? 1) > 1

/** Whether a kernel for few rows of A took longer for a product before those files. */
export const isFasterSince = (kernel: string, product: Product) =>
  isInHalves(kernel, product) || hasParts(kernel, product)

const keyOf = ({ kernel, format, m, n, k }: Product & { kernel: string }) =>
  [kernel, format, m, n, k].join(' ')

const keyed = (file: string) =>
  JSON.parse(readFileSync(resolve(`docs/results/${file}.json`), 'utf8')) as Record<
    string,
    (Product & { kernel: string; us: Record<string, number> })[]
  >

/** All that was timed of those with what they are today. */
export function timesOfToday(): (Timed & { run: string })[] {
  const slots = keyed('h200-decode-slots').today!.flatMap(({ us, ...of }): Timed[] =>
    isInHalves(of.kernel, of) ? [] : [{ ...of, us: us.now! }]
  )
  const { fp8, nvfp4, more } = keyed('h200-decode-halves')
  const halves = [...fp8!, ...nvfp4!, ...more!].flatMap(({ us, ...of }): Timed[] =>
    Object.entries(us).flatMap(([name, time]) =>
      name.endsWith('before') ? [] : [{ ...of, kernel: name.split(' ')[0]!, us: time }]
    )
  )
  // Codes of 8 bits are as `signs` has them, which were timed last, others as `multipliers`.
  const { multipliers, signs } = keyed('h200-decode-instructions')
  const is8Bits = ({ format }: Product) => format.startsWith('mxfp8')
  const instructions = [
    ...multipliers!.filter((row) => !is8Bits(row)),
    ...signs!.filter(is8Bits)
  ].map(({ us, ...of }): Timed => ({
    ...of,
    us: us.now ?? us['batches and multipliers'] ?? us.multipliers!
  }))
  // What a later key of these has again is of before.
  const permutations = keyed('h200-decode-permutations')
  const latest = new Map(
    ['multiplication', 'two words', 'halves', 'thirty-two']
      .flatMap((key) => permutations[key]!)
      .map(({ us, ...of }): [string, Timed] => [keyOf(of), { ...of, us: us.now! }])
  )
  return [
    ...slots.map((of) => ({ ...of, run: 'h200-decode-slots' })),
    ...halves.map((of) => ({ ...of, run: 'h200-decode-halves' })),
    ...instructions
      .filter((of) => !latest.has(keyOf(of)))
      .map((of) => ({ ...of, run: 'h200-decode-instructions' })),
    ...[...latest.values()].map((of) => ({ ...of, run: 'h200-decode-permutations' }))
  ]
}
