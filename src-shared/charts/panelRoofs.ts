/** Rated roofs in a panel of a chart over K, M or N: a line where the axis holds it, else a name with an arrow. */
import type { Panel } from './facets'
import type { PanelContext } from './panelContext'
import { labelHeight, labelWidth, type LabelWish } from './placeLabels'
import { placeRange, shareOfAxis } from './sweepAxis'

interface RoofInPanel {
  text: string
  /** On the value axis; its end for a roof above it. */
  value: number
  isInside: boolean
}

type Context = Pick<PanelContext, 'axis' | 'choices' | 'roofsOf'>

export const roofsIn = (panel: Panel, { axis, roofsOf }: Context): RoofInPanel[] =>
  roofsOf(panel.lines).map(({ name, value }) =>
    value <= axis.max
      ? { text: name, value, isInside: true }
      : { text: `${name} ↑`, value: axis.max, isInside: false }
  )

/** Over or under its line, at the left, at the right, else between; a name above the axis stands at its end. Pixels of the panel. */
export function roofWish(
  { text, value, isInside }: RoofInPanel,
  panel: Panel,
  { axis, choices }: Context
): LabelWish {
  const y = panel.height * (1 - shareOfAxis(value, axis, choices.logY))
  const room = panel.width - labelWidth(text) - 8
  const tops = isInside ? [-labelHeight, 2] : [0, labelHeight, 2 * labelHeight]
  const lefts = [0, 1, 0.5, 0.25, 0.75].map((part) => 4 + part * room)
  return { x: 0, y, text, places: tops.flatMap((top) => lefts.map((left) => ({ left, top }))) }
}

export function roofSeries(panel: Panel, index: number, context: PanelContext) {
  const { min, max } = placeRange(context.places)
  return roofsIn(panel, context)
    .filter(({ isInside }) => isInside)
    .map(({ text, value }) => ({
      id: `roof ${panel.format} ${text}`,
      type: 'line' as const,
      silent: true,
      xAxisIndex: index,
      yAxisIndex: index,
      tooltip: { show: false },
      symbol: 'none',
      z: 1,
      lineStyle: { color: context.theme.dim, width: 1 },
      data: [
        [min, value],
        [max, value]
      ]
    }))
}
