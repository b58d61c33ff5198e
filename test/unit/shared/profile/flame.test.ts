/** Flame graphs as data: layout, what a stretch shows, colours, sandwich. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deriveMetric } from '@shared/profile/ask/deriveMetric'
import {
  boxUnder,
  firstBeyond,
  firstFrom,
  flameLayout,
  grownWeights,
  widestOf,
  type FlameLayout
} from '@shared/profile/ask/flame'
import {
  paintByChange,
  paintByGroup,
  paintByKind,
  paintByMetric,
  scopeBit
} from '@shared/profile/ask/flamePaint'
import { moduleOf } from '@shared/profile/ask/moduleOf'
import { sandwichOf } from '@shared/profile/ask/sandwich'
import { workKindOf } from '@shared/profile/ask/workKind'
import { workKindIds } from '@shared/measurement/pictureColours'
import { readHatchet } from '@shared/profile/read/readHatchet'
import { PathTree } from '@shared/profile/tree/pathTree'
import { nodeName, pathOf, type ProfileTree } from '@shared/profile/tree/profileTree'

const tree = readHatchet(
  readFileSync('test/fixtures/h200/triton_mxfp8_h200.hatchet'),
  'triton_mxfp8_h200.hatchet'
)
const times = deriveMetric(tree, 'time/ms').values

/** Paths with their own times; a name may call itself. */
const stacks = fc.array(
  fc.tuple(
    fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 5 }),
    fc.integer({ min: 1, max: 1000 })
  ),
  { minLength: 1, maxLength: 40 }
)
function treeOf(paths: readonly (readonly [readonly string[], number])[]): ProfileTree {
  const out = new PathTree()
  for (const [path, time] of paths) out.addNumber(out.at(path), 'time (ns)', time, false)
  return out.finish('built', [], false)
}
const weightsOf = (of: ProfileTree) => deriveMetric(of, 'time/ns').values
const find = (of: ProfileTree, path: string) =>
  Array.from({ length: of.count }, (_, node) => node).find(
    (node) => pathOf(of, node).join(' ') === path
  )!

function expectNested(layout: FlameLayout, parent: Int32Array): void {
  const { levelStart, node, box, x0, x1 } = layout
  for (let level = 0; level + 1 < levelStart.length; level++) {
    for (let at = levelStart[level]!; at < levelStart[level + 1]!; at++) {
      expect(box[node[at]!]).toBe(at)
      expect(x1[at]!).toBeGreaterThanOrEqual(x0[at]!)
      if (at > levelStart[level]!) expect(x0[at]!).toBeGreaterThanOrEqual(x1[at - 1]! - 1e-12)
      if (level === 0) continue
      const above = box[parent[node[at]!]!]!
      expect(x0[at]!).toBeGreaterThanOrEqual(x0[above]!)
      expect(x1[at]!).toBeLessThanOrEqual(x1[above]! + 1e-12)
    }
  }
}

describe('flameLayout', () => {
  it('lays boxes within their parents, as wide as their share, in any order', () => {
    for (const order of ['recorded', 'heavy'] as const) {
      const layout = flameLayout(tree, times, order)
      expectNested(layout, tree.parent)
      for (let at = 0; at < layout.node.length; at++) {
        const share = times[layout.node[at]!]! / times[0]!
        expect(layout.x1[at]! - layout.x0[at]!).toBeCloseTo(share, 9)
      }
    }
    fc.assert(
      fc.property(stacks, (paths) => {
        const random = treeOf(paths)
        expectNested(flameLayout(random, weightsOf(random), 'heavy'), random.parent)
        const rank = Float64Array.from({ length: random.count }, (_, node) => (node * 7919) % 13)
        expectNested(flameLayout(random, weightsOf(random), { rank }), random.parent)
      })
    )
  })

  it('puts the heaviest left, or what came first', () => {
    const small = treeOf([
      [['light'], 1],
      [['heavy', 'x'], 2],
      [['heavy', 'y'], 7]
    ])
    const names = (layout: FlameLayout) => [...layout.node].map((node) => nodeName(small, node))
    const weights = weightsOf(small)
    expect(names(flameLayout(small, weights))).toEqual(['ROOT', 'light', 'heavy', 'x', 'y'])
    expect(names(flameLayout(small, weights, 'heavy'))).toEqual([
      'ROOT',
      'heavy',
      'light',
      'y',
      'x'
    ])
    const rank = Float64Array.from(weights, (_, node) => -node)
    expect(names(flameLayout(small, weights, { rank }))).toEqual([
      'ROOT',
      'heavy',
      'light',
      'y',
      'x'
    ])
  })

  it('has no box for what the filter leaves out or has no weight, nor for what lies below it', () => {
    const small = treeOf([
      [['a', 'b'], 3],
      [['c'], 0]
    ])
    const shown = new Uint8Array(small.count).fill(1)
    shown[find(small, 'ROOT a')] = 0
    expect(flameLayout(small, weightsOf(small), 'recorded', shown).node).toEqual(Int32Array.of(0))
    expect(flameLayout(small, weightsOf(small)).node).toHaveLength(3)
    expect(flameLayout(small, new Float64Array(small.count)).levelStart).toHaveLength(1)
  })

  it('finds the boxes of a stretch, the one under a point and the widest of a run', () => {
    fc.assert(
      fc.property(stacks, fc.double({ min: 0, max: 1, noNaN: true }), (paths, x) => {
        const random = treeOf(paths)
        const layout = flameLayout(random, weightsOf(random), 'heavy')
        for (let level = 0; level + 1 < layout.levelStart.length; level++) {
          const [from, to] = [layout.levelStart[level]!, layout.levelStart[level + 1]!]
          const all = Array.from({ length: to - from }, (_, at) => from + at)
          const under = all.find((at) => layout.x0[at]! <= x && x < layout.x1[at]!) ?? -1
          expect(boxUnder(layout, level, x)).toBe(under)
          expect(firstBeyond(layout, x, from, to)).toBe(all.find((at) => layout.x1[at]! > x) ?? to)
          expect(firstFrom(layout, x, from, to)).toBe(all.find((at) => layout.x0[at]! >= x) ?? to)
        }
      })
    )
    const many = treeOf(Array.from({ length: 300 }, (_, at) => [[`k${at}`], 1 + ((at * 97) % 211)]))
    const wide = flameLayout(many, weightsOf(many))
    const width = (at: number) => wide.x1[at]! - wide.x0[at]!
    for (const [from, to] of [
      [0, 1],
      [3, wide.node.length],
      [1, 130],
      [60, 68]
    ] as const) {
      const widths = Array.from({ length: to - from }, (_, at) => width(from + at))
      expect(width(widestOf(wide, from, to))).toBe(Math.max(...widths))
      expect(wide.covered[to]! - wide.covered[from]!).toBeCloseTo(
        widths.reduce((sum, one) => sum + one, 0),
        9
      )
    }
  })

  it('keeps what is gone beside what is new: a parent of a comparison holds the larger side of each child', () => {
    const shape = { count: 3, parent: Int32Array.of(-1, 0, 0), depth: Int32Array.of(0, 1, 1) }
    expect([...grownWeights(shape, Float64Array.of(10, 10, 9))]).toEqual([19, 10, 9])
    expect([...grownWeights(shape, Float64Array.of(30, 10, NaN))]).toEqual([30, 10, 0])
  })
})

describe('what boxes are coloured by', () => {
  const kinds: [string, string | undefined][] = [
    ['block_scaled_matmul_kernel_mxfp4', 'block-scaled'],
    ['wgmma-fp8-p128 mxfp4 [M=8192, N=8192, K=8192]', 'block-scaled'],
    ['widen', 'convert'],
    ['_dequant_mxfp4_kernel', 'convert'],
    ['nvjet_sm90_tst_192x128_64x4_2x1_v_bz_TNT', 'dense'],
    ['void cutlass::device_kernel<flash::FlashAttnFwdSm90<int> >(int)', 'attention'],
    ['flash_fwd_splitkv_kernel', 'attention'],
    ['ncclDevKernel_AllReduce_Sum_bf16_RING_LL', 'communication'],
    ['void at::native::vectorized_elementwise_kernel<4, int>(int)', 'elementwise'],
    ['fused_add_rms_norm_kernel', 'elementwise'],
    ['Memcpy HtoD (Pageable -> Device)', 'copy'],
    ['layers.21', undefined]
  ]
  it.each(kinds)('%s: %s', (name, kind) => expect(workKindOf(name)).toBe(kind))

  it('a scope has the hue of what takes at least half of it', () => {
    const small = treeOf([
      [['moe', 'matmul_mxfp4'], 6],
      [['moe', 'silu'], 2],
      [['attn', 'flash_fwd'], 3],
      [['attn', 'rms_norm'], 3],
      [['unknown'], 1]
    ])
    const { classes } = paintByKind(small, weightsOf(small))
    const hue = (kind: (typeof workKindIds)[number]) => 1 + workKindIds.indexOf(kind)
    expect(classes[find(small, 'ROOT moe matmul_mxfp4')]).toBe(hue('block-scaled'))
    expect(classes[find(small, 'ROOT moe')]).toBe(scopeBit | hue('block-scaled'))
    expect(classes[find(small, 'ROOT unknown')]).toBe(0)
    expect(classes[0]).toBe(0)
  })

  it('names and modules that take most have a hue each, which does not depend on the others', () => {
    const paths = [...'abcdefghij'].map((name, at) => [[`${name}.x.y`], 10 + at] as const)
    const many = treeOf(paths)
    for (const by of ['name', 'module'] as const) {
      const { classes, legend } = paintByGroup(many, weightsOf(many), by)
      expect(new Set(legend).size).toBe(7)
      const smallest = find(many, 'ROOT a.x.y')
      expect(classes[smallest]).toBe(0)
      const largest = find(many, 'ROOT j.x.y')
      expect(legend[classes[largest]! - 1]).toBe(by === 'name' ? 'j.x.y' : 'j')
    }
  })

  it('a metric has five steps, a change seven and two', () => {
    const painted = paintByMetric(Float64Array.of(0, 50, 100, NaN), 'tflop/s')
    expect([...painted.classes]).toEqual([1, 3, 5, 0])
    expect(painted.range).toEqual([0, 100])
    expect([...paintByMetric(Float64Array.of(7, 7), 'x').classes]).toEqual([1, 1])
    const change = paintByChange(
      Float64Array.of(0.4, 0.9, 0.98, 1, 1.1, 1.3, 2, NaN, NaN, NaN),
      Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 1, 2)
    )
    expect([...change.classes]).toEqual([1, 3, 4, 4, 5, 6, 7, 0, 8, 9])
  })

  it('a module is a file, a class, a namespace or the first part of a dotted name', () => {
    expect(moduleOf('/a/b/model.py:12@forward')).toBe('model.py')
    expect(moduleOf('torch/nn/modules/module.py(1553): _call_impl')).toBe('module.py')
    expect(moduleOf('nn.Module: Linear_3')).toBe('Linear')
    expect(moduleOf('void at::native::reduce_kernel<512>(int)')).toBe('at::native')
    expect(moduleOf('layers.21')).toBe('layers')
    expect(moduleOf('matmul_kernel')).toBe('')
  })
})

describe('sandwich', () => {
  it('puts every call of a frame together, and counts a call within itself once', () => {
    const small = treeOf([
      [['a', 'f', 'x'], 1],
      [['b', 'f', 'x'], 2],
      [['b', 'f', 'f', 'x'], 4]
    ])
    const weights = weightsOf(small)
    const { callers, callees, calls, weight } = sandwichOf(small, weights, find(small, 'ROOT a f'))
    expect(weight).toBe(7)
    expect([...calls].map((node) => pathOf(small, node).join(' '))).toEqual([
      'ROOT a f',
      'ROOT b f'
    ])
    const rows = (side: typeof callers) =>
      [...side.weight].map((value, at) => [nodeName(small, side.example[at]!), value])
    expect(rows(callers)).toEqual([
      ['f', 7],
      ['a', 1],
      ['b', 6]
    ])
    expect(rows(callees)).toEqual([
      ['f', 7],
      ['x', 3],
      ['f', 4],
      ['x', 4]
    ])
    expect([...callees.depth]).toEqual([0, 1, 1, 2])
  })

  it('has callers that add up to the frame, and callees that are no more than it', () => {
    fc.assert(
      fc.property(stacks, (paths) => {
        const random = treeOf(paths)
        const weights = weightsOf(random)
        for (let node = 0; node < random.count; node++) {
          const { callers, callees, weight, calls } = sandwichOf(random, weights, node)
          expect(calls.length).toBeGreaterThan(0)
          expect(callers.weight[0]).toBeCloseTo(weight, 9)
          expect(callees.weight[0]).toBeCloseTo(weight, 9)
          expectNested(flameLayout(callees, callees.weight, 'heavy'), callees.parent)
          expectNested(flameLayout(callers, callers.weight, 'heavy'), callers.parent)
        }
      }),
      { numRuns: 30 }
    )
  })
})
