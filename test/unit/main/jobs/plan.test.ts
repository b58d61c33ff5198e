import { expect, it } from 'vitest'
import * as v from 'valibot'
import { detectionSchema } from '@shared/contract/devices'
import { validateSpecSchema } from '@shared/contract/jobs'
import { MachineMemory } from '../../../../src-main/store/machineMemory'
import { planJob } from '../../../../src-main/jobs/plan'

const kernel = (id: string, outputs: string[]) => ({
  ...{ id, provider: 'blockscope', summary: '', scaleLayout: 'linear', baseline: false, outputs },
  ...{ sourceHash: '', compileOptions: '' },
  capabilities: [{ format: 'mxfp8', level: 'exact', reason: '', instruction: 'bf16' }]
})
const detection = v.parse(detectionSchema, {
  devices: [
    {
      ...{ id: 'cuda:0', kind: 'cuda', name: 'A GPU', architecture: 'sm_90', properties: {} },
      kernels: [kernel('wgmma', ['f16', 'f32']), kernel('wide', ['f16', 'e4m3'])]
    }
  ],
  libraries: [],
  warnings: []
})
const memory = new MachineMemory('/nowhere/machine.json')
const spec = (output: string, kernels: string[] = []) =>
  v.parse(validateSpecSchema, { kind: 'validate', formats: ['mxfp8'], output, kernels })

it('takes the kernels that write the output type, and says of one that was named why it does not', async () => {
  const { steps } = await planJob(spec('e4m3'), detection, memory)
  expect(steps.map((step) => [step.kernel.id, step.level])).toEqual([['wide', 'exact']])
  const named = await planJob(spec('e4m3', ['wgmma']), detection, memory)
  expect(named.steps[0]).toMatchObject({
    level: 'unavailable',
    reason: 'wgmma does not write e4m3; it writes f16, f32.'
  })
})
