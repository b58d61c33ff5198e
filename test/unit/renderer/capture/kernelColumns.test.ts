import { describe, expect, it } from 'vitest'
import { KernelSums } from '@shared/capture/kernelSums'
import { allKernelFacts } from '@shared/capture/kernelTable'
import { shownText } from '../../../../src-renderer/components/tableColumns'
import { kernelColumns } from '../../../../src-renderer/views/capture/kernelColumns'

const shape = (kernel: string) => ({
  ...{ kernel, grid: [8, 1, 1], block: [128, 1, 1], cluster: [0, 0, 0] },
  ...{ registersPerThread: 40, staticSharedBytes: 0, dynamicSharedBytes: 0 },
  localBytesPerThread: 0
})

function sumsOf(...kernels: string[]): KernelSums {
  const sums = new KernelSums()
  for (const kernel of kernels) sums.timesOf(shape(kernel), undefined).add(1000)
  return sums
}

const fixed = kernelColumns(allKernelFacts(sumsOf('gemm'))).length

describe('columns of counters', () => {
  it('are none where nothing was measured', () => {
    const titles = kernelColumns(allKernelFacts(sumsOf('gemm'))).map(({ title }) => title)
    expect(titles.at(-1)).toBe('Waves')
  })

  it('name each metric with its unit, and are empty for kernels that were not measured', () => {
    const sums = sumsOf('gemm', 'relu', 'lost')
    const tensor = 'sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed'
    sums.counters = [
      { kernel: 'gemm', values: { [tensor]: 81.25, own__metric: null } },
      { kernel: 'relu', values: { [tensor]: 0, own__metric: 7 } }
    ]
    const rows = allKernelFacts(sums, 'kernel')
    const columns = kernelColumns(rows).slice(fixed)
    expect(columns.map(({ title, unit }) => [title, unit])).toEqual([
      ['Tensor pipe', '%'],
      ['own__metric', undefined]
    ])
    const cells = (kernel: string) => {
      const row = rows.find((one) => one.kernel === kernel)!
      return columns.map((column) => [column.value(row), shownText(column, row)])
    }
    expect(cells('gemm')).toEqual([
      [81.25, '81.3'],
      [undefined, '']
    ])
    expect(cells('relu')).toEqual([
      [0, '0'],
      [7, expect.stringMatching(/^7/)]
    ])
    expect(cells('lost')).toEqual([
      [undefined, ''],
      [undefined, '']
    ])
  })
})
