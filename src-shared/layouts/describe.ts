/** The short text form in which layouts are written down, here and in users' files. */
import type { Digit, ScaleLayout, View } from './layout'

/** 'rowTile:0 rowGroup:4 rowInGroup:32' as digits, most significant first; 0 is as many as the axis needs. */
export function digits(axis: Digit['axis'], text: string): Digit[] {
  return text.split(' ').map((part) => {
    const [name, extent] = part.split(':')
    return { axis, name: name!, extent: Number(extent) }
  })
}

/** Names separated by spaces, coordinates by commas. A number is an extent by itself: 'rowTile, 2, 256'. */
export function view(name: string, text: string): View {
  return {
    name,
    coordinates: text.split(',').map((part) => part.trim().split(' ').filter(Boolean))
  }
}

/** A layout in one line, as parseLayoutText and C++ (native/core/layoutText.h) read it: 'name = rows | columns | order'. */
export function layoutText({ name, rowDigits, columnDigits, order }: ScaleLayout): string {
  const written = (axis: readonly Digit[]) => axis.map((d) => `${d.name}:${d.extent}`).join(' ')
  return `${name} = ${written(rowDigits)} | ${written(columnDigits)} | ${order.join(' ')}`
}
