/**
 * Names of the lines of a chart over K, M or N: over or under the ends of their lines; where some would have no room there or
 * lie on a line, all of them in a column beside the panel, each with a line from its end.
 */
import { digits } from '../units'
import type { Panel } from './facets'
import type { PanelContext, RenderApi } from './panelContext'
import {
  crosses,
  labelHeight,
  labelWidth,
  placeLabels,
  spreadApart,
  type LabelWish,
  type Segment
} from './placeLabels'
import { roofsIn, roofWish } from './panelRoofs'
import { placeRange, shareOfAxis, shareOfPlaces } from './sweepAxis'
import { drawn, lineName, signOf, standing, type SweepLine } from './sweepSeries'
import { solid } from './theme'

/** How far from the end of its line the middle of a name may stand, pixels: above, else below, else a row further, else two. */
const rows = [-11, 12, -25, 26, -39, 40]
/** Names end a little right of the ends of their lines. */
const overhang = 4
/** From the edge of the panel to a name in the column, which a line from the end of its line crosses. */
const leader = 14
/** A name that more lines run through is not read. */
const mostCrossed = 2
/** A panel that would be narrower keeps its names inside. */
const leastPanel = 240

type Context = Omit<PanelContext, 'theme' | 'nameColumn'>

interface NamedEnd {
  line: SweepLine
  /** '● wgmma 577' */
  sign: string
  name: string
  value: string
  end: { at: number; value: number; x: number; y: number }
}

/** The kernel that all lines of a panel are of, where only their shapes tell them apart: the panel's title says it once. */
export function commonKernel(lines: readonly SweepLine[]): string {
  const kernels = new Set(lines.map(({ kernel }) => kernel))
  const variants = new Set(lines.map(({ variant }) => variant))
  const apart = lines.length > 1 && variants.size === lines.length
  return kernels.size === 1 && apart ? lines[0]!.kernel : ''
}

function namedEnds(panel: Panel, out: ReadonlySet<string>, context: Context) {
  const { figure, scale, axis, choices, several, places } = context
  const range = placeRange(places)
  const common = several ? commonKernel(panel.lines) : ''
  const named = panel.lines
    .filter(({ id }) => out.has(id))
    .map((line) => ({
      line,
      points: line.points.flatMap(({ at, step }) => {
        const value = drawn(figure(step)?.value, scale.factor)
        if (value === null) return []
        const x = panel.width * shareOfPlaces(at, range, choices.logX)
        return [{ at, value, x, y: panel.height * (1 - shareOfAxis(value, axis, choices.logY)) }]
      })
    }))
    .filter(({ points }) => points.length > 0)
  const ends = named.map(({ line, points }): NamedEnd => {
    const words = common === '' ? [line.kernel, line.variant] : [line.variant]
    const name = several ? words.filter(Boolean).join(', ') : lineName(line)
    const run = line.overlay && several ? ` (${line.runTitle})` : ''
    const end = points.at(-1)!
    return { line, sign: signOf(line), name: name + run, value: digits(end.value), end }
  })
  const segments = named.flatMap(({ points }) =>
    points.slice(1).map(({ x, y }, before): Segment => [points[before]!.x, points[before]!.y, x, y])
  )
  // Where there is no room for all, references and earlier runs give way, and the card at the pointer has them.
  ends.sort((a, b) => standing(a.line) - standing(b.line) || a.end.y - b.end.y)
  return { ends, segments }
}

const textOf = ({ sign, name, value }: NamedEnd) => `${sign} ${name} ${value}`

/** Boxes of names at the ends of lines and of roofs, pixels of the panel; undefined where there is no room. */
function boxesInside(
  panel: Panel,
  { ends, segments }: { ends: readonly NamedEnd[]; segments: readonly Segment[] },
  context: Context
) {
  const wishOf = (named: NamedEnd): LabelWish => {
    const { x, y } = named.end
    const text = textOf(named)
    const left = overhang - labelWidth(text)
    return { x, y, text, places: rows.map((row) => ({ left, top: row - labelHeight / 2 })) }
  }
  const isOwn = ({ line }: NamedEnd) => standing(line) === 0
  const own = ends.filter(isOwn).length
  const roofs = roofsIn(panel, context).map((roof) => roofWish(roof, panel, context))
  // The ends come sorted, so those of references and earlier runs are last: after the roofs.
  const wishes = [...ends.slice(0, own).map(wishOf), ...roofs, ...ends.slice(own).map(wishOf)]
  const boxes = placeLabels(
    wishes,
    { left: 0, top: 0, width: panel.width + overhang, height: panel.height },
    {
      taken: ends.map(({ end }) => ({ left: end.x - 3, top: end.y - 3, width: 6, height: 6 })),
      lines: segments,
      mostCrossed
    }
  )
  return {
    ends: [...boxes.slice(0, own), ...boxes.slice(own + roofs.length)],
    roofs: boxes.slice(own, own + roofs.length)
  }
}

/**
 * Pixels that the names of every panel need beside it, since at the ends of its lines some would have no room or lie on a line:
 * 0 where none does, or where a panel would become too narrow to read. `lost`: a name then stands nowhere, of what is neither a
 * reference nor an earlier run: those give way.
 */
export function nameColumnOf(
  panels: readonly Panel[],
  outOf: (panel: Panel) => ReadonlySet<string>,
  context: Context
): { column: number; lost: boolean } {
  const all = panels.map((panel) => {
    const named = namedEnds(panel, outOf(panel), context)
    return { named, boxes: boxesInside(panel, named, context).ends }
  })
  const missing = all.flatMap(({ named, boxes }) => named.ends.filter((_, at) => !boxes[at]))
  const lost = missing.some(({ line }) => standing(line) === 0)
  const meets = all.some(({ named, boxes }) =>
    boxes.some((box) => box && named.segments.some((segment) => crosses(segment, box)))
  )
  if (missing.length === 0 && !meets) return { column: 0, lost }
  const widths = all.flatMap(({ named }) => named.ends.map((one) => labelWidth(textOf(one))))
  const column = leader + Math.max(0, ...widths)
  return panels.every(({ width }) => width - column >= leastPanel)
    ? { column, lost: false }
    : { column: 0, lost }
}

export function nameSeries(
  panel: Panel,
  index: number,
  out: ReadonlySet<string>,
  context: PanelContext
) {
  const { theme, nameColumn } = context
  const named = namedEnds(panel, out, context)
  if (named.ends.length === 0) return []
  const inside =
    nameColumn > 0
      ? boxesInside(panel, { ends: [], segments: named.segments }, context)
      : boxesInside(panel, named, context)
  const middles =
    nameColumn > 0
      ? spreadApart(
          named.ends.map(({ end }) => end.y),
          labelHeight,
          labelHeight / 2,
          panel.height - labelHeight / 2
        )
      : inside.ends.map((box) => box && box.top + labelHeight / 2)
  const placed = named.ends.flatMap((one, place) => {
    const middle = middles[place]
    return middle === undefined ? [] : [{ ...one, down: middle - one.end.y }]
  })
  const common = {
    silent: true,
    xAxisIndex: index,
    yAxisIndex: index,
    tooltip: { show: false }
  }
  const names = {
    ...common,
    ...solid,
    id: `labels ${panel.format}`,
    type: 'scatter' as const,
    symbolSize: 0,
    z: 5,
    data: placed.map(({ line, sign, name, value, end, down }) => ({
      value: [end.at, end.value],
      label: {
        show: true,
        ...(nameColumn > 0
          ? { position: 'right' as const, offset: [panel.width - end.x + leader - 5, down] }
          : { position: 'left' as const, offset: [overhang + 5, down] }),
        color: theme.text,
        fontSize: 11,
        textBorderColor: theme.surface,
        textBorderWidth: 2,
        formatter: `{sign|${sign}} ${name} {value|${value}}`,
        rich: {
          sign: { color: line.mark.colour[theme.look], fontSize: 11, textBorderWidth: 0 },
          value: { color: theme.text, fontSize: 11, fontWeight: 'bold' as const }
        }
      }
    }))
  }
  const { min } = placeRange(context.places)
  const roofNames = {
    ...common,
    ...solid,
    id: `roof names ${panel.format}`,
    type: 'scatter' as const,
    symbolSize: 0,
    z: 4,
    data: roofsIn(panel, context).flatMap((roof, place) => {
      const box = inside.roofs[place]
      if (!box) return []
      const down = box.top - roofWish(roof, panel, context).y
      return [
        {
          value: [min, roof.value],
          label: {
            show: true,
            position: [box.left, down + 1] as [number, number],
            formatter: roof.text,
            color: theme.dim,
            fontSize: 11,
            textBorderColor: theme.surface,
            textBorderWidth: 2
          }
        }
      ]
    })
  }
  const written = roofNames.data.length > 0 ? [roofNames, names] : [names]
  if (nameColumn === 0) return written
  const leaders = {
    ...common,
    id: `leaders ${panel.format}`,
    type: 'custom' as const,
    z: 2,
    encode: { x: 0, y: 1 },
    data: placed.map(({ end }) => [end.at, end.value]),
    renderItem: ({ dataIndex }: { dataIndex: number }, api: RenderApi) => {
      const { line, end, down } = placed[dataIndex]!
      const [x, y] = api.coord([end.at, end.value])
      const name = x + panel.width - end.x + leader - 2
      return {
        type: 'polyline',
        shape: {
          points: [
            [x + 5, y],
            [name, y + down]
          ]
        },
        style: {
          stroke: line.mark.colour[theme.look],
          lineWidth: 1,
          fill: 'none',
          opacity: 0.7,
          // Across the panel it is not to be taken for a line of the chart.
          ...(end.x < panel.width - leader && { lineDash: [1, 3] })
        }
      }
    }
  }
  return [leaders, ...written]
}
