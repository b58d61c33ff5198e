/**
 * Assembly of AMD GPUs as clang prints it (`clang -S`): what each kernel takes (the code object's metadata, LLVM AMDGPUUsage,
 * "Code object V5 metadata") and its main loops.
 */

export interface GcnKernel {
  name: string
  /** VGPRs in all, of which `accumulationRegisters` are AGPRs. */
  registers: number
  accumulationRegisters: number
  scalarRegisters: number
  ldsBytes: number
  /** Of a lane. */
  scratchBytes: number
  spilledRegisters: number
  /** Instructions of each loop that holds matrix instructions, outermost too. */
  mainLoops: string[][]
}

const numberOf = (metadata: string, field: string): number =>
  Number(new RegExp(`\\.${field}:\\s+(\\d+)`).exec(metadata)?.[1] ?? 0)

const instructionLine = /^\t([a-z]\w+)(?:\s+([^;]*))?/

/** Loops are what lies between a label and the last branch back to it. */
function mainLoopsOf(lines: readonly string[]): string[][] {
  const labels = new Map<string, number>()
  const instructions: string[] = []
  const loops = new Map<number, string[]>()
  for (const line of lines) {
    const label = /^(\.LBB\w+):/.exec(line)?.[1]
    if (label) labels.set(label, instructions.length)
    const [, opcode, operands = ''] = instructionLine.exec(line) ?? []
    if (!opcode) continue
    instructions.push(opcode)
    const start = /^s_c?branch/.test(opcode) ? labels.get(operands.trim()) : undefined
    if (start !== undefined) loops.set(start, instructions.slice(start))
  }
  return [...loops.values()].filter((loop) => loop.some((opcode) => opcode.startsWith('v_mfma')))
}

/** Throws when the text holds no kernel: another tool's output, or another version's form. */
export function parseGcn(text: string): GcnKernel[] {
  const all = /^amdhsa\.kernels:\n([\s\S]*?)^amdhsa\./m.exec(text)?.[1] ?? ''
  const kernels = all
    .split(/^ {2}- /m)
    .slice(1)
    .map((metadata): GcnKernel => {
      const name = /\.name:\s+(\S+)\n(?!\s+\.offset)/.exec(metadata)?.[1] ?? ''
      const start = text.indexOf(`\n${name}:`)
      const end = text.indexOf(`\n\t.end_amdhsa_kernel`, start)
      const number = (field: string) => numberOf(metadata, field)
      return {
        name,
        registers: number('vgpr_count'),
        accumulationRegisters: number('agpr_count'),
        scalarRegisters: number('sgpr_count'),
        ldsBytes: number('group_segment_fixed_size'),
        scratchBytes: number('private_segment_fixed_size'),
        spilledRegisters: number('vgpr_spill_count'),
        mainLoops: mainLoopsOf(text.slice(start, end).split('\n'))
      }
    })
  if (!kernels.length) throw new Error('The assembly holds no kernel; a clang of another version?')
  return kernels
}

/** What is wrong with a kernel, in sentences; `scales`: it is to multiply with block scales in hardware. */
export function diagnoseGcn(kernel: GcnKernel, scales: boolean): string[] {
  const { name, spilledRegisters, scratchBytes, mainLoops } = kernel
  const wrong: string[] = []
  if (spilledRegisters) wrong.push(`${name} spills ${spilledRegisters} vector registers`)
  // Scalar registers are spilled to lanes of vector registers: cheap, but not in the main loop.
  if (mainLoops.some((loop) => loop.includes('v_readlane_b32')))
    wrong.push(`${name} reads spilled scalar registers inside a main loop`)
  if (scratchBytes) wrong.push(`${name} takes ${scratchBytes} bytes of scratch memory a lane`)
  if (!scales) return wrong
  const scaled = mainLoops.filter((loop) => loop.some((one) => one.startsWith('v_mfma_scale_')))
  if (!scaled.length) wrong.push('no main loop has a block-scaled matrix instruction')
  if (
    scaled.some((loop) => !loop.some((one) => /^(global|buffer)_load_lds_|_load_\w+_lds/.test(one)))
  )
    wrong.push('a main loop has no copy from global memory to LDS')
  return wrong
}
