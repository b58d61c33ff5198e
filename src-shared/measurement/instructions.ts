/** Classes of the instruction that multiplies: what a kernel's roof, and the width its work is counted under, follow from. */

/** Class and, on a CPU, instruction set: 'int8:avx512-vnni'. */
export interface Instruction {
  class: string
  set: string
}

/** Column that Proton's metrics count the work of a class under; it has none of 6 bits. */
const metrics: Record<string, string> = {
  fp4: 'flops4',
  fp6: 'flops8',
  fp8: 'flops8',
  int8: 'flops8',
  bf16: 'flops16',
  fp16: 'flops16',
  tf32: 'flops32',
  fp32: 'flops32',
  fp64: 'flops64'
}

export function parseInstruction(text: string): Instruction {
  const [name, set = ''] = text.split(':')
  return { class: name!, set }
}

/** undefined where the instruction is not known. */
export const flopsMetricOf = (instruction: string): string | undefined =>
  metrics[parseInstruction(instruction).class]

const setWords: Record<string, string> = {
  'avx512-vnni': 'AVX-512 VNNI',
  'avx512-bf16': 'AVX-512 BF16',
  avx512: 'AVX-512',
  'avx-vnni': 'AVX-VNNI',
  avx2: 'AVX2',
  portable: 'plain C++'
}

/** 'int8, AVX-512 VNNI'. */
export function instructionWords(instruction: string): string {
  const { class: name, set } = parseInstruction(instruction)
  return set ? `${name}, ${setWords[set] ?? set}` : name
}
