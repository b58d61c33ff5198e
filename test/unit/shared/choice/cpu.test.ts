/** The order of the CPU kernels, of a machine that is none: times of this one are in npm run bench:auto. */
import { expect, it } from 'vitest'
import { rankKernels } from '@shared/choice/choose'
import { factsOf } from '@shared/choice/deviceFacts'
import type { Device, Kernel } from '@shared/contract/devices'

const kernel = (id: string, instruction: string): Kernel => ({
  ...{ id, provider: 'blockscope', summary: '', scaleLayout: 'linear', baseline: false },
  ...{ operandBits: 0, outputs: ['f16'], sourceHash: '', compileOptions: '', features: [] },
  capabilities: [{ format: 'mxfp4', level: 'exact', reason: '', instruction }]
})
const kernels = [
  kernel('cpu-portable', 'fp64:portable'),
  kernel('cpu-avx2', 'int8:avx2'),
  kernel('cpu-avxvnni', 'int8:avx-vnni'),
  kernel('cpu-avx512', 'int8:avx512-vnni')
]
const device: Device = {
  ...{ id: 'cpu', kind: 'cpu', name: 'A CPU', architecture: 'x86-64', kernels },
  properties: { cores: 2 }
}
const order = (m: number, n: number, k: number) =>
  rankKernels(kernels, factsOf(device, []), { format: 'mxfp4', m, n, k, output: 'f16' }).ranked.map(
    (one) => one.kernel.id
  )

it('is by instruction set where a product is large, and by packing where it is a few columns', () => {
  const byInstruction = ['cpu-avx512', 'cpu-avxvnni', 'cpu-avx2', 'cpu-portable']
  expect(order(2048, 2048, 2048)).toEqual(byInstruction)
  expect(order(128, 1024, 1024)).toEqual(byInstruction)
  // Each row costs the integer kernels as much as many elements do, and they pad to 16 or 32 columns.
  expect(order(128, 4, 64)[0]).toBe('cpu-portable')
  expect(order(128, 4, 1024)[0]).not.toBe('cpu-portable')
})
