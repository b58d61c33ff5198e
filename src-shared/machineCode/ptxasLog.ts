/** What ptxas says of the functions it makes (`-Xptxas=-v,-warn-spills`). */

export interface FunctionResources {
  name: string
  registers: number
  /** Bytes of a thread: its stack, and what of it is spilled registers, stored or loaded, whichever is more. */
  stackBytes: number
  spilledBytes: number
  /** Static; what a launch asks for comes on top. */
  sharedBytes: number
}

export function resourcesIn(log: string): FunctionResources[] {
  const found = log.matchAll(
    /Function properties for (\S+)\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads(?:\s+ptxas info\s*: Used (\d+) registers([^\n]*))?/g
  )
  return [...found].map(([, name, stack, stores, loads, registers, rest]) => ({
    name: name!,
    registers: Number(registers ?? 0),
    stackBytes: Number(stack),
    spilledBytes: Math.max(Number(stores), Number(loads)),
    sharedBytes: Number(/(\d+) bytes smem/.exec(rest ?? '')?.[1] ?? 0)
  }))
}

/** What it could not do as asked. C7508 ignores setmaxnreg; serialised wgmma is C7510, C7512, C7514 and kin. */
const complaints = /C7508|wgmma\S* instructions are serialized/

export const complaintsIn = (log: string): string[] =>
  log.split('\n').filter((line) => complaints.test(line))
