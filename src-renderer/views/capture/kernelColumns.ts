/** The kernels of a capture as columns: what `blockscope launches` prints. */
import { counterMetricOf } from '@shared/capture/counterMetrics'
import {
  extentsText,
  figureText,
  sharedBytesOf,
  type KernelFacts
} from '@shared/capture/kernelTable'
import { shortName } from '@shared/profile/ask/shortName'
import { count, digits, percent, scaleFor } from '@shared/units'
import type { Column } from '../../components/tableColumns'

export const keyOf = ({ kernel, grid, block, cluster, gpu, ...row }: KernelFacts): string =>
  JSON.stringify([
    ...[kernel, grid, block, cluster, gpu?.uuid, gpu?.number],
    ...[row.registersPerThread, row.staticSharedBytes, row.dynamicSharedBytes]
  ])

/** Units are chosen once for all rows. */
export function kernelColumns(rows: readonly KernelFacts[]): Column<KernelFacts>[] {
  const largest = (of: (row: KernelFacts) => number) =>
    Math.max(0, ...rows.map(of).filter((value) => !Number.isNaN(value)))
  const total = scaleFor(
    'time',
    largest(({ totalNs }) => totalNs)
  )
  const each = scaleFor(
    'time',
    largest(({ medianNs }) => medianNs)
  )
  const time = (
    id: 'totalNs' | 'medianNs' | 'q1Ns' | 'q3Ns',
    title: string,
    hint: string
  ): Column<KernelFacts> => {
    const { unit, factor } = id === 'totalNs' ? total : each
    return {
      ...{ id, title, unit, hint, numeric: true, width: '84px' },
      value: (row) => (row.count > 0 ? row[id] * factor : undefined),
      text: (row) => (row.count > 0 ? digits(row[id] * factor) : '–')
    }
  }
  const figure = (
    id: 'registersPerThread' | 'blocksPerMultiprocessor' | 'waves',
    title: string,
    hint: string,
    width: string
  ): Column<KernelFacts> => ({
    ...{ id, title, hint, numeric: true, width },
    value: (row) => row[id] ?? undefined,
    text: (row) => figureText(row[id], row, id === 'waves' ? digits : count)
  })
  return [
    {
      id: 'kernel',
      title: 'Kernel',
      value: ({ kernel }) => kernel,
      text: ({ kernel }) => shortName(kernel),
      width: 'minmax(min(320px, 46vw), 2fr)'
    },
    {
      ...{ id: 'share', title: 'Share', numeric: true, width: '72px' },
      hint: "Of the time of all the capture's kernels",
      value: ({ share }) => share,
      text: ({ share, count }) => (count > 0 ? percent(share) : '–')
    },
    time('totalNs', 'Total', 'Sum over all launches'),
    {
      ...{ id: 'count', title: 'Count', numeric: true, width: '76px' },
      value: (row) => row.count,
      text: (row) => count(row.count)
    },
    ...(rows.some(({ measured }) => measured > 0) ? [measuredColumn] : []),
    time('medianNs', 'Median', 'Half of the launches are shorter'),
    time('q1Ns', 'Q1', 'A quarter of the launches is shorter'),
    time('q3Ns', 'Q3', 'A quarter of the launches is longer'),
    {
      ...{ id: 'grid', title: 'Grid', width: '88px' },
      value: ({ grid }) => extentsText(grid)
    },
    {
      ...{ id: 'block', title: 'Block', width: '72px' },
      value: ({ block }) => extentsText(block)
    },
    figure('registersPerThread', 'Regs', 'Registers per thread', '60px'),
    {
      ...{ id: 'shared', title: 'Shared', unit: 'B', numeric: true, width: '84px' },
      hint: 'Shared memory of a block, static and dynamic',
      value: (row) => sharedBytesOf(row) ?? undefined,
      text: (row) => figureText(sharedBytesOf(row), row)
    },
    figure(
      'blocksPerMultiprocessor',
      'Blocks/SM',
      'Blocks that fit on a multiprocessor at once',
      '84px'
    ),
    figure('waves', 'Waves', 'Times that the grid fills the GPU', '84px'),
    ...counterColumns(rows)
  ]
}

const measuredColumn: Column<KernelFacts> = {
  ...{ id: 'measured', title: 'Measured', numeric: true, width: '84px' },
  hint: "Launches that the GPU's counters measured: run several times over, they have no time",
  value: ({ measured }) => measured,
  text: ({ measured }) => count(measured)
}

/** What the device's counters said of each kernel; none where nothing was measured, and an empty cell where one was not. */
function counterColumns(rows: readonly KernelFacts[]): Column<KernelFacts>[] {
  const names = [...new Set(rows.flatMap(({ counters }) => Object.keys(counters ?? {})))]
  return names.map((name): Column<KernelFacts> => {
    const metric = counterMetricOf(name)
    const title = metric ? metric.label[0]!.toUpperCase() + metric.label.slice(1) : name
    // As wide as the heading: of two that are cut nobody knows which is which.
    const width = `${Math.max(104, 7 * (title.length + (metric?.unit.length ?? 0)) + 28)}px`
    return {
      ...{ id: name, title, numeric: true, width },
      ...(metric && { unit: metric.unit }),
      hint: `By the GPU's counters at the kernel's first launch: ${name}`,
      value: ({ counters }) => counters?.[name] ?? undefined,
      text: ({ counters }) => {
        const value = counters?.[name] ?? null
        return value === null ? '' : digits(value)
      }
    }
  })
}
