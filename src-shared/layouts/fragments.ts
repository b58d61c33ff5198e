/**
 * Who holds what in a block-scaled warp MMA (sm_120 mma.sync) and in tensor memory (tcgen05). Sources: PTX ISA, "Matrix
 * Fragments for mma.m16n8k32" and "mma.m16n8k64"; CUTLASS include/cute/atom/mma_traits_sm120.hpp (ALayout, BLayout,
 * SFALayout, SFBLayout), mma_traits_sm80.hpp (16x8x32 8-bit) and mma_traits_sm100_frag.hpp (tmem_sf_frg).
 */
import { UserError } from '../errors'

/** One digit of a lane or register index: its extent and what a step is worth on each axis of the matrix. */
interface Step {
  extent: number
  outer: number
  inner: number
}

/** Operand of an MMA. `outer` is M for A and C, N for B; `inner` is K for A and B, N for C. */
export interface Fragment {
  name: string
  outerExtent: number
  innerExtent: number
  /** Digits of the lane, least significant first. */
  lane: Step[]
  /** Digits of the element within the lane, least significant first. */
  element: Step[]
}

const step = (extent: number, outer: number, inner: number): Step => ({ extent, outer, inner })

export const fragments: readonly Fragment[] = [
  fragment('m16n8k64 A', 16, 64, [step(4, 0, 8)], [step(8, 0, 1), step(2, 8, 0), step(2, 0, 32)]),
  fragment('m16n8k64 B', 8, 64, [step(4, 0, 8)], [step(8, 0, 1), step(2, 0, 32)]),
  fragment('m16n8k32 A', 16, 32, [step(4, 0, 4)], [step(4, 0, 1), step(2, 8, 0), step(2, 0, 16)]),
  fragment('m16n8k32 B', 8, 32, [step(4, 0, 4)], [step(4, 0, 1), step(2, 0, 16)]),
  fragment('m16n8 C', 16, 8, [step(4, 0, 2)], [step(2, 0, 1), step(2, 8, 0)])
]

/** All of them have lane / 4 along the outer axis. */
function fragment(
  name: string,
  outerExtent: number,
  innerExtent: number,
  inQuad: Step[],
  element: Step[]
): Fragment {
  return { name, outerExtent, innerExtent, lane: [...inQuad, step(8, 1, 0)], element }
}

function place(steps: readonly Step[], index: number): { outer: number; inner: number } {
  let outer = 0
  let inner = 0
  for (const { extent, outer: outerStep, inner: innerStep } of steps) {
    const digit = index % extent
    index = Math.floor(index / extent)
    outer += digit * outerStep
    inner += digit * innerStep
  }
  return { outer, inner }
}

/** Elements that each lane holds: the product of the element digits. */
export function elementsPerLane({ element }: Fragment): number {
  return element.reduce((product, { extent }) => product * extent, 1)
}

/** Where element i of a lane's registers lies in the matrix. */
export function fragmentElement(
  { lane, element }: Fragment,
  laneId: number,
  index: number
): { outer: number; inner: number } {
  const byLane = place(lane, laneId)
  const byElement = place(element, index)
  return { outer: byLane.outer + byElement.outer, inner: byLane.inner + byElement.inner }
}

export type ScaleVector = 1 | 2 | 4

export interface ScaleProvider {
  lane: number
  /** Byte of the lane's 32-bit scale register. */
  byte: number
}

/**
 * mma.sync: which lane and byte supply the scale of one row of A (0..15) or column of B (0..7), for the index-th scale
 * along K of the instruction (0..scaleVector - 1). A: lane L supplies row L / 4, odd lanes row L / 4 + 8, from lane pair
 * threadId (0, 1) of each quad; B: column L / 4 from lane threadId (0..3). byteId: 1X any byte, 2X 0 or 2, 4X 0.
 * CUTLASS confirms rows, columns and bytes for selectors of 0, and that the lane pairs of a quad hold the same scales; it
 * never uses other selectors, so what those choose rests on the PTX ISA's description of them.
 */
export function scaleProvider(
  operand: 'a' | 'b',
  scaleVector: ScaleVector,
  outer: number,
  index: number,
  { byteId = 0, threadId = 0 } = {}
): ScaleProvider {
  const threadLimit = operand === 'a' ? 2 : 4
  if (threadId < 0 || threadId >= threadLimit || !Number.isInteger(threadId)) {
    throw new UserError(
      'usage',
      `thread-id-${operand} is ${threadId}; it goes from 0 to ${threadLimit - 1}.`
    )
  }
  if (byteId < 0 || byteId > 3 || byteId % scaleVector !== 0) {
    throw new UserError(
      'usage',
      `byte-id-${operand} is ${byteId}; scale_vec::${scaleVector}X takes a multiple of ${scaleVector} below 4.`
    )
  }
  if (index < 0 || index >= scaleVector) {
    throw new UserError(
      'usage',
      `Scale ${index} along K: scale_vec::${scaleVector}X has ${scaleVector}.`
    )
  }
  const lane =
    operand === 'a' ? (outer % 8) * 4 + threadId * 2 + Math.floor(outer / 8) : outer * 4 + threadId
  return { lane, byte: byteId + index }
}

export interface TensorMemoryPlace {
  /** The four lanes that hold a copy, one in each warp's 32 lanes. */
  lanes: [number, number, number, number]
  /** 32-bit column from the start of the scales of these 128 rows. */
  column: number
  byte: number
}

/**
 * tcgen05: where tensor memory holds the scale of a row (0..127 of a tile) for the index-th scale of the kBlock-th MMA
 * along K. A 512-byte block of nvidia_32_4_4 is copied as it is (tcgen05.cp 32x128b.warpx4): 16 bytes a lane; an MMA uses
 * one, two or four bytes of a column, and the next MMA along K the bytes after them.
 */
export function tensorMemoryPlace(
  scaleVector: ScaleVector,
  row: number,
  kBlock: number,
  index: number
): TensorMemoryPlace {
  const scale = kBlock * scaleVector + index
  const lane = row % 32
  return {
    lanes: [lane, lane + 32, lane + 64, lane + 96],
    column: Math.floor(scale / 4) * 4 + Math.floor(row / 32),
    byte: scale % 4
  }
}
