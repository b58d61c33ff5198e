import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ask } from '@shared/profile/ask/ask'
import { deriveMetric } from '@shared/profile/ask/deriveMetric'
import { openProfile, ProfileReader } from '@shared/profile/read/openProfile'
import { pathOf, textColumn, type ProfileTree } from '@shared/profile/tree/profileTree'
import { metricValues } from '@shared/profile/tree/rollUp'
import { runToNvbench } from '@shared/report/nvbench'
import { csvCells } from './csvCells'
import {
  agents,
  apiHeader,
  calls,
  copies,
  csv,
  kernelHeader,
  kernelRow,
  kernels,
  markers,
  ncuIdentity,
  ncuLaunch,
  ncuRaw,
  nvbenchFile
} from '../../../support/gpuToolFiles'
import { nvbenchGemm, quartiles } from '../../../support/nvbenchGemm'
import { rocprofJson } from '../../../support/rocprofJson'

const bytesOf = (value: unknown) =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const open = (value: unknown) => openProfile(bytesOf(value), 'f')
const paths = (tree: ProfileTree) =>
  Array.from({ length: tree.count }, (_, node) => pathOf(tree, node).slice(1).join(' > '))
const at = (tree: ProfileTree, path: string, metric: string) =>
  metricValues(tree, metric)[paths(tree).indexOf(path)]
const textAt = (tree: ProfileTree, path: string, name: string) => {
  const column = textColumn(tree, name)
  return column ? tree.strings.text(column.values[paths(tree).indexOf(path)]!) : ''
}

describe("rocprofv3's JSON", () => {
  const { tree, timeline } = open(rocprofJson())

  it('becomes range > call > kernel; copies hang below the call that made them', () => {
    const kernel = 'step > hipLaunchKernel > gemm(float*)'
    expect(at(tree, kernel, 'time (ns)')).toBe(3000)
    expect(at(tree, kernel, 'count')).toBe(2)
    expect(textAt(tree, kernel, 'grid')).toBe('304 x 2 x 1')
    expect(textAt(tree, kernel, 'block')).toBe('256 x 1 x 1')
    expect(textAt(tree, kernel, 'registers per thread')).toBe('128')
    expect(at(tree, kernel, 'SQ_WAVES')).toBe(48)
    expect(at(tree, 'step > hipMemcpy > Memcpy HtoD', 'bytes')).toBe(4096)
    expect(at(tree, 'step > hipMemcpy > hsa_amd_memory_async_copy', 'calls')).toBe(1)
    expect(metricValues(tree, 'time (ns)')[0]).toBe(3500)
  })

  it('has allocations as calls: what was got, and how much of it was given back', () => {
    expect(at(tree, 'step > Allocate', 'allocated (bytes)')).toBe(4096)
    expect(at(tree, 'step > Allocate', 'cpu_time (ns)')).toBe(100)
    expect(at(tree, 'step > Free', 'freed (bytes)')).toBe(4096)
  })

  it('names devices and what it leaves out', () => {
    expect(tree.devices).toMatchObject([{ type: 'HIP', arch: 'gfx942', multiprocessors: 304 }])
    expect(timeline!.lanes.map(({ process }) => process)).toContain('GPU 0 (AMD Instinct MI300X)')
    expect(tree.warnings).toEqual([
      'Records that were not read: scratch_memory.',
      '1 rocTX marks were passed over.'
    ])
  })

  it('reads an object of the first releases as well, and launches that were only counted', () => {
    const { 'rocprofiler-sdk-tool': list } = rocprofJson()
    expect(paths(open({ 'rocprofiler-sdk-tool': list[0] }).tree)).toEqual(paths(tree))
    const process = structuredClone(list[0]!)
    process.buffer_records.kernel_dispatch = []
    const counted = open({ 'rocprofiler-sdk-tool': [process] }).tree
    expect(at(counted, 'step > hipLaunchKernel > gemm(float*)', 'SQ_WAVES')).toBe(48)
    expect(metricValues(counted, 'time (ns)')[0]).toBe(3500)
  })

  it('without anything that ran says what to record', () => {
    expect(() => open({ 'rocprofiler-sdk-tool': [{ buffer_records: {} }] })).toThrow(
      "f is rocprofv3's JSON without kernels, copies or calls: record with"
    )
    expect(() => open({ 'rocprofiler-sdk-tool': [1] })).toThrow(
      'expected an object for each process'
    )
  })
})

describe("rocprofv3's CSV", () => {
  it('a trace of kernels alone has them under ROOT', () => {
    const { tree } = open(kernels)
    expect(paths(tree)).toEqual(['', 'gemm<float, "x">(float*)'])
    expect(at(tree, 'gemm<float, "x">(float*)', 'time (ns)')).toBe(700)
    expect(textAt(tree, 'gemm<float, "x">(float*)', 'grid')).toBe('10 x 2 x 1')
    expect(tree.warnings).toEqual([])
  })

  it('has allocations below the call that made them, or apart where there is no trace of calls', () => {
    const allocations = csv(
      [
        ...['Kind', 'Operation', 'Agent_Id', 'Allocation_Size', 'Address', 'Correlation_Id'],
        ...['Start_Timestamp', 'End_Timestamp']
      ],
      [
        ...['MEMORY_ALLOCATION', 'MEMORY_ALLOCATION_ALLOCATE', 'Agent 4', 4096, '0x7F', 3],
        ...[910, 920]
      ],
      ['MEMORY_ALLOCATION', 'MEMORY_ALLOCATION_FREE', '', 0, '0x7F', 99, 2000, 2010]
    )
    const { tree } = open([calls, allocations].join(''))
    const program = 'process 5 > '
    expect(at(tree, `${program}hipMemcpy > Allocate`, 'allocated (bytes)')).toBe(4096)
    expect(at(tree, 'Memory allocations > Free', 'freed (bytes)')).toBe(4096)
    const alone = open(allocations).tree
    expect(at(alone, 'Allocate', 'allocated (bytes)')).toBe(4096)
  })

  it('files of one process are one profile, in any order', () => {
    for (const all of [
      [agents, kernels, calls, markers, copies],
      [copies, markers, kernels, calls, agents]
    ]) {
      const { tree, timeline } = open(all.join(''))
      expect(at(tree, 'step > hipLaunchKernel > gemm<float, "x">(float*)', 'count')).toBe(2)
      expect(at(tree, 'hipMemcpy > Memcpy HtoD', 'time (ns)')).toBe(30)
      expect(timeline!.lanes).toMatchObject(
        expect.arrayContaining([
          expect.objectContaining({ process: 'GPU 4 (AMD Instinct MI300X)', name: 'Stream 2' })
        ])
      )
      expect(tree.devices).toMatchObject([{ id: '4', arch: 'gfx942', clockRateKHz: 2_100_000 }])
      expect(tree.warnings).toEqual(['1 rocTX marks were passed over.'])
    }
  })

  it('keeps times beyond 2^53, counters and statistics', () => {
    const late = kernelRow('k', 1, '1760000000000000001', '1760000000000000004')
    expect(at(open(csv(kernelHeader, late)).tree, 'k', 'time (ns)')).toBe(3)
    const header = [
      'Correlation_Id',
      'Dispatch_Id',
      'Agent_Id',
      'Kernel_Name',
      'Counter_Name',
      'Counter_Value',
      'Start_Timestamp',
      'End_Timestamp'
    ]
    const counted = csv(
      header,
      [1, 1, 'Agent 4', 'k', 'SQ_WAVES', 10, 100, 150],
      [1, 1, 'Agent 4', 'k', 'GRBM_COUNT', 7.5, 100, 150],
      [2, 2, 'Agent 4', 'k', 'SQ_WAVES', 11, 200, 230]
    )
    const { tree } = open(counted)
    expect(at(tree, 'k', 'SQ_WAVES')).toBe(21)
    expect(at(tree, 'k', 'GRBM_COUNT')).toBe(7.5)
    expect(at(tree, 'k', 'time (ns)')).toBe(80)
    const launches = csv(kernelHeader, kernelRow('k', 1, 100, 150), kernelRow('k', 2, 200, 230))
    for (const both of [counted + launches, launches + counted]) {
      expect(at(open(both).tree, 'k', 'time (ns)')).toBe(80)
      expect(at(open(both).tree, 'k', 'count')).toBe(2)
      expect(at(open(both).tree, 'k', 'SQ_WAVES')).toBe(21)
    }
    const sums = csv(
      ['Name', 'Calls', 'TotalDurationNs', 'AverageNs', 'Percentage', 'MinNs', 'MaxNs', 'StdDev'],
      ['k', 3, 300, 100, 60, 90, 110, 5],
      ['l', 1, 200, 200, 40, 200, 200, 0]
    )
    expect(at(open(sums).tree, 'k', 'count')).toBe(3)
    expect(metricValues(open(sums).tree, 'time (ns)')[0]).toBe(500)
  })

  it.each([
    [csv(kernelHeader, ['KERNEL_DISPATCH', 'Agent 4']), 'f: line 2: expected 22 values, found 2.'],
    [csv(kernelHeader), "f: rocprofv3's CSV without a row of kernels, copies, markers or calls."],
    [
      csv(
        apiHeader,
        ['HIP_RUNTIME_API', 'a', 1, 1, 1, 1, 2],
        ['HIP_RUNTIME_API', 'a', 2, 1, 1, 1, 2]
      ),
      'calls of several processes (1, 2)'
    ],
    [
      `${csv(kernelHeader)}"${'x'.repeat(2 ** 20)}`,
      'f: line 2: a row of over 1 MiB: is a quote left open?'
    ]
  ])('%#: says where and what', (text, sentence) => {
    expect(() => open(text)).toThrow(sentence)
  })

  it('reads rows however the bytes are cut', () => {
    const text = `a,"b ""c"", d","e\r\nf"\r\n\n1,,"ü"\nlast`
    for (const size of [1, 2, 3, 5, 100])
      expect(csvCells(text, size)).toEqual([
        { line: 1, cells: ['a', 'b "c", d', 'e\r\nf'] },
        { line: 4, cells: ['1', '', 'ü'] },
        { line: 5, cells: ['last'] }
      ])
  })
})

describe("Nsight Compute's CSV", () => {
  it('gives each launch its metrics, under the name of its kernel', () => {
    const { tree } = open(ncuRaw)
    expect(paths(tree)).toEqual(['', 'saxpy(int)', 'gemm<float>()', 'gemm<float>()'])
    expect(at(tree, 'saxpy(int)', 'time (ns)')).toBe(12_500)
    const own = (metric: string) => [...metricValues(tree, metric)].slice(2)
    expect(own('time (ns)')).toEqual([3200, 3000])
    expect(own('smsp__inst_executed.sum (inst)')).toEqual([1234, 1234])
    expect(own('launch__registers_per_thread (register/thread)')).toEqual([168, 168])
    expect(textAt(tree, 'gemm<float>()', 'launch')).toBe('1')
    expect(textAt(tree, 'saxpy(int)', 'grid')).toBe('4096 x 2 x 1')
    expect(textAt(tree, 'saxpy(int)', 'launch__func_cache_config')).toBe('CachePreferNone')
    expect(deriveMetric(tree, 'gbyte/s').values[1]).toBeCloseTo(1000.25e6 / 12.5e-6 / 1e9)
    expect(tree.devices).toMatchObject([{ id: '0', arch: '90', multiprocessors: 132 }])
    expect(tree.warnings).toEqual(['1 values that ncu gives as n/a were passed over.'])
  })

  it('adds up no share, average or fact of a launch', () => {
    const { tree } = open(ncuRaw)
    for (const metric of [
      'sm__throughput.avg.pct_of_peak_sustained_elapsed (%)',
      'launch__registers_per_thread (register/thread)',
      'sm__cycles_active.avg (cycle)'
    ]) {
      expect(metricValues(tree, metric)[0], metric).toBeNaN()
    }
    const share = 'sm__throughput.avg.pct_of_peak_sustained_elapsed (%)'
    const registers = 'launch__registers_per_thread (register/thread)'
    const flat = ask(tree, { metrics: ['time/us', share, registers], arrangement: 'flat' })
    const row = paths(flat.tree).indexOf('gemm<float>()')
    // Where launches differ there is no share of them all; what they agree on stays.
    const values = flat.columns.map((column) => column.values[row])
    expect(values[0]).toBeCloseTo(6.2)
    expect(values.slice(1)).toEqual([NaN, 168])
  })

  it('reads the page of details: a row per metric', () => {
    const header = [
      ...ncuIdentity,
      'Section Name',
      'Metric Name',
      'Metric Unit',
      'Metric Value',
      'Rule Name'
    ]
    const { tree } = open(
      csv(
        header,
        [...ncuLaunch(0, 'k'), 'GPU Speed Of Light Throughput', 'Duration', 'us', '1,205.00', ''],
        [
          ...ncuLaunch(0, 'k'),
          'GPU Speed Of Light Throughput',
          'DRAM Frequency',
          'hz',
          '1,215,000,000.00',
          ''
        ],
        [...ncuLaunch(0, 'k'), 'Launch Statistics', 'Waves Per SM', '', '1.5', ''],
        [...ncuLaunch(0, 'k'), 'SpeedOfLight', '', '', '', 'SOLBottleneck']
      )
    )
    expect(at(tree, 'k', 'time (ns)')).toBe(1_205_000)
    expect(at(tree, 'k', 'DRAM Frequency (cycle/s)')).toBe(1.215e9)
    expect(metricValues(tree, 'Waves Per SM (per launch)')[0]).toBeNaN()
  })

  it('refuses numbers of another country, and a table without kernels', () => {
    const one = (value: string) =>
      csv(
        [...ncuIdentity, 'x.sum'],
        [...ncuIdentity.map(() => ''), '%'],
        [...ncuLaunch(0, 'k'), value]
      )
    expect(() => open(one('65,77'))).toThrow(
      "f: line 3: '65,77' is a number with a decimal comma: run ncu with LC_ALL=C."
    )
    expect(() => open(csv([...ncuIdentity, 'x.sum']))).toThrow(
      'without a kernel: was any profiled?'
    )
  })
})

describe("nvbench's JSON", () => {
  it('has a node per benchmark and per value of each axis', () => {
    const { tree } = open(nvbenchFile)
    expect(paths(tree)).toEqual(['', 'copy', 'copy > T=F32', 'copy > T=F32 > K=64'])
    const node = 'copy > T=F32 > K=64'
    expect(at(tree, node, 'time (ns)')).toBeCloseTo(2000)
    expect(at(tree, node, 'bytes')).toBe(2_000_000)
    expect(at(tree, node, 'samples')).toBe(100)
    expect(at(tree, node, 'nv/cold/time/gpu/stdev/relative (%)')).toBe(1)
    expect(deriveMetric(tree, 'util').values[3]).toBeCloseTo(1e12 / ((2 * 6016 * 3.201e9) / 8), 3)
    expect(tree.warnings).toEqual(['Skipped by nvbench: copy, T=F32, K=128 (too large).'])
  })

  it('has the bytes that nvbench divided by the mean, where the time shown is the median', () => {
    const rate = {
      tag: 'nv/cold/bw/global/bytes_per_second',
      data: [{ name: 'value', type: 'float64', value: '1e12' }]
    }
    const more = [...quartiles(1e-6, 1e-6, 1.5e-6, 2e-6, 9e-6), rate]
    const { tree } = open(nvbenchGemm([{ tile: 't', k: 64, mean: 2e-6, more }]))
    const [node] = paths(tree).filter((path) => path.endsWith('K=64'))
    expect(at(tree, node!, 'time (ns)')).toBeCloseTo(1500)
    expect(at(tree, node!, 'bytes')).toBe(2_000_000)
  })

  it('of a run exported here has its times and rates again', () => {
    const saved = 'test/fixtures/runs/h200-8192/run.json'
    const { run } = openProfile(readFileSync(saved), 'run.json')
    const { tree } = open(runToNvbench(run!))
    const step = run!.steps.find(({ measurement }) => measurement)!
    const node = [
      step.kernel,
      `Format=${step.format}`,
      `M=${step.m}`,
      `N=${step.n}`,
      `K=${step.k}`
    ].join(' > ')
    expect(at(tree, node, 'time (ns)')).toBeCloseTo(step.measurement!.timeNs.median)
    const rates = deriveMetric(tree, 'tflop/s').values
    expect(rates[paths(tree).indexOf(node)]).toBeCloseTo(step.measurement!.tflops)
  })

  it('without states is refused', () => {
    expect(() => open({ ...nvbenchFile, benchmarks: [] })).toThrow(
      "f is nvbench's JSON without a state"
    )
  })
})

describe('forms read row by row', () => {
  it('are the same however the bytes are cut', () => {
    const text = csv(kernelHeader, kernelRow('a, "b"', 1, 1, 9), kernelRow('ü', 2, 10, 11))
    for (const size of [1, 7, 100]) {
      const reader = new ProfileReader('f')
      const bytes = bytesOf(text)
      for (let from = 0; from < bytes.length; from += size)
        reader.write(bytes.subarray(from, from + size))
      expect(paths(reader.finish().tree)).toEqual(['', 'a, "b"', 'ü'])
    }
  })
})
