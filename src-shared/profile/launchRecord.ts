/** Width of the operands in bits, the widest of the two: 4 = fp4 x fp4, 8 = any operand 8 bit, 16 = bf16 baselines. */
export type OperandWidth = 4 | 8 | 16 | 32 | 64

/** One kernel launch as the engine records it; the profile tree, the trace and the tables are all built from these. */
export interface LaunchRecord {
  /** Id of the run. */
  run: string
  /** Index of the step in the run. */
  step: number
  /** Scopes from the outermost in, without ROOT: ['sweep', 'mxfp4', 'K=1024']. */
  scopePath: string[]
  kernel: {
    /** As the driver knows it: mangled where it comes from C++. */
    raw: string
    demangled: string
    /** Name of the tree's node where it is not the raw one: 'block_scaled_matmul_kernel_mxfp4 [M=8192, N=8192, K=1024]'. */
    label?: string
  }
  provider: string
  /** Proton's device type and id: type 'CUDA', id '0'. */
  device: { type: string; id: string }
  stream: number
  startNs: number
  endNs: number
  grid: [number, number, number]
  block: [number, number, number]
  registersPerThread: number
  /** Static and dynamic. */
  sharedMemoryBytes: number
  /** FLOP of this launch by operand width. */
  flopsByWidth: Partial<Record<OperandWidth, number>>
  /** Bytes of operands, scales and output, each once. */
  bytes: number
}
