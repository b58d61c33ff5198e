/** What a row of the tree says and shows, as data. */
import { figure, signed } from '@shared/units'
import type { ShownColumn } from '../workers/profileProtocol'

/** What became of a node in a comparison, by the worker's number. */
export const stateWords = ['', 'new', 'gone', 'renamed'] as const

/** In front of a name: an indentation a level, the arrow, the swatch, the word of a state. */
const indent = 14
const deepest = 30
const arrow = 18
const swatch = 16
const stateTag = 74

export const indentOf = (depth: number): number => Math.min(deepest, depth) * indent

export interface CutName {
  head: string
  /** Letters of the head that there is room for, the dots among them. */
  headLetters: number
  /** '' where the whole name fits. */
  tail: string
}

const fewestLetters = 6

/**
 * A name in two parts, of which the first is cut at its end: all of it stays text of the page.
 *
 * @param room of the column, px
 * @param letter width of a letter, px; names are in one width
 */
export function cutName(
  name: string,
  room: number,
  letter: number,
  depth: number,
  has: { swatch: boolean; state: boolean }
): CutName {
  const before = indentOf(depth) + arrow + (has.swatch ? swatch : 0) + (has.state ? stateTag : 0)
  const letters = Math.max(fewestLetters, Math.floor((room - before) / letter))
  if (!(letter > 0) || name.length <= letters)
    return { head: name, headLetters: name.length, tail: '' }
  const tailLetters = Math.floor((letters - 1) / 2)
  return {
    head: name.slice(0, -tailLetters),
    headLetters: letters - tailLetters,
    tail: name.slice(-tailLetters)
  }
}

const isChange = (column: ShownColumn, diff: boolean) => diff && column.label === 'change'

export function cellText(column: ShownColumn, node: number, diff: boolean): string {
  if (column.texts) return column.texts[node] ?? ''
  const value = column.values[node]!
  return isChange(column, diff) ? signed(value) : figure(value)
}

/** Which way a change goes; of sums of time more is slower. */
export function changeClass(column: ShownColumn, node: number, diff: boolean): string {
  const value = column.values[node]!
  if (!isChange(column, diff) || !value) return ''
  return value > 0 ? 'slower' : 'faster'
}
