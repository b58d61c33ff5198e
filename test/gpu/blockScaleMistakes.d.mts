import type { Changes } from './change.mjs'

/** Mistakes in sm_120's kernel: a name, and what of the source is another. */
export const mistakes: readonly { name: string; changes: Changes }[]
