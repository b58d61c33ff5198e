/** How many stages decode kernels have under way: by the rate of a device's memory, as saved runs tell of their devices. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { namesOf } from '@shared/choice/cost'
import { factsOf } from '@shared/choice/deviceFacts'
import { parseKernelRow } from '@shared/contract/kernelRow'
import { parseRun } from '@shared/contract/parseRun'

const json = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'))
const { kernels } = json('resources/kernels/cuda/manifest.json') as { kernels: { id?: string }[] }

const factsOfRun = (run: string) => {
  const { device } = parseRun(readFileSync(`docs/results/${run}/run.json`, 'utf8'), run)
  return factsOf(device!, [])
}

function depthOf(id: string, format: string, run: string): number {
  const row = parseKernelRow(kernels.find((kernel) => kernel.id === id))
  if (typeof row === 'string') throw new Error(row)
  const problem = { format, m: 8, n: 8192, k: 8192, output: 'bf16' }
  return Number(namesOf(row, problem, { m: 8 }, factsOfRun(run)).DEPTH)
}

it('reads the rate of memory from its clock and bus', () => {
  expect(factsOfRun('h200-decode-list').memoryGbs).toBe(4814) // 2 x 3201 MHz x 6016 bits
  expect(factsOfRun('h100-decode-list').memoryGbs).toBe(3352) // 2 x 2619 MHz x 5120 bits
})

it.each([
  ['decode-fp8', 'mxfp4', 4, 5],
  ['decode', 'mixed', 4, 6],
  ['decode', 'w4a16_mxfp4', 4, 6],
  ['decode', 'nvfp4', 4, 4]
])('%s in %s: %i stages on an H100, %i on an H200', (id, format, ofH100, ofH200) => {
  expect(depthOf(id, format, 'h100-decode-list')).toBe(ofH100)
  expect(depthOf(id, format, 'h200-decode-list')).toBe(ofH200)
})
