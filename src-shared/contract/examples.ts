/** Files that come with the program (resources/examples), to look at before there are any of one's own. */
import type { ProviderFamily } from '../measurement/marks'
import type { ViewId } from './views'

export const exampleIds = [
  'validation',
  'sweep',
  'overK',
  'profile',
  'trace',
  'tensor',
  'layout'
] as const
export type ExampleId = (typeof exampleIds)[number]

export interface Example {
  id: ExampleId
  /** In resources/examples. */
  file: string
  title: string
  about: string
  /** Where it opens. */
  view: ViewId
  /** Views that offer it too, and show it their way. */
  alsoIn?: readonly ViewId[]
  /** A few of its own figures, drawn before it is read; test/unit/main/jobs/examples.test.ts holds them to the file. */
  glimpse?: Glimpse
}

export interface Glimpse {
  /** 'Time of one launch, ms' */
  of: string
  bars: readonly { name: string; value: number; family: ProviderFamily }[]
}

const speeds: Glimpse = {
  of: 'TFLOP/s',
  bars: [
    { name: 'cublaslt-fp8', value: 1335, family: 'cublaslt' },
    { name: 'wgmma-fp8-p256', value: 1321, family: 'blockscope' },
    { name: 'wgmma-fp8-p128', value: 1261, family: 'blockscope' },
    { name: 'cublaslt-bf16', value: 781, family: 'cublaslt' },
    { name: 'wgmma', value: 773, family: 'blockscope' }
  ]
}
const overK: Glimpse = {
  of: 'wgmma-fp8-p256 in mxfp4, TFLOP/s',
  bars: [
    { name: 'K = 512', value: 628, family: 'blockscope' },
    { name: 'K = 1,024', value: 901, family: 'blockscope' },
    { name: 'K = 2,048', value: 1120, family: 'blockscope' },
    { name: 'K = 4,096', value: 1249, family: 'blockscope' },
    { name: 'K = 8,192', value: 1282, family: 'blockscope' }
  ]
}
const launches: Glimpse = {
  of: 'Mean time of a launch in mxfp8, µs',
  bars: [
    { name: 'K = 1,024', value: 612, family: 'triton' },
    { name: 'K = 2,048', value: 1261, family: 'triton' },
    { name: 'K = 3,072', value: 1885, family: 'triton' },
    { name: 'K = 4,096', value: 2635, family: 'triton' }
  ]
}
const operations: Glimpse = {
  of: 'Time of one operation, ms',
  bars: [
    { name: 'wgmma', value: 1.42, family: 'blockscope' },
    { name: 'cublaslt-bf16', value: 1.41, family: 'cublaslt' },
    { name: 'wgmma-fp8-p32', value: 1.33, family: 'blockscope' },
    { name: 'wgmma-fp8-p64', value: 1.03, family: 'blockscope' },
    { name: 'cublaslt-fp8', value: 0.823, family: 'cublaslt' }
  ]
}

export const examples: readonly Example[] = [
  {
    id: 'validation',
    file: 'h200-8192-mxfp4.json',
    title: 'A validation on an NVIDIA H200',
    about:
      '16 kernels in mxfp4, every element of 8,192 × 8,192 against float64, and how fast each is.',
    view: 'validate'
  },
  {
    id: 'sweep',
    file: 'h200-8192-mxfp4.json',
    title: 'A sweep on an NVIDIA H200',
    about: '16 kernels in mxfp4 at M = N = K = 8,192, beside cuBLASLt.',
    view: 'sweep',
    glimpse: speeds
  },
  {
    id: 'overK',
    file: 'h200-k-sweep.json',
    title: 'A sweep over K on an NVIDIA H200',
    about: 'mxfp4, mxfp8, mixed and nvfp4 from K = 512 to 8,192, beside Triton and cuBLASLt.',
    view: 'sweep',
    alsoIn: ['profile'],
    glimpse: overK
  },
  {
    id: 'profile',
    file: 'triton-mxfp8-h200.hatchet',
    title: 'Triton beside cuBLAS on an H200',
    about:
      'The profile that the Triton tutorial writes: a block-scaled kernel and a bf16 product at growing K.',
    view: 'profile',
    glimpse: launches
  },
  {
    id: 'trace',
    file: 'h200-8192-mxfp4.trace.json',
    title: 'A trace of a sweep',
    about: 'Every launch of one operation of 16 kernels, on their stream.',
    view: 'timeline',
    alsoIn: ['profile'],
    glimpse: operations
  },
  {
    id: 'tensor',
    file: 'weights.safetensors',
    title: 'A slice of weights',
    about: '64 × 256 numbers in bf16 with a few outliers: what each format makes of them.',
    view: 'formats'
  },
  {
    id: 'layout',
    file: 'column-pairs.json',
    title: 'A layout of one’s own',
    about: 'Tiles of 16 rows x 2 columns, described as data.',
    view: 'layouts'
  }
]

/** What a view offers, its own first. Runs has none of its own: a run is looked at in Sweep. */
export function examplesIn(view: ViewId): Example[] {
  const of = view === 'runs' ? 'sweep' : view
  return [
    ...examples.filter((example) => example.view === of),
    ...examples.filter(({ alsoIn }) => alsoIn?.includes(of))
  ]
}
