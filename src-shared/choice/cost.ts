/**
 * How long an operation takes a kernel: its launches' stages, each in waves over the device's processors, a fixed part, and
 * never less than its operands and result take to be read and written once. docs/kernels.md describes the model.
 */
import type { Kernel } from '../contract/devices'
import type { Shaped } from '../contract/groups'
import type { CostStage, KernelModel } from '../contract/kernelCost'
import { plainOperation } from '../contract/operation'
import { broadcastBatch, matricesOf } from '../batch'
import { findBlockFormat } from '../formats/blockFormat'
import { outputBytes, workOf, type Asked } from '../measurement/work'
import { cpuCostOf } from './cpuCosts'
import type { DeviceFacts, DeviceSize } from './deviceFacts'
import { evaluate, withValues, type Names } from './expression'

/** One operation: what is multiplied, in which format, and what the operation has beside the plain product. */
export type Problem = Shaped & Asked & { format: string }

export interface StageTime {
  name: string
  ns: number
  /** How often all slots of the device are taken. */
  waves: number
  /** Share of the slots of all waves that have something to do, 0..1: the tail is the rest. */
  filled: number
}

export type Prediction =
  | {
      ns: number
      /** What the kernel's own stages add up to; less than `ns` where memory is the limit. */
      summedNs: number
      /** Of it, what launches and the gaps between them take. */
      fixedNs: number
      stages: StageTime[]
      /** What reading operands and writing the result takes at least. */
      floorNs: number
      /** Where the constants are from. */
      source: string
    }
  | { reason: string }

/** The kernel's model: of its manifest row; of a CPU kernel, which has none, by its instruction. */
export function modelOf(kernel: Kernel, instruction: string): KernelModel | undefined {
  if (kernel.model) return kernel.model
  const cost = kernel.python ? undefined : cpuCostOf(instruction)
  return cost && { constants: {}, requires: [], cost }
}

/** Time of one operation in nanoseconds, or why none can be told. */
export function predictTime(
  kernel: Kernel,
  instruction: string,
  facts: DeviceFacts,
  problem: Problem
): Prediction {
  const model = modelOf(kernel, instruction)
  if (!model?.cost) return { reason: 'its manifest row has no cost' }
  const peak = facts.peakOf(instruction)
  if ('reason' in peak) return peak
  const { read } = facts
  if ('reason' in read) return read
  const rates = { peak: peak.rate, read: read.rate }
  const { cost } = model
  const products = productsOf(kernel, problem, facts)
  const names = products.map((one) => namesOf(model, problem, one, facts))
  const stages =
    products[0]?.parts === undefined
      ? addUp(names.map((each) => cost.stages.map((stage) => stageTime(stage, [each], rates))))
      : cost.stages.map((stage) =>
          stageTime(stage, partsOf(stage, names[0]!, products[0]!.parts!), rates)
        )
  const passes = passesOf(kernel, problem, rates.read)
  const floorNs = (1e9 * workOf(...workArguments(kernel, problem)).bytes) / rates.read
  const all = [...stages, ...passes]
  const fixedNs = cost.fixedNs * products.length
  const summedNs = all.reduce((sum, { ns }) => sum + ns, fixedNs)
  const ns = Math.max(summedNs, floorNs)
  return { ns, summedNs, fixedNs, stages: all, floorNs, source: cost.source }
}

/** Why a kernel refuses a problem, as its row's `requires` says; undefined: it does not. */
export function refusalOf(
  kernel: Kernel,
  problem: Problem,
  facts: DeviceFacts
): string | undefined {
  const { model } = kernel
  if (!model) return undefined
  for (const product of productsOf(kernel, problem, facts)) {
    const refusal = refusalOfProduct(model, problem, product, facts)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** The same of one product; `model`: of a kernel, or its row. */
export function refusalOfProduct(
  model: KernelModel,
  problem: Problem,
  product: Product,
  facts: DeviceSize
): string | undefined {
  if (!model.requires.length) return undefined
  const names = namesOf(model, problem, product, facts)
  return model.requires.find(({ that }) => evaluate(that, names) === 0)?.message
}

/** A product that a kernel's launches are made for once; `parts`: the rows of its groups, which it does at once; `groups`: how many there are, empty ones too. */
interface Product {
  m: number
  parts?: number[]
  groups?: number
}

/** Elements of A and B up to which a batch is one launch of a kernel for groups: kMostTogether in native/cuda/rowProblem.cpp. */
export const mostTogether = 2 ** 27

function productsOf(kernel: Kernel, problem: Problem, facts: DeviceSize): Product[] {
  const { m, n, k, groups, ...asked } = problem
  const { batchA, batchB } = { ...plainOperation, ...asked }
  const doesGroups = kernel.features.some(({ id, level }) => id === 'grouped' && level === 'fused')
  if (groups) {
    const rows = groups.rows.filter((count) => count > 0)
    return doesGroups
      ? [{ m, parts: rows, groups: groups.rows.length }]
      : rows.map((each) => ({ m: each }))
  }
  const matrices = matricesOf(broadcastBatch(batchA, batchB) ?? [])
  const each = Array.from({ length: matrices }, () => m)
  const isShared = matricesOf(batchA) < matrices || matricesOf(batchB) < matrices
  const together = { m: m * matrices, parts: each, groups: matrices }
  return kernel.model &&
    doesGroups &&
    matrices > 1 &&
    !isShared &&
    matrices * (m + n) * k <= mostTogether &&
    refusalOfProduct(kernel.model, problem, together, facts) === undefined
    ? [together]
    : each.map((rows) => ({ m: rows }))
}

/** The names that expressions of a manifest may use. */
export function namesOf(
  { constants, values = [] }: KernelModel,
  { format, n, k, output, accumulate = plainOperation.accumulate }: Problem,
  { m, parts, groups = 0 }: Product,
  { processors, memoryGbs }: DeviceSize
): Names {
  const block = findBlockFormat(format)
  const names = {
    ...constants,
    ...{ M: m, N: n, K: k, V: block.scaleBlockSize, SMS: processors, MEMORY_GBS: memoryGbs },
    ...{ BITS_A: block.a.storageBits, BITS_B: block.b.storageBits, BYTES_C: outputBytes[output]! },
    ...{ GROUPS: groups, GROUP_ROWS: m, MOST_ROWS: parts ? Math.max(...parts) : m },
    ACCUMULATE: accumulate ? 1 : 0
  }
  return withValues(names, values)
}

/** Of one launch for all groups: what each of them adds to a stage that names a group's rows; one that does not is done once. */
const partsOf = (stage: CostStage, names: Names, parts: readonly number[]): Names[] =>
  [stage.units, stage.ns, stage.bytes, stage.flop].some((text) => /\bGROUP_ROWS\b/.test(text))
    ? parts.map((rows) => ({ ...names, GROUP_ROWS: rows }))
    : [names]

/** Several parts share the waves of a stage; a unit of each takes its own time. */
function stageTime(
  stage: CostStage,
  parts: readonly Names[],
  rates: { peak: number; read: number }
): StageTime {
  const slots = Math.max(1, evaluate(stage.slots, parts[0]!))
  const counts = parts.map((names) => Math.max(0, evaluate(stage.units, names)))
  const units = counts.reduce((sum, count) => sum + count, 0)
  const waves = Math.ceil(units / slots)
  const unitNs = parts.map((names) => {
    const bytesNs = timeAt(rates.read, stage.bytes, stage.percentOfRead, names) * slots
    const restNs =
      evaluate(stage.ns, names) + timeAt(rates.peak, stage.flop, stage.percentOfPeak, names) * slots
    const inTurn = evaluate(stage.percentInTurn, names) / 100
    return Math.max(bytesNs, restNs) + inTurn * Math.min(bytesNs, restNs)
  })
  const meanNs = unitNs.reduce((sum, ns, at) => sum + ns * counts[at]!, 0) / (units || 1)
  return { name: stage.name, ns: waves * meanNs, waves, filled: units / (waves * slots || 1) }
}

/** Nanoseconds for an amount at so many percent of a rate. */
const timeAt = (rate: number, amount: string, percent: string, names: Names): number =>
  (1e11 * evaluate(amount, names)) / (rate * Math.max(1, evaluate(percent, names)))

/** Products one after the other: stage by stage. */
function addUp(products: StageTime[][]): StageTime[] {
  const [first = []] = products
  return first.map(({ name }, at) => {
    const own = products.map((stages) => stages[at]!)
    const sum = (of: (stage: StageTime) => number) =>
      own.reduce((total, stage) => total + of(stage), 0)
    const waves = sum((stage) => stage.waves)
    return {
      name,
      ns: sum(({ ns }) => ns),
      waves,
      filled: sum((one) => one.waves * one.filled) / (waves || 1)
    }
  })
}

/** Passes that the host makes around a kernel for what it does not do itself (docs/operation.md): each is bound by memory. */
function passesOf(kernel: Kernel, problem: Problem, read: number): StageTime[] {
  const { bOrder, accumulate, outputScale, n, k, m, output } = { ...plainOperation, ...problem }
  const isPass = (id: string) =>
    kernel.features.some((one) => one.id === id && one.level === 'pass')
  const pass = (name: string, bytes: number): StageTime => ({
    name,
    ns: (1e9 * bytes) / read,
    waves: 1,
    filled: 1
  })
  const passes: StageTime[] = []
  const { b, scaleBlockSize } = findBlockFormat(problem.format)
  if (bOrder === 'kn' && isPass('b-kn'))
    passes.push(pass('turn B', 2 * n * k * (b.storageBits / 8 + 1 / scaleBlockSize)))
  const finishes =
    (accumulate && isPass('accumulator')) ||
    ((outputScale !== 1 || outputBytes[output] === 1) && isPass('f8-output'))
  // The float32 product is written, read again, and C is written.
  if (finishes) passes.push(pass('finish C', m * n * (8 + (accumulate ? 4 : 0))))
  return passes
}

const workArguments = (kernel: Kernel, problem: Problem): Parameters<typeof workOf> => [
  ...([problem.format, problem.m, problem.n, problem.k] as const),
  problem,
  kernel
]
