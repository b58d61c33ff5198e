import { describe, expect, it } from 'vitest'
import * as v from 'valibot'
import { detectionSchema } from '@shared/contract/devices'
import { sweepSpecSchema, validateSpecSchema } from '@shared/contract/jobs'
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

it('takes a kernel whose instruction is emulated only where it is named', async () => {
  const emulated = {
    ...kernel('emulation', ['f16']),
    capabilities: [{ format: 'mxfp8', level: 'emulated', reason: '', instruction: '' }]
  }
  const planned = async (kernels: object[], named: string[]) => {
    const device = { ...detection.devices[0]!, kernels }
    const found = v.parse(detectionSchema, { ...detection, devices: [device] })
    const { steps } = await planJob(spec('f16', named), found, memory)
    return steps.map((step) => [step.kernel.id, step.level])
  }
  const both = [emulated, kernel('wgmma', ['f16'])]
  expect(await planned(both, [])).toEqual([['wgmma', 'exact']])
  expect(await planned(both, ['emulation'])).toEqual([['emulation', 'emulated']])
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

it('a sweep takes every M with every N with every K, each once, and refuses more shapes than it can do', async () => {
  const asked = { kind: 'sweep', formats: ['mxfp8'], kernels: ['wgmma'] }
  const sweep = (more: object) => v.parse(sweepSpecSchema, { ...asked, ...more })
  const several = sweep({ mValues: [16, 64, 16], nValues: [256], kValues: [512, 1024] })
  const { steps } = await planJob(several, detection, memory)
  expect(steps.map(({ m, n, k }) => [m, n, k])).toEqual([
    [16, 256, 512],
    [16, 256, 1024],
    [64, 256, 512],
    [64, 256, 1024]
  ])
  const usual = await planJob(sweep({ kValues: [512] }), detection, memory)
  expect(usual.steps.map(({ m, n, k }) => [m, n, k])).toEqual([[8192, 8192, 512]])
  const values = Array.from({ length: 150 }, (_, index) => index + 1)
  expect(() => sweep({ mValues: values, nValues: values, kValues: [512] })).toThrow(
    '150 values of M, 150 of N and 1 of K are 22500 shapes; at most 10000'
  )
})

describe('auto', () => {
  const rate = (percentOfPeak: number) => ({
    constants: {},
    requires: [],
    cost: {
      source: 'a test',
      stages: [{ name: 'multiply', flop: '2 * M * N * K', percentOfPeak }]
    }
  })
  const exact = (id: string, model?: object) => ({ ...kernel(id, ['f16']), model })
  const approximate = {
    ...exact('rounds', rate(90)),
    capabilities: [{ format: 'mxfp8', level: 'approximate', reason: '', instruction: 'bf16' }]
  }
  const few = { ...rate(80), requires: [{ that: 'M <= 64', message: 'it is for few rows' }] }
  const properties = { smCount: 132, clockMHz: 1980, memoryBusBits: 6016, memoryClockMHz: 3201 }
  const kernels = [
    exact('untold'),
    exact('slow', rate(20)),
    approximate,
    exact('fast', rate(60)),
    exact('decode', few),
    { ...exact('other', rate(100)), baseline: true }
  ]
  const device = { ...detection.devices[0]!, properties, kernels }
  const found = v.parse(detectionSchema, { ...detection, devices: [device] })
  const planned = async (m: number, named: string[], more: object = {}) => {
    const asked = { kind: 'validate', formats: ['mxfp8'], m, n: 4096, k: 4096, kernels: named }
    return (await planJob(v.parse(validateSpecSchema, { ...asked, ...more }), found, memory)).steps
  }

  it('is the fastest of the exact kernels, and says why', async () => {
    const [step, ...others] = await planned(4096, ['AUTO'])
    expect(others).toEqual([])
    expect(step!.kernel.id).toBe('fast')
    expect(step!.choice!.why).toBe(
      'the fastest of 2 exact kernels by the cost model: 214 us, 642 us with slow; rounds is faster and approximate'
    )
    expect(step!.choice!.candidates.map((one) => [one.kernel, one.reason])).toEqual([
      ['fast', ''],
      ['slow', ''],
      ['untold', 'its manifest row has no cost'],
      ['rounds', ''],
      ['decode', 'it is for few rows'],
      ['other', 'a baseline: it computes something else']
    ])
  })

  it('follows what a row requires, and stands beside kernels that are named, once', async () => {
    const at = async (m: number) =>
      (await planned(m, ['slow', 'auto', 'decode'])).map((one) => [
        one.kernel.id,
        one.choice !== undefined
      ])
    expect(await at(64)).toEqual([
      ['decode', true],
      ['slow', false]
    ])
    expect(await at(65)).toEqual([
      ['fast', true],
      ['slow', false],
      ['decode', false]
    ])
  })

  it('says of every kernel why it cannot, where none can', async () => {
    const steps = await planned(64, ['auto'], { output: 'e4m3' })
    expect(steps).toHaveLength(6)
    expect(steps.every(({ level, choice }) => level === 'unavailable' && !choice)).toBe(true)
  })
})
