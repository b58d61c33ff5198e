import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { deriveMetric } from '@shared/profile/deriveMetric'
import { fromLaunchRecords } from '@shared/profile/fromLaunchRecords'
import type { LaunchRecord } from '@shared/profile/launchRecord'
import { printTree } from '@shared/profile/printTree'
import { readHatchet } from '@shared/profile/readHatchet'
import { writeHatchet } from '@shared/profile/writeHatchet'

const open = (name: string) => readHatchet(readFileSync(`test/fixtures/${name}`), name)

describe('printTree', () => {
  it('prints a header with units, chronological order and the reasons of missing values', () => {
    const tree = open('proton/synthetic/modern_a.hatchet')
    const metrics = ['time/us', 'tflop8/s', 'util'].map((name) => deriveMetric(tree, name))
    expect(printTree(tree, metrics)).toBe(
      [
        'time/us  tflop8/s   util  name',
        '240.000  1666.667  0.843  ROOT',
        '120.000  1666.667  0.843  ├─ layer0',
        '100.000  2000.000  1.012  │  ├─ mxfp4_matmul <grid:64>',
        ' 20.000         -  0.092  │  └─ quantize',
        '120.000  1666.667  0.843  └─ layer1',
        '120.000  1666.667  0.843     └─ mxfp4_matmul <grid:64>',
        '',
        '- tflop8/s: no flops8 recorded on this node (quantize)',
        ''
      ].join('\n')
    )
  })

  it('gives time and tflop/s at every level of a profile of an H200', () => {
    const tree = open('h200/triton_mxfp8_h200.hatchet')
    const metrics = ['time/ms', 'tflop/s', 'util'].map((name) => deriveMetric(tree, name))
    const lines = printTree(tree, metrics).split('\n')
    expect(lines[1]).toBe('130.035  211.387      -  ROOT')
    expect(lines[2]).toBe(' 12.466  220.506      -  ├─ K=1024')
    expect(lines[3]).toMatch(
      /^ 12\.233 {2}224\.700 {6}- {2}│ {2}├─ block_scaled_matmul_kernel_mxfp8/
    )
    expect(lines[4]).toBe('  0.233        -  0.598  │  └─ cublas_bf16')
  })
})

describe('fromLaunchRecords', () => {
  const record = (ns: number): LaunchRecord => ({
    run: 'r',
    step: 0,
    scopePath: ['sweep', 'mxfp4', 'K=1024'],
    kernel: { raw: '_Z4gemmv', demangled: 'gemm()' },
    provider: 'native',
    device: { type: 'CUDA', id: '0' },
    stream: 7,
    startNs: 100,
    endNs: 100 + ns,
    grid: [1, 1, 1],
    block: [128, 1, 1],
    registersPerThread: 64,
    sharedMemoryBytes: 0,
    flopsByWidth: { 4: 1e9 },
    bytes: 1000
  })

  it('sums launches, keeps their times and writes zeros on ROOT for hatchet', () => {
    const tree = fromLaunchRecords([record(1000), record(3000)], [])
    expect(deriveMetric(tree, 'time/us').values[0]).toBe(4)
    expect(deriveMetric(tree, 'min_time/us').values[0]).toBe(1)
    expect(deriveMetric(tree, 'tflop4/s').values[4]).toBeCloseTo(500)
    const [root] = JSON.parse(writeHatchet(tree)) as [{ metrics: object }]
    expect(root.metrics).toEqual({ bytes: 0, count: 0, flops: 0, flops4: 0, 'time (ns)': 0 })
  })
})
