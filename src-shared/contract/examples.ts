/** Files that come with the program (resources/examples), to look at before there are any of one's own. */
import type { ViewId } from './views'

export const exampleIds = ['validation', 'sweep', 'profile', 'trace', 'tensor', 'layout'] as const
export type ExampleId = (typeof exampleIds)[number]

export interface Example {
  id: ExampleId
  /** In resources/examples. */
  file: string
  title: string
  about: string
  /** Where it opens. */
  view: ViewId
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
    view: 'sweep'
  },
  {
    id: 'profile',
    file: 'triton-mxfp8-h200.hatchet',
    title: 'Triton beside cuBLAS on an H200',
    about:
      'The profile that the Triton tutorial writes: a block-scaled kernel and a bf16 product at growing K.',
    view: 'profile'
  },
  {
    id: 'trace',
    file: 'h200-8192-mxfp4.trace.json',
    title: 'A trace of a sweep',
    about: 'Every launch of one operation of 16 kernels, on their stream.',
    view: 'profile'
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
