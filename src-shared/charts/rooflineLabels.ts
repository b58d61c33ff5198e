/** Names of roofs and points in a roofline, placed so that none lies on another. */
import { shareOfStep, type Roofs } from './limits'
import {
  labelHeight,
  labelWidth,
  placeLabels,
  placesAround,
  type LabelWish,
  type Segment
} from './placeLabels'
import { digits } from '../units'
import {
  cornersOf,
  margin,
  placeOf,
  type DrawnRoof,
  type Drop,
  type MeasuredLevel,
  type Plot
} from './rooflinePlot'
import { lineName, standing, type SweepLine } from './sweepSeries'
import { solid, type ChartTheme } from './theme'

interface RooflineLabel {
  /** Undefined of a roof. */
  line: SweepLine | undefined
  /** In ink: what is no roof and no reference. */
  inInk: boolean
  text: string
  /** What is named, as intensity and rate in the unit of the axis. */
  at: [number, number]
  /** From there to the corner of the label, pixels. */
  offset: { left: number; top: number }
}

/** What of a roofline has a name. */
interface Named {
  lines: readonly SweepLine[]
  drawnRoofs: readonly DrawnRoof[]
  /** Without tensor cores. */
  plain: DrawnRoof | undefined
  levels: readonly MeasuredLevel[]
  drop: Drop | undefined
}

/**
 * Names of roofs, then how far the measured point lies below its roof, then names of last points, of the largest share of its
 * roof first, then what was measured and ridges; none lies on another, some may be left out.
 */
export function rooflineLabels(
  { lines, drawnRoofs, plain, levels, drop }: Named,
  roofs: Roofs,
  plot: Plot
): RooflineLabel[] {
  const { low, high, rates, scale, size } = plot
  const bounds = {
    left: margin.left,
    top: margin.top - labelHeight,
    width: size.width - margin.left - margin.right,
    height: size.height - margin.top - margin.bottom + labelHeight
  }
  const share = (value: number, from: number, to: number) =>
    Math.log(value / from) / Math.log(to / from)
  const xOf = (intensity: number) => bounds.left + bounds.width * share(intensity, low, high)
  const yOf = (rate: number) =>
    margin.top + (bounds.height - labelHeight) * (1 - share(rate, rates.low, rates.high))
  const placed = ([x, rate]: readonly [number, number]) => ({ x: xOf(x), y: yOf(rate) })
  const segmentsOf = (corners: readonly { x: number; y: number }[]) =>
    corners
      .slice(1)
      .map(({ x, y }, before): Segment => [corners[before]!.x, corners[before]!.y, x, y])

  const roofWishes = drawnRoofs.map((roof) => {
    const corners = cornersOf(roof, plot)
    // Beside its bend, where points are seldom; else at its right end.
    const at = corners.length > 2 ? corners[1]! : corners.at(-1)!
    const width = labelWidth(roof.name)
    const end = bounds.left + bounds.width - placed(at).x - width
    const places = [2, end, -width - 8].flatMap((left) => [
      { left, top: -labelHeight - 2 },
      { left, top: 3 }
    ])
    return { line: undefined, at, text: roof.name, places }
  })
  const plainWish = (roof: DrawnRoof) => {
    const left = -labelWidth(roof.name)
    const places = [-labelHeight - 2, 3].map((top) => ({ left, top }))
    return { line: undefined, at: cornersOf(roof, plot).at(-1)!, text: roof.name, places }
  }
  /** Beside the middle of the line up to the roof, the right first. */
  const dropWish = ({ text, intensity, rates: [from, to] }: Drop) => {
    const at: [number, number] = [intensity, Math.sqrt(from * to)]
    const places = [8, -8 - labelWidth(text)].flatMap((left) =>
      [-0.5, -1.5, 0.5].map((rows) => ({ left, top: rows * labelHeight }))
    )
    return { line: undefined, at, text, places }
  }
  const pointWishes = lines
    .flatMap((line) => {
      const step = line.points.at(-1)?.step
      const [x, rate] = step ? placeOf(step) : [null, null]
      if (x === null || rate === null) return []
      const text = lineName(line)
      const found = shareOfStep(step!, roofs)
      const places = placesAround(labelWidth(text), 8)
      const at: [number, number] = [x, rate]
      return [{ line, at, text, places, share: 'share' in found ? found.share : 0 }]
    })
    .sort((a, b) => standing(a.line) - standing(b.line) || b.share - a.share)

  /** Over the upper end of what was measured, or along its line. */
  const levelWishes = levels.map(({ name, ends: [from, to] }) => {
    const width = labelWidth(name)
    const at = ([0.15, 0.4, 0.65] as const).map((part): [number, number] => [
      from[0] * (to[0] / from[0]) ** part,
      from[1] * (to[1] / from[1]) ** part
    ])
    const end = { x: placed(to).x - placed(from).x, y: placed(to).y - placed(from).y }
    const over = { left: end.x - 0.8 * width, top: end.y - labelHeight - 2 }
    const beside = at.flatMap((point) => {
      const [left, top] = [placed(point).x - placed(from).x, placed(point).y - placed(from).y]
      return [
        { left: left - width - 6, top: top - labelHeight },
        { left: left + 8, top: top + 2 }
      ]
    })
    return { line: undefined, at: from, text: name, places: [over, ...beside] }
  })
  const ridgeWishes = drawnRoofs.flatMap((roof) => {
    if (roof.ridge === undefined) return []
    const ridgeText = `ridge ${digits(roof.ridge)} FLOP/B`
    const at = cornersOf(roof, plot)[1]!
    const width = labelWidth(ridgeText)
    const places = [
      { left: -width - 8, top: -labelHeight - 2 },
      { left: 2, top: 3 },
      { left: -width - 8, top: -labelHeight / 2 },
      { left: 12, top: labelHeight + 5 }
    ]
    return [{ line: undefined, at, text: ridgeText, places }]
  })

  const marks = pointWishes.map(({ at }) => placed(at))
  const ownWishes = pointWishes.map((wish) => ({
    ...wish,
    places: wish.places.filter((place) => isNearest(place, wish.text, placed(wish.at), marks))
  }))
  const wishes = [
    ...[...roofWishes, ...(plain ? [plainWish(plain)] : []), ...(drop ? [dropWish(drop)] : [])],
    ...[...ownWishes, ...levelWishes, ...ridgeWishes]
  ]
  const boxes = placeLabels(
    wishes.map(({ at, text, places }): LabelWish => ({ ...placed(at), text, places })),
    bounds,
    {
      taken: marks.map(({ x, y }) => ({ left: x - 5, top: y - 5, width: 10, height: 10 })),
      lines: [
        ...[...drawnRoofs, ...(plain ? [plain] : [])].flatMap((roof) =>
          segmentsOf(cornersOf(roof, plot).map(placed))
        ),
        ...(drop ? [segmentsOf(drop.rates.map((rate) => placed([drop.intensity, rate])))[0]!] : []),
        ...levels.flatMap(({ ends }) => segmentsOf(ends.map(placed))),
        ...lines.flatMap(({ points }) =>
          segmentsOf(
            points.flatMap(({ step }) => {
              const [x, rate] = placeOf(step)
              return x === null || rate === null ? [] : [placed([x, rate])]
            })
          )
        )
      ]
    }
  )
  return wishes.flatMap(({ line, at, text }, index) => {
    const box = boxes[index]
    if (!box) return []
    const { x, y } = placed(at)
    return [
      {
        line,
        inInk: line ? !line.mark.hollow : text === drop?.text,
        text,
        at: [at[0], at[1] * scale.factor] as [number, number],
        offset: { left: box.left - x, top: box.top - y }
      }
    ]
  })
}

interface Point {
  x: number
  y: number
}

/** Marks this near one another, pixels, are one place: a name beside them is of any of them. */
const oneMark = 6

/** Whether a name there stands nearest to its own point: beside another one it would be read as that one's. */
function isNearest(
  { left, top }: { left: number; top: number },
  text: string,
  own: Point,
  marks: readonly Point[]
): boolean {
  const box = { left: own.x + left, top: own.y + top, right: labelWidth(text) + own.x + left }
  const distance = ({ x, y }: Point) =>
    Math.hypot(
      Math.max(0, box.left - x, x - box.right),
      Math.max(0, box.top - y, y - box.top - labelHeight)
    )
  return marks.every(
    (mark) =>
      Math.hypot(mark.x - own.x, mark.y - own.y) <= oneMark || distance(mark) > distance(own)
  )
}

export function labelSeries({ line, inInk, text, at, offset }: RooflineLabel, theme: ChartTheme) {
  return {
    id: `label ${line?.id ?? text}`,
    type: 'scatter' as const,
    silent: true,
    symbolSize: 0,
    ...solid,
    z: 5,
    data: [
      {
        value: at,
        label: {
          show: true,
          position: [offset.left, offset.top + 1],
          formatter: text,
          color: inInk ? theme.text : theme.dim,
          fontSize: 11,
          textBorderColor: theme.surface,
          textBorderWidth: 2
        }
      }
    ]
  }
}
