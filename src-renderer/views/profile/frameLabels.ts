/** Forms of a frame's name, longest first, for boxes of any width. */
import { shortName } from '@shared/profile/ask/shortName'

/** Extents as names carry them: [E=128, M=64, N=5760, K=2880]. */
const extents = /\[([^\]]*=[^\]]*)\]/
const formats = /(?:mx|nv)fp\d(?:_e\dm\d)?|\bfp8\b|\bbf16\b|mixed/i

/**
 * The name; the name as kernels are called for short; and of names with extents what tells one launch from another: its
 * format and N x K, then N x K alone.
 */
export function frameLabels(name: string): string[] {
  const forms = [name, shortName(name)]
  const shape = extents.exec(name)?.[1]
  if (shape) {
    const of = (axis: string) => new RegExp(`\\b${axis}=(\\d+)`).exec(shape)?.[1]
    const size = [of('N'), of('K')].filter(Boolean).join('×')
    const format = formats.exec(name)?.[0]
    if (size !== '' && format) forms.push(`${format} ${size}`)
    if (size !== '') forms.push(size)
  }
  return forms.filter((form, at) => forms.indexOf(form) === at)
}
