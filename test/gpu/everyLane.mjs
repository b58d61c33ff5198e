// The kernels as racecheck takes them: it orders a thread's reads of shared memory before a later write only where that thread
// itself arrives at the mbarrier between them, and in the kernels one lane arrives for its warp. Here every lane does.
import { change } from './change.mjs'

const pipeline = 'common/pipeline.cuh'
const gemm = 'common/gemm.cuh'
const codes = 'common/gemm_codesLoad.cuh'
const decode = 'common/decode.cuh'
const blockScale = 'common/blockScale/gemm.cuh'

/** @type {[string, string, string][]} */
const changes = [
  [
    pipeline,
    'if (threadIdx.x % 32 < Cluster) arriveAt(emptyBarrier, first + threadIdx.x % 32);',
    'for (u32 rank = 0; rank < Cluster; rank++) arriveAt(emptyBarrier, first + rank);'
  ],
  [gemm, 'T::kConsumerWarps * T::kCluster);', 'T::kConsumerWarps * T::kCluster * 32);'],
  [codes, 'kArrivals = 1 + kWarps;', 'kArrivals = 1 + kWarps * 32;'],
  [codes, 'if (isElected) arriveHere(full);', 'arriveHere(full);'],
  [decode, 'kGroups * 4 / Operand::kTurns);', 'kGroups * 4 / Operand::kTurns * 32);'],
  [decode, 'if (lane == 0) arriveHere(empty);', 'arriveHere(empty);'],
  [blockScale, 'if (machine.thread() % 32 == 0) machine.arriveBehind(', 'machine.arriveBehind('],
  [
    blockScale,
    'machine.initBarrier(each.empty(), T::kMultiplyingWarps);',
    'machine.initBarrier(each.empty(), T::kMultiplyingWarps * 32);'
  ]
]

/** In a copy of the kernels' folder. @param {string} folder */
export const letEveryLaneArrive = (folder) => change(folder, changes)
