/**
 * Assembly of AMD GPUs as LLVM prints it with encodings (`clang -cc1as -show-encoding`): what each kernel takes (the code
 * object's metadata, LLVM AMDGPUUsage, "Code object V5 metadata"), its instructions with source lines, its main loops.
 */
import type { Diagnosis } from './diagnose'
import { countFamilies, type InstructionCount, type InstructionFamily } from './instructionCounts'

export interface GcnInstruction {
  /** Byte offset in the kernel. */
  offset: number
  opcode: string
  /** With its operands: `v_mov_b32_e32 v14, v0`. */
  text: string
  /** Where in the sources it comes from, where the assembly says so; inlined code by its own place. */
  file?: string
  line?: number
}

export interface GcnKernel {
  name: string
  /** Vector registers of a lane in all, of which `accumulationRegisters` are AGPRs. */
  registers: number
  accumulationRegisters: number
  scalarRegisters: number
  ldsBytes: number
  /** Of a lane. */
  scratchBytes: number
  spilledRegisters: number
  /** Most that a workgroup may have. */
  threads: number
  instructions: GcnInstruction[]
  /** Instructions of each loop that holds matrix instructions, outermost too. */
  mainLoops: GcnInstruction[][]
}

const numberOf = (metadata: string, field: string): number =>
  Number(new RegExp(`\\.${field}:\\s+(\\d+)`).exec(metadata)?.[1] ?? 0)

const instructionLine = /^\t([a-z]\w+)(?:\s+(.*?))?\s*; encoding: \[([^\]]*)\]/
const labelLine = /^(\.LBB\w+):/
const fileLine = /^\t\.file\s+(\d+) (?:"([^"]*)" )?"([^"]*)"/
const placeLine = /^\t\.loc\s+(\d+) (\d+)/
const isAbsolute = (path: string) => /^(\/|[A-Za-z]:)/.test(path)

/** `.file` names a file once, anywhere in the text. */
function filesOf(lines: readonly string[]): Map<string, string> {
  const files = new Map<string, string>()
  for (const line of lines) {
    const [, number, folder, name] = fileLine.exec(line) ?? []
    if (number)
      files.set(number, folder && !isAbsolute(name!) ? `${folder}/${name!}` : (name ?? ''))
  }
  return files
}

/** A loop is what lies between a label and the last branch back to it. */
function bodyOf(lines: readonly string[], files: ReadonlyMap<string, string>) {
  const labels = new Map<string, number>()
  const instructions: GcnInstruction[] = []
  const loops = new Map<number, GcnInstruction[]>()
  let place: Pick<GcnInstruction, 'file' | 'line'> = {}
  let offset = 0
  for (const line of lines) {
    const label = labelLine.exec(line)?.[1]
    if (label) labels.set(label, instructions.length)
    const [, fileNumber, lineNumber] = placeLine.exec(line) ?? []
    // Line 0: made by the compiler, of no line of the source.
    if (fileNumber)
      place =
        lineNumber === '0' ? {} : { file: files.get(fileNumber) ?? '', line: Number(lineNumber) }
    const [, opcode, operands = '', encoding = ''] = instructionLine.exec(line) ?? []
    if (!opcode) continue
    instructions.push({ offset, opcode, text: [opcode, operands].join(' ').trim(), ...place })
    offset += encoding.split(',').length
    const start = /^s_c?branch/.test(opcode) ? labels.get(operands) : undefined
    if (start !== undefined) loops.set(start, instructions.slice(start))
  }
  const mainLoops = [...loops.values()].filter((loop) =>
    loop.some(({ opcode }) => opcode.startsWith('v_mfma'))
  )
  return { instructions, mainLoops }
}

/** Throws when the text holds no kernel: another tool's output, or another version's form. */
export function parseGcn(text: string): GcnKernel[] {
  const all = /^amdhsa\.kernels:\s*\n([\s\S]*?)^amdhsa\./m.exec(text)?.[1] ?? ''
  const files = filesOf(text.split('\n'))
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
        threads: number('max_flat_workgroup_size'),
        ...bodyOf(text.slice(start, end).split('\n'), files)
      }
    })
  if (!kernels.some(({ instructions }) => instructions.length))
    throw new Error('The assembly holds no kernel; a clang of another version?')
  return kernels
}

const copiesToLds = /^(global|buffer)_load_lds_|^buffer_load_.* lds\b/

/** Instructions that say how a product is made and what it waits for. */
const families: readonly InstructionFamily[] = [
  { name: 'v_mfma_scale', pattern: /^v_mfma_scale_/ },
  { name: 'v_mfma', pattern: /^v_mfma_(?!scale_)/ },
  { name: 'global_load_lds', pattern: /^global_load_lds_/ },
  { name: 'buffer_load ... lds', pattern: /^buffer_load_.* lds\b/ },
  { name: 'global_load', pattern: /^global_load_(?!lds_)/ },
  { name: 'buffer_load', pattern: /^buffer_load_(?!.* lds\b)/ },
  { name: 'global_store', pattern: /^global_store_/ },
  { name: 'ds_read', pattern: /^ds_read/ },
  { name: 'ds_write', pattern: /^ds_write/ },
  { name: 'scratch_', pattern: /^scratch_/, toldAtZero: true },
  { name: 'v_accvgpr', pattern: /^v_accvgpr_/ },
  { name: 'v_readlane', pattern: /^v_readlane_/ },
  { name: 's_waitcnt', pattern: /^s_waitcnt/ },
  { name: 's_barrier', pattern: /^s_barrier/ }
]

export const countGcnInstructions = ({ instructions }: GcnKernel): InstructionCount[] =>
  countFamilies(
    instructions.map(({ text }) => text),
    families
  )

/** What a main loop may not hold. Scalar registers are spilled to lanes of vector registers: cheap, but not there. */
const costs: readonly [pattern: RegExp, why: string][] = [
  [/^v_readlane_b32\b/, 'a spilled scalar register'],
  [/^scratch_/, 'scratch memory (a spilled register or an array indexed at run time)']
]

function diagnoseMainLoops({ name, mainLoops }: GcnKernel): Diagnosis[] {
  return [...new Set(mainLoops.flat())].flatMap(({ opcode, offset, file, line }) => {
    const why = costs.find(([pattern]) => pattern.test(opcode))?.[1]
    if (!why) return []
    const text = `${name} at ${offset.toString(16)}: ${opcode}, ${why}, inside a main loop`
    return [{ text, function: name, offset, file, line }]
  })
}

/** What is wrong with a kernel, in sentences; `scales`: it is to multiply with block scales in hardware. */
export function diagnoseGcn(kernel: GcnKernel, scales: boolean): Diagnosis[] {
  const { name, spilledRegisters, scratchBytes, mainLoops } = kernel
  const wrong = diagnoseMainLoops(kernel)
  const add = (text: string) => wrong.push({ text, function: name })
  if (spilledRegisters) add(`${name} spills ${spilledRegisters} vector registers`)
  if (scratchBytes) add(`${name} takes ${scratchBytes} bytes of scratch memory a lane`)
  if (!scales) return wrong
  const scaled = mainLoops.filter((loop) =>
    loop.some(({ opcode }) => opcode.startsWith('v_mfma_scale_'))
  )
  if (!scaled.length) add('no main loop has a block-scaled matrix instruction')
  if (scaled.some((loop) => !loop.some(({ text }) => copiesToLds.test(text))))
    add('a main loop has no copy from global memory to LDS')
  return wrong
}
