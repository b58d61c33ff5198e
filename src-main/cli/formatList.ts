import { blockFormats } from '@shared/formats/blockFormat'
import { counted } from '@shared/units'

const shortNames = new Set(blockFormats.map(({ id }) => id))

/** "mxfp4, mxfp8, 18 other pairs": formats with a short name, then how many other pairs of elements. */
export function formatListText(formats: readonly string[]): string {
  const named = formats.filter((format) => shortNames.has(format))
  const pairs = formats.filter((format) => !shortNames.has(format))
  const others = pairs.length > 2 ? [counted(pairs.length, 'other pair')] : pairs
  return [...named, ...others].join(', ')
}
