import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deriveMetric } from '@shared/profile/ask/deriveMetric'
import { diffTrees, isGone, isNew, withinNoise, beyondNoise } from '@shared/profile/ask/diffTrees'
import { filterTree } from '@shared/profile/ask/filterTree'
import { hotPath } from '@shared/profile/ask/hotPath'
import { nodeAtPath } from '@shared/profile/ask/nodePath'
import { PathTree } from '@shared/profile/tree/pathTree'
import { childrenOf, nodeName, pathOf, type ProfileTree } from '@shared/profile/tree/profileTree'
import { readHatchet } from '@shared/profile/read/readHatchet'
import { flattenByKernel, groupByCapture, invertCalls } from '@shared/profile/ask/regroup'
import { ourRules, ownValues } from '@shared/profile/tree/rollUp'
import { fromTransferable, toTransferable } from '@shared/profile/tree/transfer'
import { visibleRows } from '@shared/profile/ask/visibleRows'
import { writeHatchet } from '@shared/profile/write/writeHatchet'

const open = (name: string) => readHatchet(readFileSync(`test/fixtures/${name}`), name)
const names = (tree: ProfileTree, nodes: Iterable<number>) =>
  [...nodes].map((node) => nodeName(tree, node))

/** Random trees: each kernel is put at a random path with a random time. */
const profiles = fc
  .array(fc.tuple(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 5 }), fc.nat(1000)), {
    minLength: 1,
    maxLength: 40
  })
  .map((entries) => {
    const tree = new PathTree()
    for (const [path, ns] of entries) {
      const node = tree.at([...path, 'kernel'])
      tree.addNumber(node, 'time (ns)', ns, false)
    }
    return tree.finish('built', [], true)
  })

describe('roll-up', () => {
  it('of a node is its own value and that of its children', () => {
    fc.assert(
      fc.property(profiles, (tree) => {
        const sums = deriveMetric(tree, 'time/ns').values
        const own = tree.numbers.find((column) => column.name === 'time (ns)')!.values
        for (let node = 0; node < tree.count; node++) {
          const below = childrenOf(tree, node).reduce((sum, child) => sum + sums[child]!, 0)
          expect(sums[node]).toBe(own[node]! + below)
        }
      })
    )
  })
})

describe('filterTree', () => {
  const tree = open('h200/triton_mxfp8_h200.hatchet')

  it('keeps values: ROOT has the full total whatever is shown', () => {
    const shown = filterTree(tree, { include: 'K=1024' })
    expect(names(tree, visibleRows(tree, 'all', { shown })).slice(0, 3)).toEqual([
      'ROOT',
      'K=1024',
      'block_scaled_matmul_kernel_mxfp8 [M=8192, N=8192, K=1024]'
    ])
    expect(deriveMetric(tree, 'time/%').values[0]).toBe(100)
  })

  it('follows path queries', () => {
    const paths = (query: string) =>
      names(
        tree,
        visibleRows(tree, 'all', { shown: filterTree(tree, { include: query }), depth: 3 })
      )
    expect(paths('K=2048 > cublas')).toEqual(['ROOT', 'K=2048', 'cublas_bf16'])
    expect(paths('* > cublas')).toHaveLength(9)
    expect(paths('** > /nvjet.*TNT/')).toHaveLength(9)
    expect(paths('K=2048 > nvjet')).toEqual([])
  })

  it('is closed upwards for any filter', () => {
    fc.assert(
      fc.property(
        profiles,
        fc.constantFrom('a', '/b|c/', 'a > ** > kernel'),
        fc.boolean(),
        (profile, text, includes) => {
          const shown = filterTree(profile, includes ? { include: text } : { exclude: text })
          for (let node = 1; node < profile.count; node++) {
            if (shown[node]) expect(shown[profile.parent[node]!]).toBe(1)
          }
        }
      )
    )
  })
})

describe('diffTrees', () => {
  const a = open('proton/synthetic/modern_a.hatchet')
  const c = open('proton/synthetic/modern_c.hatchet')

  it('adds up, and shows nodes that only one side has with their values', () => {
    const diff = diffTrees([a, c], 'time/us')
    const rows = Array.from({ length: diff.tree.count }, (_, node) => [
      pathOf(diff.tree, node).slice(1).join('/'),
      diff.values[0]![node],
      diff.values[1]![node],
      diff.change[node],
      diff.state[node]
    ])
    expect(rows).toEqual([
      ['', 240, 85, -155, 0],
      ['layer0', 120, 85, -35, 0],
      ['layer0/mxfp4_matmul <grid:64>', 100, 80, -20, 0],
      ['layer0/quantize', 20, NaN, -20, isGone],
      ['layer0/dequant', NaN, 5, 5, isNew],
      ['layer1', 120, NaN, -120, isGone],
      ['layer1/mxfp4_matmul <grid:64>', 120, NaN, -120, isGone]
    ])
  })

  it('adds up for any two profiles, and is nothing for one with itself', () => {
    fc.assert(
      fc.property(profiles, profiles, (first, second) => {
        const diff = diffTrees([first, second], 'time (ns)')
        const own = (tree: ProfileTree, node: number) =>
          node < 0 ? 0 : tree.numbers[0]!.values[node]!
        for (let node = 0; node < diff.tree.count; node++) {
          const below = childrenOf(diff.tree, node).reduce(
            (sum, child) => sum + diff.change[child]!,
            0
          )
          const ownChange =
            own(second, diff.nodesOf[1]![node]!) - own(first, diff.nodesOf[0]![node]!)
          expect(diff.change[node]).toBe(ownChange + below)
        }
        expect(diffTrees([first, first], 'time (ns)').change.every((change) => change === 0)).toBe(
          true
        )
      })
    )
  })

  it('matches names that differ in extents and tiles only where asked', () => {
    const tree = (name: string) => {
      const paths = new PathTree()
      paths.addNumber(paths.at([name]), 'time (ns)', 10, false)
      return paths.finish('built', [], true)
    }
    const pair = [tree('gemm_128x128x64 [K=1024]'), tree('gemm_256x128x64 [K=2048]')]
    expect(diffTrees(pair, 'time/ns').tree.count).toBe(3)
    expect(diffTrees(pair, 'time/ns', { byNormalisedName: true }).tree.count).toBe(2)
  })

  it('tells noise from change where both sides have launches', () => {
    const tree = (...times: number[]) => {
      const paths = new PathTree()
      const node = paths.at(['k'])
      for (const ns of times) {
        paths.addNumber(node, 'time (ns)', ns, false)
        paths.addSample(node, ns)
      }
      return paths.finish('built', [], true)
    }
    const base = tree(100, 110, 90, 105, 95, 100)
    expect(diffTrees([base, tree(101, 111, 91, 104, 96, 101)], 'time/ns').noise[1]).toBe(
      withinNoise
    )
    expect(diffTrees([base, tree(201, 211, 191, 204, 196, 201)], 'time/ns').noise[1]).toBe(
      beyondNoise
    )
  })
})

describe('views of a tree', () => {
  const tree = open('h200/triton_mxfp8_h200.hatchet')
  const times = deriveMetric(tree, 'time/ms').values

  it('rows follow what is expanded and the order', () => {
    expect(names(tree, visibleRows(tree, new Set([0])))).toEqual([
      'ROOT',
      'K=1024',
      'K=2048',
      'K=3072',
      'K=4096'
    ])
    const sort = { by: 'metric', values: times, descending: true } as const
    expect(names(tree, visibleRows(tree, new Set([0]), { sort }))[1]).toBe('K=4096')
  })

  it('the hot path goes through the largest children', () => {
    expect(names(tree, hotPath(tree, times)).slice(0, 2)).toEqual(['ROOT', 'K=4096'])
  })

  it('flat and grouped profiles keep the total', () => {
    const flat = flattenByKernel(tree)
    expect(deriveMetric(flat, 'time/ms').values[0]).toBeCloseTo(times[0]!, 9)
    expect(
      childrenOf(flat, 0).filter((node) => nodeName(flat, node).startsWith('nvjet'))
    ).toHaveLength(1)
    const groups = groupByCapture(tree, /K=(\d+)/)
    expect(names(groups, childrenOf(groups, 0))).toEqual(['1024', '2048', '3072', '4096'])
    expect(deriveMetric(groups, 'time/ms').values[1]).toBeCloseTo(times[1]!, 9)
  })

  it('inverted: kernels with who calls them, nearest first; sums are kept', () => {
    const inverted = invertCalls(tree)
    const flat = flattenByKernel(tree)
    const kernels = childrenOf(inverted, 0)
    expect(names(inverted, kernels)).toEqual(names(flat, childrenOf(flat, 0)))
    const sums = deriveMetric(inverted, 'time/ms').values
    const flatSums = deriveMetric(flat, 'time/ms').values
    expect(sums[0]).toBeCloseTo(times[0]!, 9)
    kernels.forEach((kernel, i) =>
      expect(sums[kernel] || 0).toBeCloseTo(flatSums[childrenOf(flat, 0)[i]!]! || 0, 9)
    )
  })

  it('inverted: a chain of callers has what the nodes below that chain took', () => {
    fc.assert(
      fc.property(profiles, (random) => {
        const inverted = invertCalls(random)
        const sums = deriveMetric(inverted, 'time/ns').values
        const chains = Array.from({ length: random.count }, (_, node) => ({
          chain: pathOf(random, node).slice(1).reverse().join('/'),
          own: ownValues(random, 'time (ns)', ourRules)[node]!
        }))
        for (let node = 1; node < inverted.count; node++) {
          const chain = pathOf(inverted, node).slice(1).join('/')
          const below = chains.filter((one) => `${one.chain}/`.startsWith(`${chain}/`))
          const sum = below.reduce((total, { own }) => total + (own || 0), 0)
          expect(sums[node]).toBeCloseTo(sum, 6)
        }
      })
    )
  })

  it('one subtree: its nodes and their ancestors', () => {
    const below = nodeAtPath(tree, 'ROOT > K=2048')
    const shown = filterTree(tree, { below })
    const kept = Array.from(shown.keys()).filter((node) => shown[node])
    const expected = [0, ...Array.from({ length: tree.end[below]! - below }, (_, i) => below + i)]
    expect(kept).toEqual(expected)
    expect(filterTree(tree, { below, include: 'no such name' }).includes(1)).toBe(false)
  })

  it('crosses to another thread and back without loss', () => {
    const text = writeHatchet(open('h200/triton_mxfp8_h200.hatchet'))
    const { message, transfer } = toTransferable(open('h200/triton_mxfp8_h200.hatchet'))
    const arrived = fromTransferable(structuredClone(message, { transfer }))
    expect(message.parent.length).toBe(0)
    expect(writeHatchet(arrived)).toBe(text)
    expect(arrived.strings.intern('ROOT')).toBe(arrived.name[0])
  })
})
