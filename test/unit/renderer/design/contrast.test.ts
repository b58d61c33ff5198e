/** Contrast of the interface's colours in both looks, computed from tokens.css by WCAG 2.2's formula. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const css = readFileSync('src-renderer/design/tokens.css', 'utf8')

function tokensOf(theme: 'light' | 'dark'): Map<string, string> {
  const block = new RegExp(`\\[data-theme='${theme}'\\] \\{([^}]*)\\}`).exec(css)![1]!
  return new Map(
    [...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map((match) => [match[1]!, match[2]!])
  )
}

/** WCAG 2.2, "relative luminance". */
function luminance(color: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const channel = parseInt(color.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
}

function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high! + 0.05) / (low! + 0.05)
}

const surfaces = ['surface-0', 'surface-1', 'surface-2']
const texts: [string, string[]][] = [
  ['text-1', [...surfaces, 'surface-3', 'accent-soft']],
  ['text-2', [...surfaces, 'surface-3', 'accent-soft']],
  ['text-3', surfaces],
  ['accent', ['surface-1']],
  ['on-accent', ['accent', 'accent-hover']],
  ['ok', ['surface-1', 'ok-soft']],
  ['warn', ['surface-1', 'warn-soft']],
  ['bad', ['surface-1', 'bad-soft']]
]
const marks: [string, string[]][] = [
  ['line-strong', ['surface-1']],
  ...Array.from({ length: 7 }, (_, at): [string, string[]] => [`chart-${at + 1}`, ['surface-1']]),
  ['slower', ['surface-1']],
  ['faster', ['surface-1']],
  ['heat-over', ['surface-1']]
]

describe.each(['light', 'dark'] as const)('%s', (theme) => {
  const tokens = tokensOf(theme)
  const pairs = (list: [string, string[]][]) =>
    list.flatMap(([front, backs]) => backs.map((back) => [front, back] as const))

  it.each(pairs(texts))('text %s on %s: 4.5 to 1', (front, back) => {
    expect(contrast(tokens.get(front)!, tokens.get(back)!)).toBeGreaterThanOrEqual(4.5)
  })

  it.each(pairs(marks))('mark %s on %s: 3 to 1', (front, back) => {
    expect(contrast(tokens.get(front)!, tokens.get(back)!)).toBeGreaterThanOrEqual(3)
  })

  it('heat steps go one way in lightness, so that they read without colour', () => {
    const steps = [0, 1, 2, 3, 4].map((at) => luminance(tokens.get(`heat-${at}`)!))
    const rising = [...steps].sort((a, b) => a - b)
    expect(steps).toEqual(theme === 'dark' ? rising : rising.reverse())
  })

  it('slower and faster differ in more than red and green', () => {
    const [slower, faster] = ['slower', 'faster'].map((name) => tokens.get(name)!)
    const blue = (color: string) => parseInt(color.slice(5), 16)
    expect(Math.abs(blue(slower!) - blue(faster!))).toBeGreaterThan(80)
  })
})

it("the formula gives the standard's extremes", () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
})
