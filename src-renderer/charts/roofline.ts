import { digits, percent } from '../format/units'
import { intensityOf, limitAt, type Roofs } from './limits'
import { drawn, lineName, type SweepLine } from './sweepSeries'
import { axisStyle, baseOption, seriesSymbols, type ChartTheme } from './theme'

/** Throughput over arithmetic intensity, under the two roofs. */
export function rooflineOption(lines: readonly SweepLine[], roofs: Roofs, theme: ChartTheme) {
  const ridge = ridgeOf(roofs)
  const { low, high } = intensityRange(lines, ridge)
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
        const limit = limitAt(intensityOf(measured), roofs)
        return [
          `${lineName(line)}, K = ${point.k}`,
          `${digits(measured.tflops)} TFLOP/s`,
          `${digits(intensityOf(measured))} FLOP/B`,
          ...(limit ? [`${percent(measured.tflops / limit.value)} of the ${limit.by} limit`] : [])
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
      axisLabel: { color: theme.dim, fontSize: 11, formatter: powerOfTwo }
    },
    yAxis: {
      ...axisStyle(theme),
      type: 'log' as const,
      logBase: 2,
      name: 'Throughput, TFLOP/s',
      nameTextStyle: { color: theme.dim, fontSize: 11, align: 'left' as const },
      axisLabel: { color: theme.dim, fontSize: 11, formatter: powerOfTwo }
    },
    series: [roofSeries(roofs, low, high, theme), ...lines.map((line) => dots(line, theme))]
  }
}

/** Where the memory limit meets the compute limit, in FLOP/B. */
function ridgeOf({ compute, memory }: Roofs): number | undefined {
  return compute && memory ? (compute.value * 1e3) / memory.value : undefined
}

/** From one power of two to another, around all points and the ridge; something to look at without any. */
function intensityRange(lines: readonly SweepLine[], ridge: number | undefined) {
  let low = ridge ?? Infinity
  let high = ridge ?? 0
  for (const { points } of lines) {
    for (const { step } of points) {
      const intensity = intensityOf(step.measurement!)
      if (!(intensity > 0) || !Number.isFinite(intensity)) continue
      low = Math.min(low, intensity)
      high = Math.max(high, intensity)
    }
  }
  if (!(high > 0)) return { low: 1, high: 1024 }
  return { low: 2 ** Math.floor(Math.log2(low) - 0.2), high: 2 ** Math.ceil(Math.log2(high) + 0.2) }
}

/** Ticks are powers of two: 0.125, 0.5, 64, 1,024. */
const powerOfTwo = (value: number): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: 3 })

function roofSeries(roofs: Roofs, low: number, high: number, theme: ChartTheme) {
  const ridge = ridgeOf(roofs)
  const xs = roofs.compute || roofs.memory ? [low, ...(ridge ? [ridge] : []), high] : []
  return {
    id: 'roof',
    type: 'line' as const,
    silent: true,
    showSymbol: false,
    lineStyle: { color: theme.dim, width: 1.6 },
    data: xs.map((x) => [x, limitAt(x, roofs)!.value])
  }
}

/** A logarithm needs more than 0. */
const onLogAxis = (value: number): number | null => (value > 0 ? drawn(value) : null)

function dots(line: SweepLine, theme: ChartTheme) {
  const color = theme.series[line.color]
  return {
    id: line.id,
    name: lineName(line),
    type: 'scatter' as const,
    symbol: seriesSymbols[line.symbol],
    symbolSize: line.overlay ? 5 : 8,
    itemStyle:
      line.level === 'native'
        ? { color }
        : { color: theme.surface, borderColor: color, borderWidth: 1.6 },
    data: line.points.map(({ step }) => [
      onLogAxis(intensityOf(step.measurement!)),
      onLogAxis(step.measurement!.tflops)
    ])
  }
}
