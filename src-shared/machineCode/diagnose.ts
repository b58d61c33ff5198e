/** What is wrong with a compiled kernel, in sentences: the same for kernels:check, the command line and the page. */
import { complaintsIn, resourcesIn } from './ptxasLog'
import { findInLoops, type SassFunction } from './sass'

export interface Diagnosis {
  text: string
  /** Where it is, if it is anywhere. */
  function?: string
  offset?: number
  file?: string
  line?: number
}

/** Of the compiler alone: ignored wishes, serialised wgmma, spilled registers. */
export function diagnoseLog(log: string): Diagnosis[] {
  return [
    ...complaintsIn(log).map((text) => ({ text })),
    ...resourcesIn(log)
      .filter(({ spilledBytes }) => spilledBytes > 0)
      .map(({ name, spilledBytes }) => ({
        text: `${name} spills ${spilledBytes} bytes of registers`,
        function: name
      }))
  ]
}

/** Of the machine code: fences of device scope and local memory inside main loops, copies of one thread in a loop over lanes. */
export function diagnoseCode(functions: readonly SassFunction[]): Diagnosis[] {
  return functions.flatMap(findInLoops).map(({ opcode, why, ...where }) => ({
    text: `${where.function} at ${where.offset.toString(16)}: ${opcode}, ${why}`,
    ...where
  }))
}
