/** Every default of a job, once: the contract's schemas, the flags, the forms and the printed commands take them here. */
export const defaults = {
  device: 'auto',
  /** The four formats of the Triton tutorial. */
  formats: ['nvfp4', 'mxfp4', 'mxfp8', 'mixed'],
  /** Extents where none are given, on a CPU and on a GPU. */
  extent: { cpu: 1024, gpu: 8192 },
  /** The Triton tutorial's tolerance: |got - reference| <= atol + rtol |reference|. */
  atol: 1e-3,
  rtol: 1e-3,
  rule: 'allowances',
  seed: 42,
  distribution: 'normal',
  output: 'f16',
  /** Operands from a file may have any range; float16 would overflow on many. */
  outputOfFiles: 'f32',
  mode: 'cold',
  preset: 'standard',
  groupLayout: 'contiguous'
} as const
