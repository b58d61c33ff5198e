/**
 * Loads from shared memory that are still under way when a stage of a ring is released. An arrival at an mbarrier does not wait
 * for them, and the copy engine, which does not wait for the threads' loads either, writes the stage's next contents: a load that
 * is late reads those. Seen on an H100 in 4 % of the launches of a kernel whose last load stood five instructions before its arrival.
 */
interface Coded {
  opcode: string
  operands: string
}

const load = /^LDSM?\b/
/** An arrival of one without bytes: who has read says so. One that announces bytes has a register of them. */
const release = /^SYNCS\.ARRIVE\.\S*A1T0/
/**
 * What ends no sooner than all that a thread has loaded, and a wait that leaves a product under way: what is released behind it is
 * the stage of the product before, what was loaded is of the next.
 */
const isBetween = ({ opcode, operands }: Coded) =>
  /^MEMBAR\b/.test(opcode) ||
  (opcode.startsWith('WARPGROUP.DEPBAR') && !/\b0x0$/.test(operands.trim()))
const writesNothing = /^(ST|RED|BRA|SYNCS|BAR|EXIT|WARPSYNC|BSSY|BSYNC)/

/** The registers an instruction names: the one it writes to first, where it does. */
function registersOf({ opcode, operands }: Coded): { written?: number; read: number[] } {
  const named = [...operands.matchAll(/\bR(\d+)\b/g)].map((found) => Number(found[1]))
  const first = /^R(\d+)\b/.exec(operands)
  if (!first || writesNothing.test(opcode)) return { read: named }
  return { written: Number(first[1]), read: named.slice(1) }
}

/** How many registers a load fills. */
function widthOf(opcode: string): number {
  if (opcode.startsWith('LDSM')) return Number(/\.(\d)$/.exec(opcode)?.[1] ?? 1)
  return /\.128\b/.test(opcode) ? 4 : /\.64\b/.test(opcode) ? 2 : 1
}

/** The places in a loop where a stage is released while something that was loaded in it has not been used. */
export function releasedTooEarly(
  instructions: readonly Coded[],
  next: readonly (readonly number[])[],
  loop: ReadonlySet<number>
): number[] {
  const places = [...loop].sort((a, b) => a - b)
  const registers = new Map(places.map((i) => [i, registersOf(instructions[i]!)]))
  const holds = (at: number, register: number) => {
    const first = registers.get(at)!.written!
    return register >= first && register < first + widthOf(instructions[at]!.opcode)
  }
  // Loads under way before each instruction, by their places; once around the loop and again until nothing is new.
  const before = new Map(places.map((i) => [i, new Set<number>()]))
  for (let changed = true; changed;) {
    changed = false
    for (const i of places) {
      const instruction = instructions[i]!
      const { written, read } = registers.get(i)!
      const named = written === undefined ? read : [...read, written]
      const after = new Set(
        isBetween(instruction)
          ? []
          : [...before.get(i)!].filter((at) => !named.some((register) => holds(at, register)))
      )
      if (load.test(instruction.opcode)) after.add(i)
      for (const to of next[i]!) {
        const known = before.get(to)
        if (!known) continue
        for (const at of after) {
          changed ||= !known.has(at)
          known.add(at)
        }
      }
    }
  }
  return places.filter((i) => release.test(instructions[i]!.opcode) && before.get(i)!.size > 0)
}
