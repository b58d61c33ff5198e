/** The point of a history, chosen part by part. */
import { describe, expect, it } from 'vitest'
import type { HistoryPoint } from '@shared/contract/history'
import { pointFilters, pointWith } from '../../../../src-renderer/views/runs/pointFilters'

const point = (more: Partial<HistoryPoint>): HistoryPoint => ({
  ...{ device: 'H200', format: 'mxfp4', kernel: 'wgmma', m: 64, n: 64, k: 64, mode: 'cold' },
  ...more
})
const shown = point({ k: 512 })
const points = [
  shown,
  point({ k: 1024 }),
  point({ format: 'nvfp4', kernel: 'triton', k: 512 }),
  point({ format: 'nvfp4', k: 2048 }),
  point({ format: 'nvfp4', k: 512, mode: 'hot' }),
  point({ device: 'CPU', kernel: 'cpu-avx2', k: 512 })
].map((one, at) => ({ point: one, runs: 9 - at }))

describe('filters of a point', () => {
  it('offer what goes with those before them, numbers in their order', () => {
    expect(pointFilters(points, shown)).toEqual([
      { part: 'device', value: 'H200', options: ['CPU', 'H200'] },
      { part: 'format', value: 'mxfp4', options: ['mxfp4', 'nvfp4'] },
      { part: 'kernel', value: 'wgmma', options: ['wgmma'] },
      {
        part: 'shape',
        value: '64 × 64 × 512',
        options: ['64 × 64 × 512', '64 × 64 × 1,024']
      },
      { part: 'cache', value: 'cold', options: ['cold'] }
    ])
  })

  it('lead to the point that keeps most of the others, the earlier ones before the later', () => {
    expect(pointWith(points, shown, 'shape', '64 × 64 × 1,024')).toBe(points[1]!.point)
    // The kernel stays; of its shapes and caches, the shape does.
    expect(pointWith(points, shown, 'format', 'nvfp4')).toBe(points[4]!.point)
    expect(pointWith(points, shown, 'device', 'CPU')).toBe(points[5]!.point)
  })
})
