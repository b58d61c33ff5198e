/**
 * Fills of the pictures of profiles: flame graph and timeline. What kind of work a box is has a fixed hue; text stands on every
 * fill at 4.5 to 1, and neighbours stay apart for protan and deutan eyes (a test simulates them). Boxes carry their names all
 * the same.
 */
import type { Colour, Look } from './marks'

export const workKindIds = [
  'block-scaled',
  'convert',
  'dense',
  'attention',
  'elementwise',
  'communication',
  'copy'
] as const
export type WorkKind = (typeof workKindIds)[number]

export const workKinds: Readonly<Record<WorkKind, { title: string; colour: Colour }>> = {
  'block-scaled': {
    title: 'block-scaled matmul',
    colour: { light: '#85b7fd', dark: '#1d5eb4' }
  },
  convert: { title: 'widen, quantise', colour: { light: '#c3e1fe', dark: '#365167' } },
  // Lighter in the dark than it was drawn: bars were lost on their track.
  dense: { title: 'dense matmul', colour: { light: '#949698', dark: '#73767d' } },
  attention: { title: 'attention', colour: { light: '#96c8b0', dark: '#327461' } },
  elementwise: { title: 'norm, elementwise', colour: { light: '#dc9d0c', dark: '#935400' } },
  communication: { title: 'communication', colour: { light: '#b069d4', dark: '#5f1180' } },
  copy: { title: 'copies, sets', colour: { light: '#dee58f', dark: '#484200' } }
}

/** For names, modules and libraries, which have no hue of their own: the same seven, which stay apart. */
export const hues: readonly Colour[] = workKindIds.map((id) => workKinds[id].colour)

/** What has no hue: scopes of several kinds of work, and kernels of none that is known. */
export const plainFill: Colour = { light: '#eceff3', dark: '#1f252e' }

/** Change in per cent, faster to slower, cut at 3, 20 and 50; always drawn with a sign. */
export const changeSteps: readonly Colour[] = [
  { light: '#6aaee3', dark: '#1f6cad' },
  { light: '#a3cdf0', dark: '#1b4d7a' },
  { light: '#d3e7f8', dark: '#17334d' },
  { light: '#eceff3', dark: '#1f252e' },
  { light: '#fbe3cd', dark: '#46301a' },
  { light: '#f5c295', dark: '#75471a' },
  { light: '#ea9a52', dark: '#985614' }
]
const changeCuts = [0.03, 0.2, 0.5]

/** Which of changeSteps a ratio of after to before falls in. */
export function changeStep(ratio: number): number {
  const change = ratio - 1
  const size = changeCuts.filter((cut) => Math.abs(change) > cut).length
  return 3 + Math.sign(change || 0) * size
}

/** A fill that stands back: that of a scope, whose hue is that of the work in it. */
export function faded(colour: string, look: Look): string {
  const surface = look === 'light' ? 255 : 0x11
  const share = look === 'light' ? 0.42 : 0.5
  const channels = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))
  const mixed = channels.map((channel) => Math.round(channel * share + surface * (1 - share)))
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
}

/** Ink for text on a fill: whichever of the two stands out more. */
export function inkOn(fill: string): string {
  const light = luminance(fill)
  return (light + 0.05) / 0.06 > 1.05 / (light + 0.05) ? '#14181f' : '#ffffff'
}

/** Red, green and blue, 0 to 255, of '#1865c0' or '#fff': tools that make style sheets smaller write the short form. */
export function channelsOf(colour: string): number[] {
  const digits = colour.slice(1)
  const long = digits.length === 3 ? [...digits].map((one) => one + one).join('') : digits
  return [0, 2, 4].map((at) => parseInt(long.slice(at, at + 2), 16))
}

/** Relative luminance, WCAG 2.2. */
export function luminance(colour: string): number {
  const [red, green, blue] = channelsOf(colour)
    .map((channel) => channel / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}
