/** Text cut in its middle to the room there is: names of kernels differ at their ends. Pure but for who measures. */
import { cutInTheMiddle } from '@shared/units'

/** Width of a text in pixels, in one font. */
export type Measure = (text: string) => number

/** Narrower than this nothing is written. */
const leastRoom = 14

/** The longest form of a text that fits; '' where not even two letters and the dots would. */
export function fitText(text: string, room: number, measure: Measure): string {
  if (room < leastRoom) return ''
  if (measure(text) <= room) return text
  let [low, high] = [0, text.length]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (measure(cutInTheMiddle(text, middle)) <= room) low = middle
    else high = middle - 1
  }
  return low >= 3 ? cutInTheMiddle(text, low) : ''
}

/** The first form that fits as it is, or the last one cut. */
export function fitOneOf(forms: readonly string[], room: number, measure: Measure): string {
  for (const form of forms) if (measure(form) <= room) return form
  return fitText(forms[forms.length - 1] ?? '', room, measure)
}

const mostKept = 20_000

/** A measure that remembers: the same names are drawn in every frame. */
export function remembering(measure: Measure): Measure {
  const known = new Map<string, number>()
  return (text) => {
    let width = known.get(text)
    if (width === undefined) {
      if (known.size >= mostKept) known.clear()
      known.set(text, (width = measure(text)))
    }
    return width
  }
}

/** The measure of a font, as CSS writes fonts; without a canvas, as in tests, by the width of an average letter. */
export function measureOf(font: string): Measure {
  const context = globalThis.document?.createElement('canvas').getContext('2d')
  if (!context) return remembering((text) => text.length * 6.2)
  context.font = font
  return remembering((text) => context.measureText(text).width)
}
