import type { ProfileTree } from '../tree/profileTree'

const kept = new WeakMap<ProfileTree, Map<string, { key: string; value: unknown }>>()

/**
 * Keeps the last answer to one part of a question about a tree, so that a question that differs elsewhere does not compute
 * it anew; one only, since it may be as large as the tree.
 */
export function lastOf<T>(tree: ProfileTree, part: string, key: string, compute: () => T): T {
  let parts = kept.get(tree)
  if (!parts) kept.set(tree, (parts = new Map()))
  const last = parts.get(part)
  if (last?.key === key) return last.value as T
  // What was kept goes first: two at once may not fit.
  parts.delete(part)
  const value = compute()
  parts.set(part, { key, value })
  return value
}

const numbers = new WeakMap<ProfileTree, number>()
let counted = 0

/** A number that stands for a tree in a key. */
export function numberOf(tree: ProfileTree): number {
  let number = numbers.get(tree)
  if (number === undefined) numbers.set(tree, (number = counted++))
  return number
}
