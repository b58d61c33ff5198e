import type { Kernel } from './thirdPartyKernels.mjs'

/** A change of an emulation's source: file, what it has in one place, and what in its stead. */
export interface Mistake {
  name: string
  changes: [string, string, string][]
  /** What it says; a wrong product otherwise. */
  says?: RegExp
  /** That it is a mistake for. */
  formats?: string[]
  ctas?: number
}
export function mistakesOf(kernel: Kernel): Mistake[]
