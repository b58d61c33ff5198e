import type { Changes } from './change.mjs'

/** Mistakes in the tcgen05 kernels: a name, and what of the source is another. */
export const mistakes: readonly { name: string; changes: Changes }[]
