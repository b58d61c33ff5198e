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

it('takes the kernels that do what the operation asks, and says of one that was named why it does not', async () => {
  const asked = (more: object) =>
    v.parse(validateSpecSchema, { kind: 'validate', formats: ['mxfp8'], output: 'f16', ...more })
  const able = {
    ...kernel('able', ['f16']),
    features: [
      { id: 'b-kn', level: 'pass', reason: '' },
      { id: 'accumulator', level: 'fused', reason: '' },
      { id: 'batch', level: 'none', reason: 'It computes one matrix.' }
    ]
  }
  const device = { ...detection.devices[0]!, kernels: [able, kernel('plain', ['f16'])] }
  const found = v.parse(detectionSchema, { ...detection, devices: [device] })
  const ids = async (more: object) =>
    (await planJob(asked(more), found, memory)).steps.map((step) => [step.kernel.id, step.level])
  expect(await ids({})).toHaveLength(2)
  expect(await ids({ bOrder: 'kn', accumulate: true })).toEqual([['able', 'exact']])
  const { steps } = await planJob(asked({ batchA: [2], batchB: [2] }), found, memory)
  expect(steps.map(({ level, reason }) => [level, reason])).toEqual([
    ['unavailable', 'able does not take a batch. It computes one matrix.'],
    ['unavailable', 'plain does not take a batch.']
  ])
  await expect(
    planJob(asked({ formats: ['mxfp6_e2m3'], bOrder: 'kn', n: 6 }), found, memory)
  ).rejects.toThrow('packs 4 codes of e2m3 along N; N=6')
})

it('takes the kernels that write the output type, and says of one that was named why it does not', async () => {
  const { steps } = await planJob(spec('e4m3'), detection, memory)
  expect(steps.map((step) => [step.kernel.id, step.level])).toEqual([['wide', 'exact']])
  const named = await planJob(spec('e4m3', ['wgmma']), detection, memory)
  expect(named.steps[0]).toMatchObject({
    level: 'unavailable',
    reason: 'wgmma does not write e4m3; it writes f16, f32.'
  })
})
