/** Words and numbers of the block under one's hand. */
import type { BlockFormat } from '@shared/formats/blockFormat'
import { levelsAt, type StudiedScale } from '@shared/formats/blockStudy'
import { exactValue } from '@shared/units'
import type { Checked } from '../../ground/fields'

/** Every scale block size divides it. */
export const blockLength = 32

export const levelCount = (format: BlockFormat) => levelsAt(format, 1).length

/** '= 2^(126 - 127) = 0.5', or the value of an e4m3 scale. */
export function scaleWords({ scale }: BlockFormat, { code, value }: StudiedScale): string {
  if (Number.isNaN(value)) return '= NaN'
  return scale.mantissaBits === 0
    ? `= 2^(${code} − ${scale.bias}) = ${exactValue(value)}`
    : `= ${exactValue(value)}`
}

/** A number, or NaN and infinities by their names. */
export function typedValue(text: string): Checked<number> {
  const word = text.trim().toLowerCase()
  if (word === 'nan') return { value: NaN }
  if (['inf', '+inf', '-inf', 'infinity', '-infinity'].includes(word)) {
    return { value: word.startsWith('-') ? -Infinity : Infinity }
  }
  const value = Number(word)
  return word === '' || Number.isNaN(value)
    ? { problem: 'Write a number, such as 0.3, or NaN.' }
    : { value }
}
