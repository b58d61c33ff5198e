import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ask } from '@shared/profile/ask/ask'
import { printTree } from '@shared/profile/write/printTree'
import { readHatchet } from '@shared/profile/read/readHatchet'

const open = (name: string) => readHatchet(readFileSync(`test/fixtures/${name}`), name)

describe('printTree', () => {
  it('prints a header with units, chronological order and the reasons of missing values', () => {
    const tree = open('proton/synthetic/modern_a.hatchet')
    expect(printTree(ask(tree, { metrics: ['time/us', 'tflop8/s', 'util'] }))).toBe(
      [
        'time/us  tflop8/s   util  name',
        '240.000  1666.667  0.778  ROOT',
        '120.000  1666.667  0.778  ├─ layer0',
        '100.000  2000.000  0.934  │  ├─ mxfp4_matmul <grid:64>',
        ' 20.000         -  0.092  │  └─ quantize',
        '120.000  1666.667  0.778  └─ layer1',
        '120.000  1666.667  0.778     └─ mxfp4_matmul <grid:64>',
        '',
        '- tflop8/s: no flops8 recorded on this node (quantize)',
        ''
      ].join('\n')
    )
  })

  it('gives time and tflop/s at every level of a profile of an H200', () => {
    const tree = open('h200/triton_mxfp8_h200.hatchet')
    const lines = printTree(ask(tree, { metrics: ['time/ms', 'tflop/s', 'util'] })).split('\n')
    expect(lines[1]).toBe('130.035  211.387      -  ROOT')
    expect(lines[2]).toBe(' 12.466  220.506      -  ├─ K=1024')
    expect(lines[3]).toMatch(
      /^ 12\.233 {2}224\.700 {6}- {2}│ {2}├─ block_scaled_matmul_kernel_mxfp8/
    )
    expect(lines[4]).toBe('  0.233        -  0.552  │  └─ cublas_bf16')
  })
})
