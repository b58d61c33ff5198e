import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Launch, Run, Step } from '@shared/contract/run'
import { compareRuns } from '@shared/measurement/compareRuns'
import { workKindIds } from '@shared/measurement/pictureColours'
import { deriveMetric } from '@shared/profile/ask/deriveMetric'
import { diffTrees } from '@shared/profile/ask/diffTrees'
import { nodeAtPath } from '@shared/profile/ask/nodePath'
import { flattenByKernel, groupByCapture, invertCalls } from '@shared/profile/ask/regroup'
import { workKindOf, workKindOfNode } from '@shared/profile/ask/workKind'
import { openProfile } from '@shared/profile/read/openProfile'
import { readHatchet } from '@shared/profile/read/readHatchet'
import { treeOfRun } from '@shared/profile/read/runTree'
import { operationName } from '@shared/profile/tree/operation'
import { childrenOf, nodeName, type ProfileTree } from '@shared/profile/tree/profileTree'
import { protonView } from '@shared/profile/write/protonView'
import { writeHatchet } from '@shared/profile/write/writeHatchet'
import {
  makeMeasurement,
  makeRun,
  makeStep,
  makeValidation,
  sweepSpec
} from '../../renderer/support/samples'

const launch = (name: string, ns: number, startNs = 0): Launch => ({
  name,
  startNs,
  endNs: startNs + ns,
  stream: 7,
  grid: [1, 1, 1],
  block: [128, 1, 1],
  registersPerThread: 64,
  sharedMemoryBytes: 0
})

const flops = 2 * 1024 ** 3
const point = (
  index: number,
  format: string,
  kernel: string,
  medianNs: number,
  launches: Launch[]
) => {
  const measurement = makeMeasurement(medianNs, flops, { launches })
  const { bytes, paddedBytes } = measurement
  return makeStep(index, format, kernel, { measurement, work: { flops, bytes, paddedBytes } })
}

const sweepOf = (steps: Step[], more: Partial<Run> = {}) =>
  makeRun('sweep-1', {
    kind: 'sweep',
    spec: sweepSpec,
    device: {
      id: 'cuda:0',
      kind: 'cuda',
      name: 'NVIDIA H200',
      architecture: 'sm_90',
      kernels: [],
      properties: { clockMHz: 1980, memoryBusBits: 6016, memoryClockMHz: 3201, smCount: 132 }
    },
    steps,
    ...more
  })

const twoKernels = sweepOf([
  point(0, 'mxfp4', 'wgmma', 2000.5, [launch('widen', 100), launch('multiply', 1900, 100)]),
  point(1, 'mxfp8', 'wgmma', 3000, [launch('widen', 100), launch('multiply', 2900, 100)]),
  point(2, 'mxfp4', 'cublaslt-bf16', 1500, [launch('nvjet_sm90_tst_320x128', 1490)]),
  point(3, 'mxfp4', 'triton', 6000, [])
])
const nodeOf = (tree: ProfileTree, step: Step) =>
  nodeAtPath(tree, `sweep > ${step.format} > K=${step.k} > ${operationName(step)}`)
const value = (tree: ProfileTree, metric: string, node: number) =>
  deriveMetric(tree, metric).values[node]!

describe('the tree of a run', () => {
  const tree = treeOfRun(twoKernels)

  it('has the time of one operation, and rates from it; sums are called total sampled', () => {
    for (const step of twoKernels.steps) {
      const { timeNs } = step.measurement!
      const node = nodeOf(tree, step)
      expect(value(tree, 'time/us', node)).toBeCloseTo(timeNs.median / 1000, 12)
      expect(value(tree, 'avg_time/us', node)).toBeCloseTo(timeNs.median / 1000, 12)
      expect(value(tree, 'tflop/s', node)).toBeCloseTo(step.measurement!.tflops, 9)
      expect(value(tree, 'count', node)).toBe(1)
      expect(value(tree, 'samples', node)).toBe(60)
      expect(value(tree, 'total sampled', node)).toBe(timeNs.mean * 60)
      expect(value(tree, 'total sampled/ms', node)).toBeCloseTo((timeNs.mean * 60) / 1e6, 12)
    }
  })

  it('names each launched kernel, of operations of one launch too, and says where they are not recorded', () => {
    const below = twoKernels.steps.map((step) =>
      childrenOf(tree, nodeOf(tree, step)).map((node) => nodeName(tree, node))
    )
    expect(below).toEqual([
      ['widen', 'multiply'],
      ['widen', 'multiply'],
      ['nvjet_sm90_tst_320x128'],
      []
    ])
    const launches = deriveMetric(tree, 'launches').text!
    expect(twoKernels.steps.map((step) => launches(nodeOf(tree, step)))).toEqual([
      '',
      '',
      '',
      'not recorded'
    ])
  })

  it('says of what a launched kernel lacks that the operation has it, and has no row for a kernel launched as itself', () => {
    const widen = childrenOf(tree, nodeOf(tree, twoKernels.steps[0]!))[0]!
    expect(deriveMetric(tree, 'tflop/s').reason(widen)).toBe("flops is the whole operation's")
    const cpu = point(0, 'mxfp4', 'cpu-avx512', 5000, [launch('cpu-avx512', 5000)])
    const cpuTree = treeOfRun(sweepOf([cpu]))
    expect(childrenOf(cpuTree, nodeOf(cpuTree, cpu))).toEqual([])
    expect(value(cpuTree, 'time/us', nodeOf(cpuTree, cpu))).toBe(5)
  })

  it('knows what kind of work each launch is, whatever its name, also when it is opened again', () => {
    const baseline = { ...twoKernels.steps[2]!, baseline: true }
    const steps = [...twoKernels.steps.slice(0, 2), baseline, twoKernels.steps[3]!]
    const run = treeOfRun(sweepOf(steps))
    const again = readHatchet(new TextEncoder().encode(writeHatchet(run)), 'again')
    for (const one of [run, again]) {
      const placeOf = workKindOfNode(one)
      const kindOf = (node: number) => workKindIds[placeOf(node)]
      const kinds = steps.map((step) => {
        const node = nodeOf(one, step)
        return [kindOf(node), ...childrenOf(one, node).map(kindOf)]
      })
      expect(kinds).toEqual([
        ['block-scaled', 'convert', 'block-scaled'],
        ['block-scaled', 'convert', 'block-scaled'],
        ['dense', 'dense'],
        ['block-scaled']
      ])
    }
    // No name of a kernel of ours says so.
    expect(workKindOf('multiply')).toBeUndefined()
  })

  it('never adds formats together by name: flat, inverted and grouped rows are whole operations', () => {
    const names = twoKernels.steps.map(operationName)
    const trees = {
      flat: flattenByKernel(tree),
      inverted: invertCalls(tree),
      grouped: groupByCapture(tree, /K=(\d+)/)
    }
    for (const [arrangement, arranged] of Object.entries(trees)) {
      const top = arrangement === 'grouped' ? childrenOf(arranged, 0)[0]! : 0
      const rows = childrenOf(arranged, top)
      expect(rows.map((node) => nodeName(arranged, node)).sort()).toEqual([...names].sort())
      for (const step of twoKernels.steps) {
        const node = rows.find((row) => nodeName(arranged, row) === operationName(step))!
        for (const metric of ['time/us', 'avg_time/us', 'tflop/s', 'gbyte/s', 'util'])
          expect(value(arranged, metric, node)).toBe(value(tree, metric, nodeOf(tree, step)))
      }
    }
  })

  it('is the same tree when written to .hatchet and opened again', () => {
    const text = writeHatchet(tree)
    const again = readHatchet(new TextEncoder().encode(text), 'profile.hatchet')
    expect(writeHatchet(again)).toBe(text)
    for (const metric of ['time/us', 'tflop/s', 'tflop16/s', 'gbyte/s', 'util', 'total sampled'])
      expect(deriveMetric(again, metric).values).toEqual(deriveMetric(tree, metric).values)
    expect(again.warnings).toEqual([])
  })

  it('reads in proton-viewer as one operation: average, rate and utilisation of its own row', () => {
    const print = (metrics: string[]) =>
      protonView(tree, { metrics, depth: 100, format: 'full', printSorted: false })
    const row = (text: string, name: string) =>
      text
        .split('\n')
        .find((line) => line.includes(name))!
        .replace(/[├└│─ ]*/, '')
    const step = twoKernels.steps[2]!
    const { median } = step.measurement!.timeNs
    expect(row(print(['avg_time/us', 'tflop/s']), operationName(step))).toBe(
      `${(median / 1000).toFixed(3)} ${(flops / median / 1e3).toFixed(3)} ${operationName(step)}`
    )
    expect(row(print(['util']), operationName(step))).not.toContain('nan')
  })

  it('says of a run that was cut off what is here, and of one without timed kernels that it has none', () => {
    const cut = treeOfRun(sweepOf(twoKernels.steps.slice(0, 1), { status: 'interrupted' }))
    expect(cut.warnings).toEqual([
      'Run sweep-1 is interrupted: the steps that it finished are here.'
    ])
    expect(treeOfRun(sweepOf([])).warnings).toEqual(['No kernel was timed in run sweep-1.'])
  })
})

describe('the tree of a validation', () => {
  it("has the time of the kernel's own launches, apart from reference, comparison and perturbation", () => {
    const validation = {
      ...makeValidation(),
      kernelSeconds: 0.067,
      launchNs: [1_300_000, 1_200_000],
      oracleSeconds: 2,
      comparisonSeconds: 0.01,
      perturbationSeconds: 0.2
    }
    const step = makeStep(0, 'mxfp4', 'wgmma', { validation })
    const tree = treeOfRun({ ...sweepOf([step]), kind: 'validate' })
    const node = nodeAtPath(tree, `validate > mxfp4 > K=1024 > ${operationName(step)}`)
    expect(value(tree, 'time/us', node)).toBe(1200)
    expect(value(tree, 'tflop/s', node)).toBeCloseTo(flops / 1.2e6 / 1e3, 9)
    expect(
      ['reference/ms', 'comparison/ms', 'perturbation/ms'].map((name) => value(tree, name, node))
    ).toEqual([2000, 10, 200])
  })
})

describe('two sweeps', () => {
  it('differ in the profile as they do in the comparison of runs, point by point, however long each was sampled', () => {
    const faster = sweepOf(
      twoKernels.steps.map((step, i) => {
        const measurement = makeMeasurement(
          step.measurement!.timeNs.median * (0.5 + i / 4),
          flops,
          { launches: step.measurement!.launches }
        )
        // As a fast kernel is: sampled more often, so that its sum is larger.
        measurement.timeNs.samples = 400
        return { ...step, measurement }
      })
    )
    const diff = diffTrees([treeOfRun(twoKernels), treeOfRun(faster)], 'time/us')
    const points = compareRuns(twoKernels, faster)
    expect(points).toHaveLength(4)
    for (const compared of points) {
      const node = nodeOf(diff.tree, { ...twoKernels.steps[0]!, ...compared })
      expect(diff.ratio[node]).toBeCloseTo(compared.ratio, 12)
    }
  })
})

describe('profiles of runs from before times were of one operation', () => {
  it('open, and say that they hold sums', () => {
    const file = 'test/fixtures/runs/sums-h200-8192.hatchet'
    const { tree } = openProfile(readFileSync(file), file)
    expect(tree.warnings.join()).toContain('its times and counts are sums over all samples')
  })

  it('which is said of no other profile', () => {
    for (const file of ['h200/triton_mxfp8_h200.hatchet', 'proton/synthetic/modern_a.hatchet']) {
      const { tree } = openProfile(readFileSync(`test/fixtures/${file}`), file)
      expect(tree.warnings).toEqual([])
    }
  })
})

describe('run.json', () => {
  it('opens as the tree of its run', () => {
    const { tree, run } = openProfile(
      new TextEncoder().encode(JSON.stringify(twoKernels)),
      'run.json'
    )
    expect(run?.id).toBe('sweep-1')
    expect(writeHatchet(tree)).toBe(writeHatchet(treeOfRun(twoKernels)))
  })

  it('is refused with the field that is wrong', () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ ...twoKernels, kind: 'other' }))
    expect(() => openProfile(bytes, 'run.json')).toThrow('run.json is not a run: at kind')
  })
})
