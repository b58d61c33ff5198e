export interface Kernel {
  id: string
  file: string
  /** Of the PTX: sm100 or sm120. */
  target: string
  ctas: number
  format: string
  /** Of a tile. */
  m: number
  n: number
  k: number
}
export const kernels: Kernel[]
/** Of a kernel's PTX: lines for a GPU from sm_90 on, declarations that they rely on, and how many lines of each opcode are others. */
export function rewritten(
  kernel: Kernel,
  ptx: string
): { lines: string[]; declarations: string[]; replaced: Record<string, number> }
/** Writes kernels to `folder`, with the sources that they include. */
export function writeKernels(folder: string, some?: Kernel[]): void
