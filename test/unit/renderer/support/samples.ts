/** Devices, steps and runs as the main side would give them. */
import type { Detection, Device, Kernel } from '@shared/contract/devices'
import type { JobSpec } from '@shared/contract/jobs'
import { plainOperation } from '@shared/contract/operation'
import type { Measurement, Run, Step, Validation } from '@shared/contract/run'

export const formats = [
  'nvfp4',
  'mxfp4',
  'mxfp4_b16',
  'mxfp8',
  'mxfp8_e5m2',
  'mxfp8_e4m3_e5m2',
  'mixed',
  'mxfp6_e2m3',
  'mxfp6_e3m2'
]

export function makeKernel(
  id: string,
  level: (format: string) => Kernel['capabilities'][number]['level'],
  more: Partial<Kernel> = {}
): Kernel {
  return {
    id,
    provider: 'builtin',
    summary: `${id} kernel`,
    scaleLayout: 'linear',
    baseline: false,
    operandBits: 0,
    outputs: ['f16', 'bf16', 'f32'],
    features: [],
    sourceHash: 'a1b2c3d4e5f60718293a4b5c6d7e8f90',
    compileOptions: '-O3',
    capabilities: formats.map((format) => ({
      format,
      level: level(format),
      reason: level(format) === 'unavailable' ? `${id} has no path for ${format}.` : '',
      instruction: level(format) === 'unavailable' ? '' : 'bf16'
    })),
    ...more
  }
}

export const cpu: Device = {
  id: 'cpu',
  kind: 'cpu',
  name: 'AMD EPYC 9005',
  architecture: 'x86-64 AVX-512 VNNI',
  properties: { cores: 2, memoryBytes: 25_769_803_776, clockMHz: 3100, l2Bytes: 1_048_576 },
  kernels: [makeKernel('avx512vnni', () => 'exact'), makeKernel('portable', () => 'exact')]
}

export const gpu: Device = {
  id: 'cuda:0',
  kind: 'cuda',
  name: 'NVIDIA H200',
  architecture: 'sm_90',
  properties: {
    smCount: 132,
    memoryBytes: 150_124_625_920,
    clockMHz: 1980,
    memoryClockMHz: 3201,
    memoryBusBits: 6144,
    l2Bytes: 62_914_560,
    powerLimitW: 700,
    driverVersion: '580.82.07',
    ecc: true,
    mig: false,
    uuid: 'GPU-6f0c5e0e-8f0e-4b1e-9d7d-0a6c1e6c9f11'
  },
  kernels: [
    makeKernel('wgmma_bf16', () => 'exact', {
      provider: 'cuda',
      summary: 'Dequantise into bf16 tiles, then wgmma with float32 accumulation',
      scaleLayout: 'nvidia_32_4_4'
    }),
    makeKernel(
      'wgmma_fp8_p256',
      (format) =>
        ({ mxfp4: 'exact', mixed: 'approximate', mxfp8: 'approximate' }[format] as 'exact') ??
        'unavailable',
      { provider: 'cuda', summary: 'Re-encode into fp8, promote every 256 elements of K' }
    ),
    makeKernel('mma_sync', () => 'exact', { provider: 'cuda' }),
    makeKernel(
      'triton_dot_scaled',
      (format) => (format.startsWith('mxfp6') || format === 'nvfp4' ? 'unavailable' : 'exact'),
      { provider: 'triton' }
    ),
    makeKernel('cublas_bf16', () => 'approximate', { provider: 'cublas', baseline: true })
  ]
}

export const detection: Detection = {
  devices: [cpu, gpu],
  libraries: [
    {
      name: 'CUDA driver',
      found: true,
      version: '13.0',
      path: '/usr/lib/x86_64-linux-gnu/libcuda.so.1',
      reason: '',
      remedy: ''
    },
    {
      name: 'CUPTI',
      found: false,
      version: '',
      path: '',
      reason: 'libcupti.so.13 is in none of the usual folders.',
      remedy: 'Install the package cuda-cupti-13-0, or set CUDA_HOME.'
    }
  ],
  warnings: []
}

export function makeValidation(more: Partial<Validation> = {}): Validation {
  const tiles = 16
  return {
    status: 'passed',
    reason: '',
    atol: 1e-3,
    rtol: 1e-3,
    rule: 'allowances',
    elements: 1_048_576,
    elementsOutside: 0,
    nonFinite: 0,
    maxAbs: 0.0312,
    maxRel: 4.88e-4,
    normwise: 2.07e-4,
    maxScaled: 3.1e-5,
    referenceRms: 32.1,
    referenceNonZero: 0.9999,
    ulpHistogram: [700_000, 348_000, 576, 0, 0, 0, 0],
    errorMap: Array.from({ length: tiles * tiles }, (_, index) => ((index * 37) % 97) / 130),
    mapRows: tiles,
    mapCols: tiles,
    tileRows: 64,
    tileCols: 64,
    failures: [],
    perturbationA: { state: 'passed', row: 17, block: 3, reason: '' },
    perturbationB: { state: 'passed', row: 211, block: 9, reason: '' },
    oracle: 'cpu-f64',
    oracleSeconds: 0.8,
    kernelSeconds: 0.02,
    ...more
  }
}

export const failingValidation = makeValidation({
  status: 'incorrect',
  reason: '12 of 1048576 elements are outside the tolerance; the first is C[3, 77].',
  elementsOutside: 12,
  maxAbs: 12.5,
  ulpHistogram: [690_000, 358_000, 500, 40, 20, 4, 12],
  errorMap: makeValidation().errorMap.map((value, index) => (index === 37 ? 88 : value)),
  perturbationB: {
    state: 'failed',
    row: 211,
    block: 9,
    reason: 'Column 211 did not change: the scale of B is read from another place.'
  },
  failures: [3, 5, 9].map((row) => ({
    batch: 0,
    row,
    col: 77,
    got: 24.5,
    reference: 12.25 + row,
    absoluteError: 12.25 - row,
    block: 2,
    aCodes: Array.from({ length: 16 }, (_, index) => index),
    bCodes: Array.from({ length: 16 }, (_, index) => 15 - index),
    aScale: 0x38,
    bScale: 0x40
  }))
})

export function makeMeasurement(medianNs: number, flops: number, more: Partial<Measurement> = {}) {
  const measurement: Measurement = {
    method: 'bs-1 standard, cold',
    timeNs: {
      samples: 60,
      discarded: 1,
      min: medianNs * 0.985,
      q1: medianNs * 0.993,
      median: medianNs,
      q3: medianNs * 1.011,
      p95: medianNs * 1.03,
      max: medianNs * 1.08,
      mean: medianNs * 1.004,
      standardDeviation: medianNs * 0.009
    },
    roundMediansNs: [medianNs * 0.998, medianNs, medianNs * 1.003],
    meanMHz: 1755,
    meanWatts: 612,
    meanTemperatureC: 58,
    launchesPerSample: 1,
    operandSets: 3,
    cacheMode: 'cold: 3 operand sets',
    timingSource: 'CUDA events',
    stopReason: 'relative stdev',
    warmupNs: 2e8,
    compileSeconds: 1.2,
    badges: [],
    launches: [],
    launchSource: 'CUPTI',
    cuptiNs: medianNs * 0.99,
    sustainedNs: 0,
    sustainedCount: 0,
    sustainedWatts: 0,
    joulesPerLaunch: 0,
    flops,
    bytes: flops / 900,
    paddedBytes: flops / 890,
    tflops: flops / medianNs / 1e3,
    gbytesPerSecond: flops / 900 / medianNs,
    ...more
  }
  return measurement
}

export function makeStep(
  index: number,
  format: string,
  kernel: string,
  more: Partial<Step> = {}
): Step {
  return {
    index,
    format,
    kernel,
    provider: 'builtin',
    baseline: false,
    level: 'exact',
    m: 1024,
    n: 1024,
    k: 1024,
    disposition: 'passed',
    instruction: 'bf16',
    reason: '',
    seconds: 0.4,
    sourceHash: 'a1b2c3d4e5f60718293a4b5c6d7e8f90',
    compileOptions: '-O3',
    ...more
  }
}

const validateSpec: JobSpec = {
  kind: 'validate',
  device: 'cpu',
  formats: ['all'],
  kernels: [],
  providers: [],
  seed: 42,
  distribution: 'normal',
  output: 'f16',
  ...plainOperation,
  atol: 1e-3,
  rtol: 1e-3,
  rule: 'allowances'
}

export const sweepSpec: JobSpec = {
  kind: 'sweep',
  device: 'cuda:0',
  formats: ['nvfp4', 'mxfp4'],
  kernels: [],
  providers: [],
  seed: 42,
  distribution: 'normal',
  output: 'f16',
  ...plainOperation,
  mValues: [],
  nValues: [],
  kValues: [512, 1024, 2048],
  mode: 'cold',
  preset: 'standard',
  sustained: false
}

export function makeRun(id: string, more: Partial<Run> = {}): Run {
  return {
    formatVersion: 1,
    id,
    kind: 'validate',
    label: '',
    notes: '',
    createdAt: '2026-11-20T22:10:00.000Z',
    status: 'done',
    reason: '',
    appVersion: '0.1.0',
    host: { name: 'bench-01', system: 'linux x64', node: 'v20.20.2' },
    command: 'blockscope validate --device cpu --formats all',
    spec: validateSpec,
    device: cpu,
    libraries: [],
    events: [],
    steps: [],
    ...more
  }
}

/** Steps of a sweep over K on the GPU sample, with plausible times. */
export function sweepSteps(speed = 1): Step[] {
  const steps: Step[] = []
  const rate: Record<string, number> = { wgmma_bf16: 640, triton_dot_scaled: 250, cublas_bf16: 750 }
  for (const format of ['nvfp4', 'mxfp4']) {
    for (let k = 512; k <= 8192; k += 512) {
      for (const [kernel, tflops] of Object.entries(rate)) {
        if (format === 'nvfp4' && kernel === 'triton_dot_scaled') continue
        const flops = 2 * 8192 * 8192 * k
        const reached = (tflops * speed * k) / (k + 700)
        const baseline = kernel.startsWith('cublas')
        steps.push(
          makeStep(steps.length, format, kernel, {
            provider: baseline ? 'cublas' : 'cuda',
            baseline,
            m: 8192,
            n: 8192,
            k,
            validation: makeValidation(),
            measurement: makeMeasurement(flops / reached / 1e3, flops, {
              badges: k === 4096 ? ['power-capped'] : []
            })
          })
        )
      }
    }
  }
  return steps
}
