import { plainOperation } from '@shared/contract/operation'
import type { Run, Step } from '@shared/contract/run'

/** A small finished run, for tests of what reads runs. */
export function sampleRun(change: Partial<Run> = {}): Run {
  return {
    formatVersion: 1,
    id: '20261120-120000-sweep-mxfp8',
    kind: 'sweep',
    label: '',
    notes: '',
    createdAt: '2026-11-20T12:00:00.000Z',
    finishedAt: '2026-11-20T12:00:09.000Z',
    status: 'done',
    reason: '',
    appVersion: '0.1.0',
    host: { name: 'bench', system: 'linux x64', node: 'v20.20.2' },
    command: 'blockscope sweep --formats mxfp8 -K 512',
    spec: {
      kind: 'sweep',
      device: 'cpu',
      formats: ['mxfp8'],
      kernels: [],
      providers: [],
      seed: 42,
      distribution: 'normal',
      output: 'f16',
      ...plainOperation,
      mValues: [],
      nValues: [],
      kValues: [512],
      mode: 'cold',
      preset: 'standard',
      sustained: false
    },
    libraries: [],
    events: [],
    steps: [sampleStep(0)],
    ...change
  }
}

export function sampleStep(index: number, change: Partial<Step> = {}): Step {
  return {
    index,
    format: 'mxfp8',
    kernel: 'cpu-avx2',
    provider: 'blockscope',
    baseline: false,
    level: 'exact',
    m: 128,
    n: 128,
    k: 512,
    disposition: 'passed',
    reason: '',
    seconds: 0.5,
    sourceHash: 'abc',
    compileOptions: '',
    instruction: 'fp32:avx2',
    work: { flops: 2 ** 24, bytes: 167_936, paddedBytes: 167_936 },
    ...change
  }
}
