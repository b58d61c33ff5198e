/**
 * Machine code as nvdisasm prints it (`nvdisasm -g -c kernel.cubin`): functions, the source lines they were made of, their
 * loops, and what costs most inside a main loop. Loops are natural loops of the flow graph (Aho, Lam, Sethi, Ullman, Compilers, section 9.6).
 */
import { countFamilies, type InstructionCount, type InstructionFamily } from './instructionCounts'
import { releasedTooEarly } from './loadsUnderWay'

export interface Instruction {
  /** Byte offset in the function. */
  offset: number
  /** With its modifiers: `MEMBAR.ALL.GPU`. */
  opcode: string
  operands: string
  guarded: boolean
  /** '@!P0'; empty where it always runs. */
  guard: string
  /** Where in the sources it comes from, when the cubin has line information; inlined code by its own place. */
  file?: string
  line?: number
}

export interface SassFunction {
  name: string
  instructions: Instruction[]
  /** Index of the instruction behind each label. */
  labels: Map<string, number>
}

/** The places of its instructions. */
type Loop = Set<number>

const instructionLine = /^\s+\/\*([0-9a-f]+)\*\/\s+(@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*?)\s*;/
const labelLine = /^(\.L\w+):/
const sourceLine = /^\s*\/\/## File "([^"]+)", line (\d+)/
const functionLine = /^\.text\.(\S+):/

/** Throws when the text holds no function: another tool's output, or another version's form. */
export function parseSass(text: string): SassFunction[] {
  const functions: SassFunction[] = []
  let source: { file: string; line: number } | undefined
  for (const line of text.split('\n')) {
    const name = functionLine.exec(line)?.[1]
    if (name) {
      functions.push({ name, instructions: [], labels: new Map() })
      source = undefined
    }
    const place = sourceLine.exec(line)
    if (place) source = { file: place[1]!, line: Number(place[2]) }
    const current = functions.at(-1)
    if (!current) continue
    const label = labelLine.exec(line)?.[1]
    if (label) current.labels.set(label, current.instructions.length)
    const found = instructionLine.exec(line)
    if (!found) continue
    const [, offset, guard, opcode, operands] = found
    current.instructions.push({
      offset: parseInt(offset!, 16),
      opcode: opcode!,
      operands: operands!,
      guarded: guard !== undefined && !/^@U?PT\s/.test(guard),
      guard: guard?.trim() ?? '',
      ...source
    })
  }
  if (!functions.some(({ instructions }) => instructions.length))
    throw new Error('The disassembly holds no function; nvdisasm of another version?')
  return functions.filter(({ instructions }) => instructions.length)
}

/** Instructions that may run next. */
function successors(of: SassFunction): number[][] {
  const target = (operands: string) => {
    const label = /`\((\.L\w+)\)/.exec(operands)?.[1]
    const index = label === undefined ? undefined : of.labels.get(label)
    return index === undefined ? [] : [index]
  }
  // Threads that meet at a BSYNC go on where its BSSY said.
  const meetings = new Map<string, number[]>()
  for (const { opcode, operands } of of.instructions) {
    const barrier = /^B\d+/.exec(operands)?.[0]
    if (opcode.startsWith('BSSY') && barrier)
      meetings.set(barrier, [...(meetings.get(barrier) ?? []), ...target(operands)])
  }
  return of.instructions.map(({ opcode, operands, guarded }, i) => {
    const next = i + 1 < of.instructions.length ? [i + 1] : []
    if (/^(EXIT|RET|KILL)\b/.test(opcode)) return guarded ? next : []
    if (/^(BRA|JMP)\b/.test(opcode)) {
      const always = !guarded && /^`/.test(operands)
      return [...target(operands), ...(always ? [] : next)]
    }
    if (opcode.startsWith('CALL')) return [...target(operands), ...next]
    if (opcode.startsWith('BSYNC')) {
      const places = meetings.get(/^B\d+/.exec(operands)?.[0] ?? '') ?? []
      // Barriers are used again and again; the one that ends here is the one that meets right behind.
      return guarded || places.includes(i + 1) || !places.length ? next : places
    }
    return next
  })
}

/** The natural loops, as sets of instructions, smallest first; loops that share a header are one. */
function loopsOf(of: SassFunction): Loop[] {
  const next = successors(of)
  const before: number[][] = next.map(() => [])
  next.forEach((targets, from) => targets.forEach((to) => before[to]!.push(from)))

  // Reverse postorder from the entry, then immediate dominators (Cooper, Harvey, Kennedy 2001).
  const order: number[] = []
  const seen = new Set([0])
  const path: [number, number][] = [[0, 0]]
  while (path.length) {
    const top = path.at(-1)!
    const to = next[top[0]]![top[1]++]
    if (to === undefined) {
      order.push(top[0])
      path.pop()
    } else if (!seen.has(to)) {
      seen.add(to)
      path.push([to, 0])
    }
  }
  order.reverse()
  const rank = new Map(order.map((instruction, i) => [instruction, i]))
  const dominator = new Map([[0, 0]])
  const common = (a: number, b: number) => {
    while (a !== b) {
      while (rank.get(a)! > rank.get(b)!) a = dominator.get(a)!
      while (rank.get(b)! > rank.get(a)!) b = dominator.get(b)!
    }
    return a
  }
  for (let changed = true; changed;) {
    changed = false
    for (const instruction of order.slice(1)) {
      const known = before[instruction]!.filter((from) => dominator.has(from))
      const found = known.reduce(common)
      if (dominator.get(instruction) !== found) changed = true
      dominator.set(instruction, found)
    }
  }
  const dominates = (a: number, b: number) => {
    while (rank.get(b)! > rank.get(a)!) b = dominator.get(b)!
    return a === b
  }

  const loops = new Map<number, Loop>()
  for (const from of order)
    for (const header of next[from]!) {
      if (!dominates(header, from)) continue
      const body = loops.get(header) ?? new Set([header])
      const pending = [from]
      while (pending.length) {
        const one = pending.pop()!
        if (body.has(one)) continue
        body.add(one)
        pending.push(...before[one]!.filter((each) => rank.has(each)))
      }
      loops.set(header, body)
    }
  return [...loops.values()].sort((a, b) => a.size - b.size)
}

/** Matrix instructions of every architecture, and tiles that the copy engine loads for them. */
const mainWork = /^([HQIBDO]G?MMA|UTC\w*MMA|UTMALDG)\b/

/** What a main loop may not hold, and what to do about it. */
const costs: readonly [pattern: RegExp, why: string][] = [
  [/^MEMBAR\.\S*(GPU|SYS|VC)/, 'a fence of device scope'],
  [/^(ERRBAR|CGAERRBAR)\b/, 'a fence of device scope'],
  [/^CCTL\.IVALL/, 'an invalidation of the whole L1 cache'],
  [/^(LDL|STL)\b/, 'local memory (a spilled register or an array indexed at run time)']
]

export interface Finding {
  function: string
  offset: number
  opcode: string
  why: string
  file?: string
  line?: number
}

/**
 * Loops over the lanes of a warp that may be there: what the assembler makes of an instruction that is one thread's where it
 * does not know that there is one thread. Their branch is taken while any lane is left.
 */
const overLanes = (of: SassFunction, loops: readonly Loop[]): Set<Loop> => {
  const branches = [...of.instructions.keys()].filter((i) =>
    /^BRA\S*\.ANY\b/.test(of.instructions[i]!.opcode)
  )
  return new Set(branches.flatMap((i) => loops.find((loop) => loop.has(i)) ?? []))
}

/** Of all loops, smallest first, the innermost that hold matrix instructions or tile loads. */
function mainLoopsOf(of: SassFunction, loops: readonly Loop[]): Set<Loop> {
  const lanes = overLanes(of, loops)
  const whole = loops.filter((loop) => !lanes.has(loop))
  const main = new Set<Loop>()
  of.instructions.forEach(({ opcode }, i) => {
    const innermost = mainWork.test(opcode) ? whole.find((loop) => loop.has(i)) : undefined
    if (innermost) main.add(innermost)
  })
  return main
}

const copyEngine = /^(UTMA(LDG|STG|REDG)|UBLK(CP|RED))\b/

/**
 * What costs most: fences of device scope and local memory inside the innermost loops that hold matrix instructions or tile
 * loads, and instructions of the copy engine in a loop over lanes, wherever it is. And what makes wrong results now and then:
 * a stage released before it has been read.
 */
export function findInLoops(of: SassFunction): Finding[] {
  const loops = loopsOf(of)
  const main = [...mainLoopsOf(of, loops)]
  const lanes = overLanes(of, loops)
  const next = successors(of)
  const early = new Set(main.flatMap((loop) => releasedTooEarly(of.instructions, next, loop)))
  return of.instructions.flatMap(({ opcode, offset, file, line }, i) => {
    const found = (why: string) => [{ function: of.name, offset, opcode, why, file, line }]
    const innermost = copyEngine.test(opcode) ? loops.find((loop) => loop.has(i)) : undefined
    if (innermost && lanes.has(innermost))
      return found('in a loop over lanes: elect.sync tells the assembler that it is one thread')
    if (early.has(i))
      return found('a stage is released while a load from shared memory is under way')
    const why = costs.find(([pattern]) => pattern.test(opcode))?.[1]
    return why && main.some((loop) => loop.has(i)) ? found(`${why}, inside a main loop`) : []
  })
}

/** Matrix instructions that take block scales: of sm_120 by warps, of sm_100 by the tensor core's own thread. */
const blockScaled = /^([OQ]MMA\.SF|UTC[OQ]MMA)\b/

/** Whether a main loop multiplies with block scales in hardware. */
export const scalesInMainLoop = (of: SassFunction): boolean =>
  [...mainLoopsOf(of, loopsOf(of))].some((loop) =>
    [...loop].some((i) => blockScaled.test(of.instructions[i]!.opcode))
  )

/** Instructions that say how a product is made and what it waits for. */
const families: readonly InstructionFamily[] = [
  { name: 'HGMMA', pattern: /^HGMMA\b/ },
  { name: 'QGMMA', pattern: /^QGMMA\b/ },
  { name: 'IGMMA', pattern: /^IGMMA\b/ },
  { name: 'OMMA', pattern: /^OMMA\b/ },
  { name: 'QMMA', pattern: /^QMMA\b/ },
  { name: 'HMMA', pattern: /^HMMA\b/ },
  { name: 'IMMA', pattern: /^IMMA\b/ },
  { name: 'UTC*MMA', pattern: /^UTC\w*MMA\b/ },
  { name: 'UTMALDG', pattern: /^UTMALDG\b/ },
  { name: 'LDGSTS', pattern: /^LDGSTS\b/ },
  { name: 'MEMBAR', pattern: /^MEMBAR\b/, toldAtZero: true },
  { name: 'LDL / STL', pattern: /^(LDL|STL)\b/, toldAtZero: true },
  { name: 'SYNCS', pattern: /^SYNCS\b/ },
  { name: 'BAR', pattern: /^BAR\b/ },
  { name: 'FADD', pattern: /^FADD2?\b/ },
  { name: 'FFMA', pattern: /^FFMA2?\b/ }
]

export const countInstructions = (of: Pick<SassFunction, 'instructions'>): InstructionCount[] =>
  countFamilies(
    of.instructions.map(({ opcode }) => opcode),
    families
  )
