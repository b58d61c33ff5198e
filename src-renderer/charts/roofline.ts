import type { Device } from '@shared/contract/devices'
import { digits } from '../format/units'
import type { SweepLine } from './sweepSeries'
import { axisStyle, baseOption, seriesSymbols, type ChartTheme } from './theme'

export interface Roof {
  /** TFLOP/s or GB/s */
  value: number
  /** Where the number is from. */
  source: string
}

export interface Roofs {
  compute: Roof | undefined
  memory: Roof | undefined
}

/** Memory: two transfers per clock and bus bit, from the device's own figures. Compute: the best that was measured. */
export function knownRoofs(device: Device | undefined, lines: readonly SweepLine[]): Roofs {
  const clock = device?.properties['memoryClockMHz']
  const bits = device?.properties['memoryBusBits']
  const memory =
    typeof clock === 'number' && typeof bits === 'number' && clock * bits > 0
      ? { value: (2 * clock * 1e6 * bits) / 8 / 1e9, source: 'memory clock × bus width' }
      : undefined
  return { memory, compute: bestMeasured(lines) }
}

function bestMeasured(lines: readonly SweepLine[]): Roof | undefined {
  const baselines = lines.filter(({ baseline }) => baseline)
  const among = baselines.length > 0 ? baselines : lines
  let best: Roof | undefined
  for (const line of among) {
    for (const { k, step } of line.points) {
      const value = step.measurement!.tflops
      if (!best || value > best.value) {
        best = { value, source: `measured: ${line.kernel} ${line.format}, K = ${k}` }
      }
    }
  }
  return best
}

/** FLOP per byte of the least traffic: operands, scales and C, each once. */
export const intensityOf = (measured: { flops: number; bytes: number }) =>
  measured.flops / measured.bytes

/** Throughput over arithmetic intensity, under the two roofs. */
export function rooflineOption(lines: readonly SweepLine[], roofs: Roofs, theme: ChartTheme) {
  const points = lines.flatMap(({ points }) => points.map(({ step }) => step.measurement!))
  const intensities = points.map(intensityOf)
  const ridge =
    roofs.compute && roofs.memory ? (roofs.compute.value * 1e3) / roofs.memory.value : undefined
  const low = Math.min(...intensities, ridge ?? Infinity) / 2
  const high = Math.max(...intensities, ridge ?? 0) * 2
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
        return [
          `${line.kernel} ${line.format}, K = ${point.k}`,
          `${digits(measured.tflops)} TFLOP/s`,
          `${digits(intensityOf(measured))} FLOP/B`
        ].join('\n')
      }
    },
    grid: { left: 64, right: 24, top: 34, bottom: 42 },
    xAxis: {
      ...axisStyle(theme),
      type: 'log' as const,
      name: 'Arithmetic intensity, FLOP/B',
      nameLocation: 'middle' as const,
      nameGap: 26,
      min: low,
      max: high,
      axisLabel: { color: theme.dim, fontSize: 11, formatter: (value: number) => digits(value) }
    },
    yAxis: {
      ...axisStyle(theme),
      type: 'log' as const,
      name: 'Throughput, TFLOP/s',
      nameTextStyle: { color: theme.dim, fontSize: 11, align: 'left' as const },
      axisLabel: { color: theme.dim, fontSize: 11, formatter: (value: number) => digits(value) }
    },
    series: [roofSeries(roofs, low, high, theme), ...lines.map((line) => dots(line, theme))]
  }
}

function roofSeries({ compute, memory }: Roofs, low: number, high: number, theme: ChartTheme) {
  const under = (x: number) =>
    Math.min(compute?.value ?? Infinity, memory ? (memory.value * x) / 1e3 : Infinity)
  const ridge = compute && memory ? [(compute.value * 1e3) / memory.value] : []
  const xs = compute || memory ? [low, ...ridge, high] : []
  return {
    id: 'roof',
    type: 'line' as const,
    silent: true,
    showSymbol: false,
    lineStyle: { color: theme.dim, width: 1.6 },
    data: xs.map((x) => [x, under(x)])
  }
}

function dots(line: SweepLine, theme: ChartTheme) {
  const color = theme.series[line.color]
  return {
    id: line.id,
    type: 'scatter' as const,
    symbol: seriesSymbols[line.symbol],
    symbolSize: line.overlay ? 5 : 8,
    itemStyle:
      line.level === 'native'
        ? { color }
        : { color: theme.surface, borderColor: color, borderWidth: 1.6 },
    data: line.points.map(({ step }) => [intensityOf(step.measurement!), step.measurement!.tflops])
  }
}
