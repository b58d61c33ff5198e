/** What the operation has beside the plain product: C = output scale x (A x B + accumulator), batch by batch. */
import * as v from 'valibot'
import { broadcastBatch } from '../batch'
import { groupsSchema, groupsText, type Groups } from './groups'

/**
 * 'nk': B is (N, K) with scales (N, K / V); 'kn': (K, N) with scales (K / V, N). Codes are packed along the last axis.
 */
export const bOrders = ['nk', 'kn'] as const
export type BOrder = (typeof bOrders)[number]

const mostDims = 8
const dims = v.pipe(
  v.array(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_048_576))),
  v.maxLength(mostDims)
)

export const operationEntries = {
  bOrder: v.optional(v.picklist(bOrders), 'nk'),
  /** A float32 (M, N) for each matrix of C is added to the product: beta is 1. */
  accumulate: v.optional(v.boolean(), false),
  /** What C is multiplied by before it is rounded to e4m3 or e5m2. */
  outputScale: v.optional(v.pipe(v.number(), v.finite(), v.gtValue(0)), 1),
  /** Batch dimensions of A and its scales, and of B and its scales; they broadcast as matmul's do. Empty: one matrix. */
  batchA: v.optional(dims, []),
  batchB: v.optional(dims, []),
  /** Of a grouped product, which has no batch: they bring M. */
  groups: v.optional(groupsSchema)
}

export interface Operation {
  bOrder: BOrder
  accumulate: boolean
  outputScale: number
  batchA: number[]
  batchB: number[]
  groups?: Groups | undefined
}

export const plainOperation: Operation = {
  bOrder: 'nk',
  accumulate: false,
  outputScale: 1,
  batchA: [],
  batchB: []
}

/** The operation's own fields of something that has more. */
export const operationOf = ({
  bOrder,
  accumulate,
  outputScale,
  batchA,
  batchB,
  groups
}: Operation): Operation => ({
  ...{ bOrder, accumulate, outputScale, batchA, batchB },
  ...(groups && { groups })
})

/** Types of C of eight bits. */
export const isEightBits = (output: string): boolean => output === 'e4m3' || output === 'e5m2'

/** What is wrong with an operation of this output type, in a sentence that names the field; undefined: nothing. */
export function problemOfOperation(
  { batchA, batchB, outputScale, groups }: Operation,
  output: string
): { field: 'batchB' | 'outputScale' | 'groups'; message: string } | undefined {
  if (groups && batchA.length + batchB.length > 0)
    return { field: 'groups', message: 'a grouped product has no batch: leave one of the two out' }
  if (broadcastBatch(batchA, batchB) === undefined)
    return {
      field: 'batchB',
      message:
        `the batch (${batchB.join(', ')}) of B does not broadcast with (${batchA.join(', ')}) of A: ` +
        'from the last dimension on, two are equal, or one of them is 1'
    }
  if (outputScale !== 1 && !isEightBits(output))
    return {
      field: 'outputScale',
      message: `an output scale is for an output of e4m3 or e5m2, not ${output}`
    }
  return undefined
}

/** 'B (K, N), + accumulator, output scale 0.5, batch (4, 1) x (3), 4 groups of 8192 rows, contiguous'; '' for the plain product. */
export function operationText({
  bOrder,
  accumulate,
  outputScale,
  batchA,
  batchB,
  groups
}: Operation): string {
  return [
    bOrder === 'kn' && 'B (K, N)',
    accumulate && '+ accumulator',
    outputScale !== 1 && `output scale ${outputScale}`,
    (batchA.length > 0 || batchB.length > 0) &&
      `batch (${batchA.join(', ')}) x (${batchB.join(', ')})`,
    groups && groupsText(groups)
  ]
    .filter(Boolean)
    .join(', ')
}

/** The same where something has to be said. */
export const operationName = (operation: Operation): string => operationText(operation) || 'A x B'
