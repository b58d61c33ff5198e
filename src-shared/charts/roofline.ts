import type { Roof } from '../contract/roofs'
import type { Step } from '../contract/run'
import { instructionWords } from '../measurement/instructions'
import { intensityOf, limitAt } from '../measurement/roofs'
import { digits, percent, quantity, text, tick } from '../units'
import { limitOf, roofsAt, shareOfStep, type Roofs } from './limits'
import { drawn, lineName, type SweepLine } from './sweepSeries'
import { axisStyle, baseOption, markStyle, type ChartTheme } from './theme'

/**
 * Throughput over arithmetic intensity, under one roof for each instruction that the lines multiply with. A line's points
 * are a trail that ends at its last; a ring is hot L2, joined to the same point measured cold.
 */
export function rooflineOption(lines: readonly SweepLine[], roofs: Roofs, theme: ChartTheme) {
  const drawnRoofs = roofsOf(lines, roofs)
  const { low, high } = intensityRange(
    lines,
    drawnRoofs.flatMap(({ ridge }) => ridge ?? [])
  )
  return {
    ...baseOption(theme),
    tooltip: {
      ...baseOption(theme).tooltip,
      trigger: 'item' as const,
      formatter: ({ seriesId, dataIndex }: { seriesId: string; dataIndex: number }) => {
        const line = lines.find(({ id }) => id === seriesId)
        const point = line?.points[dataIndex]
        if (!line || !point) return ''
        const measured = point.step.measurement!
        const limit = limitOf(point.step, roofs)
        const share = shareOfStep(point.step, roofs)
        return [
          `${lineName(line)}, ${line.over.toUpperCase()} = ${point.at}${isHot(point.step) ? ', hot L2' : ''}`,
          `${digits(measured.tflops)} TFLOP/s`,
          `${digits(intensityOf(point.step.work ?? measured))} FLOP/B`,
          ...(limit && 'share' in share
            ? [`${percent(share.share)} of the ${limit.by} limit`]
            : []),
          ...(limit ? [limit.source] : [])
        ].join('\n')
      }
    },
    grid: { left: 64, right: 24, top: 34, bottom: 42 },
    xAxis: {
      ...axisStyle(theme),
      type: 'log' as const,
      logBase: 2,
      name: 'Arithmetic intensity, FLOP per byte of packed operands and C',
      nameLocation: 'middle' as const,
      nameGap: 26,
      min: low,
      max: high,
      axisLabel: { color: theme.dim, fontSize: 11, formatter: tick }
    },
    yAxis: {
      ...axisStyle(theme),
      type: 'log' as const,
      logBase: 2,
      name: 'Throughput, TFLOP/s',
      nameTextStyle: { color: theme.dim, fontSize: 11, align: 'left' as const },
      axisLabel: { color: theme.dim, fontSize: 11, formatter: tick }
    },
    series: [
      ...drawnRoofs.map((roof) => roofSeries(roof, low, high, theme)),
      ...measuredMemory(roofs, drawnRoofs, low, theme),
      ...lines.flatMap((line) => trail(line, theme)),
      ...coldToHot(lines, theme),
      ...lines.map((line) => dots(line, low, high, theme)),
      ...lines.flatMap((line) => rings(line, theme))
    ]
  }
}

interface DrawnRoof {
  name: string
  compute: Roof | undefined
  memory: Roof | undefined
  /** Where the memory limit meets the compute limit, in FLOP/B. */
  ridge: number | undefined
}

/** One for each instruction and memory level, the highest of its points: their clocks differ a little. */
function roofsOf(lines: readonly SweepLine[], roofs: Roofs): DrawnRoof[] {
  const found = new Map<string, DrawnRoof>()
  for (const { step } of lines.flatMap(({ points }) => points)) {
    const { compute, memory } = roofsAt(step, roofs)
    if (!compute && !memory) continue
    const key = `${compute?.of ?? ''} ${memory?.of ?? ''}`
    const before = found.get(key)
    if (before && (before.compute?.rate ?? 0) >= (compute?.rate ?? 0)) continue
    const ridge = compute && memory ? compute.rate / memory.rate : undefined
    found.set(key, { name: nameOf(compute, memory), compute, memory, ridge })
  }
  return [...found.values()]
}

/** 'fp8 1,947 TFLOP/s'; of what was entered, 'limit'. */
function nameOf(compute: Roof | undefined, memory: Roof | undefined): string {
  const name = compute && compute.of !== 'entered' ? instructionWords(compute.of) : 'limit'
  if (compute) return `${name} ${text(quantity('rate', compute.rate / 1e12))}`
  return memory ? `memory ${text(quantity('bandwidth', memory.rate / 1e9))}` : name
}

/** From one power of two to another, around all points and the ridge; something to look at without any. */
function intensityRange(lines: readonly SweepLine[], ridges: readonly number[]) {
  let low = Math.min(...ridges)
  let high = Math.max(0, ...ridges)
  for (const { points } of lines) {
    for (const { step } of points) {
      const intensity = intensityOf(step.work ?? step.measurement!)
      if (!(intensity > 0) || !Number.isFinite(intensity)) continue
      low = Math.min(low, intensity)
      high = Math.max(high, intensity)
    }
  }
  if (!(high > 0)) return { low: 1, high: 1024 }
  return { low: 2 ** Math.floor(Math.log2(low) - 0.2), high: 2 ** Math.ceil(Math.log2(high) + 0.2) }
}

function roofSeries(
  { name, compute, memory, ridge }: DrawnRoof,
  low: number,
  high: number,
  theme: ChartTheme
) {
  return {
    id: `roof ${name}`,
    type: 'line' as const,
    endLabel: { show: true, formatter: name, color: theme.dim, align: 'right', offset: [0, -8] },
    silent: true,
    showSymbol: false,
    // Solid: rated; dashed: measured.
    lineStyle: {
      color: theme.dim,
      width: 1.6,
      type: compute?.basis === 'measured' ? [5, 3] : ('solid' as const)
    },
    data: [low, ...(ridge ? [ridge] : []), high].map((x) => [
      x,
      limitAt(x, compute, memory)!.rate / 1e12
    ])
  }
}

/** What memory was measured to give, where a data sheet's rate is drawn: a dashed line up to the highest roof. */
function measuredMemory(
  { measured, entered }: Roofs,
  drawnRoofs: readonly DrawnRoof[],
  low: number,
  theme: ChartTheme
) {
  const found = measured.find(({ kind, of }) => kind === 'memory' && of === 'dram')
  const rated = drawnRoofs.find(({ memory }) => memory?.basis === 'data sheet')
  const top = Math.max(0, ...drawnRoofs.map(({ compute }) => compute?.rate ?? 0))
  if (!found || !rated || entered.memory !== undefined || top === 0) return []
  const ridge = top / found.rate
  return [
    {
      id: 'measured memory',
      type: 'line' as const,
      silent: true,
      showSymbol: false,
      lineStyle: { color: theme.dim, width: 1, type: [5, 3] },
      data: [low, ridge].map((x) => [x, (x * found.rate) / 1e12])
    }
  ]
}

/** A logarithm needs more than 0. */
const onLogAxis = (value: number): number | null => (value > 0 ? drawn(value) : null)

const isHot = ({ measurement }: Step): boolean => measurement?.cacheMode === 'hot'

const placeOf = ({ work, measurement }: Step): [number | null, number | null] => [
  onLogAxis(intensityOf(work ?? measurement!)),
  onLogAxis(measurement!.tflops)
]

function trail(line: SweepLine, theme: ChartTheme) {
  if (line.points.length < 2) return []
  return [
    {
      id: `${line.id} trail`,
      type: 'line' as const,
      silent: true,
      symbol: 'none',
      lineStyle: {
        color: line.mark.colour[theme.look],
        width: 1.2,
        opacity: 0.7,
        type: line.mark.hollow ? [5, 3] : ('solid' as const)
      },
      data: line.points.map(({ step }) => placeOf(step))
    }
  ]
}

function dots(line: SweepLine, low: number, high: number, theme: ChartTheme) {
  const isFarRight = (x: number | null) =>
    x !== null && Math.log(x / low) / Math.log(high / low) > 0.75
  const last = line.points.length - 1
  const large = line.overlay ? 7 : 9
  return {
    id: line.id,
    name: lineName(line),
    type: 'scatter' as const,
    ...markStyle(line.mark, theme),
    symbolSize: (_value: unknown, { dataIndex }: { dataIndex: number }) =>
      dataIndex === last ? large : 4,
    labelLayout: { hideOverlap: true },
    data: line.points.map(({ step }, index) =>
      index < last
        ? placeOf(step)
        : {
            value: placeOf(step),
            label: {
              show: true,
              position: isFarRight(placeOf(step)[0]) ? ('left' as const) : ('right' as const),
              formatter: lineName(line),
              color: line.mark.hollow ? theme.dim : theme.text,
              fontSize: 11
            }
          }
    )
  }
}

function rings(line: SweepLine, theme: ChartTheme) {
  const hot = line.points.filter(({ step }) => isHot(step))
  if (hot.length === 0) return []
  return [
    {
      id: `${line.id} hot`,
      type: 'scatter' as const,
      silent: true,
      symbol: 'circle',
      symbolSize: 15,
      itemStyle: {
        color: 'transparent',
        borderColor: line.mark.colour[theme.look],
        borderWidth: 1.4
      },
      data: hot.map(({ step }) => placeOf(step))
    }
  ]
}

const pointKey = ({ format, kernel, m, n, k }: Step) => [format, kernel, m, n, k].join(' ')

/** From each point that was measured cold to the same one measured hot. */
function coldToHot(lines: readonly SweepLine[], theme: ChartTheme) {
  const cold = new Map<string, Step>()
  const points = lines.flatMap((line) => line.points.map(({ step }) => ({ line, step })))
  for (const { step } of points) if (!isHot(step)) cold.set(pointKey(step), step)
  return points.flatMap(({ line, step }) => {
    const twin = isHot(step) ? cold.get(pointKey(step)) : undefined
    if (!twin) return []
    return [
      {
        id: `${line.id} ${step.index} cold to hot`,
        type: 'line' as const,
        silent: true,
        symbol: 'none',
        lineStyle: { color: line.mark.colour[theme.look], width: 1 },
        data: [placeOf(twin), placeOf(step)]
      }
    ]
  })
}

export interface RoofShare {
  line: SweepLine
  point: SweepLine['points'][number]
  share: number
}

export interface RoofGroup {
  /** 'fp8, 1,947 TFLOP/s', 'dram, 4.81 TB/s' */
  title: string
  rows: readonly RoofShare[]
}

/** The last point of each line under the roof that binds it, best first: what the list beside the chart shows. */
export function roofShares(lines: readonly SweepLine[], roofs: Roofs): RoofGroup[] {
  const groups = new Map<string, { title: string; rate: number; rows: RoofShare[] }>()
  for (const line of lines) {
    const point = line.points.at(-1)
    if (!point) continue
    const found = shareOfStep(point.step, roofs)
    if (!('share' in found)) continue
    const roof = roofsAt(point.step, roofs)[found.limit.by]!
    const key = `${roof.kind} ${roof.of}`
    const group = groups.get(key) ?? { title: '', rate: 0, rows: [] }
    groups.set(key, group)
    if (roof.rate > group.rate) {
      group.rate = roof.rate
      group.title = roofTitle(roof)
    }
    group.rows.push({ line, point, share: found.share })
  }
  return [...groups.values()].map(({ title, rows }) => ({
    title,
    rows: rows.sort(
      (a, b) => Number(a.line.mark.hollow) - Number(b.line.mark.hollow) || b.share - a.share
    )
  }))
}

function roofTitle(roof: Roof): string {
  const name = roof.of === 'entered' ? 'entered limit' : instructionWords(roof.of)
  const rate =
    roof.kind === 'compute'
      ? quantity('rate', roof.rate / 1e12)
      : quantity('bandwidth', roof.rate / 1e9)
  return `${name}, ${text(rate)}`
}
