/** The address of the layout inspector as layout, matrix and position, or what is wrong with each part. */
import { findBlockFormat, type BlockFormat } from '@shared/formats/blockFormat'
import { messageOf } from '@shared/errors'
import type { ScaleLayout, ScaleShape } from '@shared/layouts/layout'
import { findLayout, layouts } from '@shared/layouts/registry'
import { parseUserLayout } from '@shared/layouts/userLayout'
import { count } from '@shared/units'
import { extent, wholeNumber, type Checked } from '../../ground/fields'

export const mostScaleColumns = 65_536

/** Longer descriptions would not fit into an address. */
const mostOwnCharacters = 4000

export function layoutChoices(own?: ScaleLayout): { value: string; title: string }[] {
  return [
    ...layouts.map(({ name }) => ({ value: name, title: name })),
    ...(own ? [{ value: own.name, title: `${own.name} (your own)` }] : [])
  ]
}

/** A layout that a person wrote as JSON. A known layout's name is refused: its readers would be shown for it. */
export function readOwnLayout(text: string, from = 'This text'): Checked<ScaleLayout> {
  if (text.length > mostOwnCharacters) {
    return {
      problem: `${from} is longer than ${mostOwnCharacters} characters; a layout takes a few lines.`
    }
  }
  try {
    const layout = parseUserLayout(text, from)
    if (!isKnown(layout.name)) return { value: { ...layout, source: 'Your own description' } }
    return { problem: `"${layout.name}" is the name of a known layout; choose another name.` }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

function isKnown(name: string): boolean {
  try {
    return findLayout(name) !== undefined
  } catch {
    return false
  }
}

/** A name of the address; an unknown one falls back to the first with a sentence. */
export function layoutFrom(
  name: string,
  own?: ScaleLayout
): { layout: ScaleLayout; problem?: string } {
  if (own && own.name === name) return { layout: own }
  try {
    return { layout: findLayout(name || 'nvidia_32_4_4') }
  } catch (error) {
    return { layout: layouts[0]!, problem: messageOf(error) }
  }
}

export function formatFrom(id: string): BlockFormat {
  try {
    return findBlockFormat(id || 'nvfp4')
  } catch {
    return findBlockFormat('nvfp4')
  }
}

/** Scale columns for K elements; K must hold whole blocks, as operands do. */
export function columnsOf(typed: string, format: BlockFormat, name = 'K'): Checked<number> {
  const k = extent(typed, name, false)
  if (k.value === undefined) return { problem: k.problem }
  const block = format.scaleBlockSize
  if (k.value % block !== 0) {
    const near = Math.max(block, Math.round(k.value / block) * block)
    return {
      problem: `${name} must be a multiple of the scale block size ${block}; the nearest is ${near}.`
    }
  }
  if (k.value / block > mostScaleColumns) {
    return {
      problem: `${name} must be at most ${count(mostScaleColumns * block)}.`
    }
  }
  return { value: k.value / block }
}

/** A number of the address, or what stands for it: what is no number was never typed here. */
export function fromAddress(typed: string, fallback: number, max: number): number {
  return wholeNumber(typed, 'Number', { min: 0, max }).value ?? fallback
}

export function shapeFrom(rows: string, columns: string): ScaleShape {
  return {
    rows: Math.max(1, fromAddress(rows, 256, 1_048_576)),
    columns: Math.max(1, fromAddress(columns, 16, mostScaleColumns))
  }
}
