import type { Roof } from '../contract/roofs'
import { digits, percent, tick } from '../units'
import { instructionWords } from '../measurement/instructions'
import { intensityOf, limitAt } from '../measurement/roofs'
import { limitOf, roofsAt, shareOfStep, type Roofs } from './limits'
import { drawn, lineName, type SweepLine } from './sweepSeries'
import { axisStyle, baseOption, markStyle, type ChartTheme } from './theme'

/** Throughput over arithmetic intensity, under one roof for each instruction that the lines multiply with. */
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
          `${lineName(line)}, K = ${point.k}`,
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
      name: 'Arithmetic intensity, FLOP/B',
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
      ...lines.map((line) => dots(line, theme))
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
    const name = compute && compute.of !== 'entered' ? instructionWords(compute.of) : 'limit'
    const ridge = compute && memory ? compute.rate / memory.rate : undefined
    found.set(key, { name, compute, memory, ridge })
  }
  return [...found.values()]
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
    lineStyle: { color: theme.dim, width: 1.6 },
    data: [low, ...(ridge ? [ridge] : []), high].map((x) => [
      x,
      limitAt(x, compute, memory)!.rate / 1e12
    ])
  }
}

/** A logarithm needs more than 0. */
const onLogAxis = (value: number): number | null => (value > 0 ? drawn(value) : null)

function dots(line: SweepLine, theme: ChartTheme) {
  return {
    id: line.id,
    name: lineName(line),
    type: 'scatter' as const,
    ...markStyle(line.mark, theme),
    symbolSize: line.overlay ? 5 : 8,
    data: line.points.map(({ step }) => [
      onLogAxis(intensityOf(step.work ?? step.measurement!)),
      onLogAxis(step.measurement!.tflops)
    ])
  }
}
