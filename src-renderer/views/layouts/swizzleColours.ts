/** The ramp of the swizzle: hue 0 to 3 by shade 0 to 3, with the ink that reads best on each. */
import { computed } from 'vue'
import { useSettings } from '../../stores/settings'

export interface SwizzleColour {
  fill: string
  ink: string
}

/** The better of the two has 4.5 to 1 on any colour. */
const inks = ['#000000', '#ffffff'] as const

/** WCAG 2.2, relative luminance of '#rrggbb'. */
function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const channel = parseInt(colour.slice(at, at + 2), 16) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
}

export function inkOn(fill: string): string {
  const contrast = (ink: string) => {
    const [low, high] = [luminance(fill), luminance(ink)].sort((a, b) => a - b)
    return (high! + 0.05) / (low! + 0.05)
  }
  return contrast(inks[0]) >= contrast(inks[1]) ? inks[0] : inks[1]
}

export function swizzleRamp(token: (name: string) => string): SwizzleColour[][] {
  return [0, 1, 2, 3].map((hue) =>
    [0, 1, 2, 3].map((shade) => {
      const fill = token(`--swizzle-${hue}-${shade}`)
      return { fill, ink: inkOn(fill) }
    })
  )
}

/** Of the look that is shown. */
export function useSwizzleRamp() {
  const settings = useSettings()
  return computed(() => {
    // Read again when the theme changes: the tokens' values do not tell by themselves.
    void settings.shownTheme
    const style = getComputedStyle(document.documentElement)
    return swizzleRamp((name) => style.getPropertyValue(name).trim())
  })
}
