import type { Changes } from './change.mjs'
import type { Kernel } from './thirdPartyKernels.mjs'

/** In an emulation of an instruction, under which a kernel of another compiler runs. */
export interface EmulationMistake {
  name: string
  changes: Changes
  /** What it says; a wrong product otherwise. */
  says?: RegExp
  /** That it is a mistake for. */
  formats?: string[]
  ctas?: number
}
export function mistakesOf(kernel: Kernel): EmulationMistake[]
