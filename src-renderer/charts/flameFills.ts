/** Fills of the classes that boxes of a flame graph have, in one look. */
import { changeSteps, faded, hues, inkOn, plainFill } from '@shared/measurement/pictureColours'
import {
  goneClass,
  metricSteps,
  newClass,
  scopeBit,
  type PaintedNodes
} from '@shared/profile/ask/flamePaint'
import type { Look } from '@shared/measurement/marks'
import { figure } from '@shared/units'

export interface Fill {
  fill: string
  ink: string
  /** Edge where the fill alone does not stand out. */
  edge?: string
  hatch?: string
  dashed?: boolean
}

export interface FillTheme {
  look: Look
  surface: string
  heat: readonly string[]
}

const filled = (fill: string, more: Partial<Fill> = {}): Fill => ({
  fill,
  ink: inkOn(fill),
  ...more
})

/** By class, as flamePaint numbers them. */
export function fillsOf({ by }: PaintedNodes, theme: FillTheme): (painted: number) => Fill {
  const { look, surface } = theme
  const plain = filled(plainFill[look])
  if (by === 'metric') {
    const steps = theme.heat.slice(0, metricSteps).map((fill) => filled(fill))
    return (painted) => steps[painted - 1] ?? plain
  }
  if (by === 'change') {
    const steps = changeSteps.map((colour) => filled(colour[look]))
    const faster = changeSteps[0]![look]
    const slower = changeSteps[changeSteps.length - 1]![look]
    const special: Record<number, Fill> = {
      [newClass]: filled(surface, { hatch: slower, edge: slower }),
      [goneClass]: filled(surface, { hatch: faster, edge: faster, dashed: true })
    }
    return (painted) => special[painted] ?? steps[painted - 1] ?? plain
  }
  const full = hues.map((hue) => filled(hue[look]))
  const light = hues.map((hue) => filled(faded(hue[look], look)))
  return (painted) => (painted & scopeBit ? light : full)[(painted & ~scopeBit) - 1] ?? plain
}

export interface LegendEntry {
  fill: Fill
  title: string
}

/** What is said of the fills below the picture: only what is there. */
export function legendOf(painted: PaintedNodes, theme: FillTheme): LegendEntry[] {
  const fill = fillsOf(painted, theme)
  const entry = (of: number, title: string): LegendEntry => ({ fill: fill(of), title })
  if (painted.by === 'metric') {
    const [least, most] = painted.range ?? [NaN, NaN]
    const label = painted.legend[0] ?? ''
    return Array.from({ length: metricSteps }, (_, step) => {
      if (step === 0) return entry(1, `${label} ${figure(least)}`)
      return entry(step + 1, step === metricSteps - 1 ? figure(most) : '')
    })
  }
  if (painted.by === 'change') {
    const titles = ['faster, over 50 %', '', '', 'within 3 %', '', '', 'slower, over 50 %']
    return [
      ...titles.map((title, step) => entry(step + 1, title)),
      entry(newClass, 'new'),
      entry(goneClass, 'gone')
    ]
  }
  const present = new Set(painted.classes)
  return painted.legend.flatMap((title, hue) =>
    title !== '' && (present.has(hue + 1) || present.has((hue + 1) | scopeBit))
      ? [entry(hue + 1, title)]
      : []
  )
}
