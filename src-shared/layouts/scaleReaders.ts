/**
 * Which lanes read a scale, by instruction.
 *
 * Confirmed, each read in its own place:
 * - tcgen05: CUTLASS include/cute/atom/mma_traits_sm100.hpp, UMMA::tmem_sf_frg: a row is lane row % 32 of 32-bit column
 *   row / 32, the scales of one MMA are neighbouring bytes, and all of it is there four times, 32 lanes apart. Triton
 *   LinearLayoutConversions.cpp, getScaleTMEMStoreLinearLayout, has the same places.
 * - mma.sync, selectors of 0: CUTLASS f5c7903 mma_traits_sm120.hpp, SFALayout (2,2,8):(8,0,1) and SFBLayout (4,8):(0,1);
 *   CUTLASS and Triton (getSM120DotScaledScaleLayout) use no other selectors. Their ranges are what ptxas 13.0 for sm_120a
 *   accepts: thread-id-a 0 to 1, thread-id-b 0 to 3; byte-id 0 to 3 for 1X, 0 or 2 for 2X, 0 for 4X. That thread-id-a
 *   takes lane pair {0, 1} or {2, 3} of a quad, thread-id-b the lane, and byte-id the first byte is how PTX ISA "Block
 *   Scaling for mma.sync" is understood here; a published probe of 1X on an sm_120 GPU agrees. Not run by this project.
 * - gfx950: Triton LinearLayoutConversions.cpp, chooseScaledMfmaScaleLayout, and Composable Kernel e55b154
 *   test/mx_mfma_op/mx_mfma_op.hpp, load_mx_A_row_major: the same lane for 4-, 6- and 8-bit elements.
 */
import { UserError } from '../errors'

export const scaleVectors = [1, 2, 4] as const
export type ScaleVector = (typeof scaleVectors)[number]

export interface ScaleProvider {
  lane: number
  /** Byte of the lane's 32-bit scale register. */
  byte: number
}

const threadIds = { A: 2, B: 4 } as const

/**
 * mma.sync: which lane and byte supply the scale of one row of A (0..15) or column of B (0..7), for the index-th scale
 * along K of the instruction (0..scaleVector - 1). A: lane L supplies row L / 4, odd lanes row L / 4 + 8, from lane pair
 * threadId (0, 1) of each quad; B: column L / 4 from lane threadId (0..3).
 */
export function scaleProvider(
  operand: 'A' | 'B',
  scaleVector: ScaleVector,
  outer: number,
  index: number,
  { byteId = 0, threadId = 0 } = {}
): ScaleProvider {
  const threadLimit = threadIds[operand]
  const suffix = operand.toLowerCase()
  if (threadId < 0 || threadId >= threadLimit || !Number.isInteger(threadId)) {
    throw new UserError(
      'usage',
      `thread-id-${suffix} is ${threadId}; it goes from 0 to ${threadLimit - 1}.`
    )
  }
  if (byteId < 0 || byteId > 3 || byteId % scaleVector !== 0) {
    throw new UserError(
      'usage',
      `byte-id-${suffix} is ${byteId}; scale_vec::${scaleVector}X takes a multiple of ${scaleVector} below 4.`
    )
  }
  if (index < 0 || index >= scaleVector) {
    throw new UserError(
      'usage',
      `Scale ${index} along K: scale_vec::${scaleVector}X has ${scaleVector}.`
    )
  }
  const lane =
    operand === 'A' ? (outer % 8) * 4 + threadId * 2 + Math.floor(outer / 8) : outer * 4 + threadId
  return { lane, byte: byteId + index }
}

export interface TensorMemoryPlace {
  /** The four lanes that hold a copy, one in each warp's 32 lanes. */
  lanes: number[]
  /** 32-bit column from the start of the tile's scales. */
  column: number
  byte: number
}

/**
 * tcgen05: where tensor memory holds the scale of a row of a tile of `rows` (128, or 256 columns of B) for the index-th
 * scale of the kBlock-th MMA along K. A 512-byte block of nvidia_32_4_4 is copied as it is (tcgen05.cp 32x128b.warpx4): 16 bytes a lane; an MMA uses
 * one, two or four bytes of a column, and the next MMA along K the bytes after them.
 */
export function tensorMemoryPlace(
  scaleVector: ScaleVector,
  row: number,
  kBlock: number,
  index: number,
  rows = 128
): TensorMemoryPlace {
  const scale = kBlock * scaleVector + index
  const lane = row % 32
  return {
    lanes: [lane, lane + 32, lane + 64, lane + 96],
    column: Math.floor(scale / 4) * (rows / 32) + Math.floor(row / 32),
    byte: scale % 4
  }
}

/** v_mfma_scale 16x16x128 and 32x32x64: the one lane of 64 whose scale register holds a scale. */
export function mfmaScaleLane(edge: 16 | 32, row: number, column: number): number {
  return (row % edge) + edge * (column % (64 / edge))
}

/** One instruction that reads the scale, and from where. */
export interface ScaleReader {
  instruction: string
  operand: 'A' | 'B' | 'A or B'
  /** Which of the instruction's tiles the scale is in: along M or N, and along K. */
  tile: [number, number]
  lanes: number[]
  /** Whether every lane holds a copy, or the selector chooses one. */
  lanesAre: 'copies' | 'choices'
  /** 32-bit column of tensor memory from the start of the tile's scales. */
  column?: number
  /** Byte of the 32-bit register or column; undefined where the kernel may choose. */
  byte?: number
  /** What makes the instruction take this byte. */
  selector: string
}

/**
 * PTX ISA, as the instructions are written in full: scale_vec::1X is the only one of kind::mxf8f6f4, whose types are any of
 * five; 2X is kind::mxf4's (and of kind::mxf4nvf4 with ue8m0), 4X kind::mxf4nvf4's with ue4m3 or ue8m0.
 */
const kinds = { 1: 'mxf8f6f4', 2: 'mxf4', 4: 'mxf4nvf4' } as const
const blockScale = (scaleVector: ScaleVector) =>
  `kind::${kinds[scaleVector]}.block_scale.scale_vec::${scaleVector}X`
const typesOf = (scaleVector: ScaleVector) =>
  scaleVector === 1
    ? 'f32.atype.btype.f32.ue8m0'
    : `f32.e2m1.e2m1.f32.${scaleVector === 2 ? 'ue8m0' : 'ue4m3'}`

function tensorMemoryReader(scaleVector: ScaleVector, row: number, column: number): ScaleReader {
  const kBlock = Math.floor(column / scaleVector)
  const place = tensorMemoryPlace(scaleVector, row % 128, kBlock, column % scaleVector)
  return {
    instruction: `tcgen05.mma.cta_group::1.${blockScale(scaleVector)}`,
    operand: 'A or B',
    tile: [Math.floor(row / 128), kBlock],
    ...place,
    lanesAre: 'copies',
    selector: `SFA_ID or SFB_ID ${(kBlock * scaleVector) % 4}`
  }
}

/** Four scales along K fill a register, as a 32-bit load of nvidia_32_4_4 brings them; byte-id then follows from K. */
function warpReader(
  operand: 'A' | 'B',
  scaleVector: ScaleVector,
  row: number,
  column: number
): ScaleReader {
  const edge = operand === 'A' ? 16 : 8
  const kBlock = Math.floor(column / scaleVector)
  const byteId = (kBlock * scaleVector) % 4
  const providers = Array.from({ length: threadIds[operand] }, (_, threadId) =>
    scaleProvider(operand, scaleVector, row % edge, column % scaleVector, { byteId, threadId })
  )
  const suffix = operand.toLowerCase()
  return {
    instruction:
      `mma.sync.aligned.m16n8k${scaleVector === 1 ? 32 : 64}.row.col.` +
      `${blockScale(scaleVector)}.${typesOf(scaleVector)}`,
    operand,
    tile: [Math.floor(row / edge), kBlock],
    lanes: providers.map(({ lane }) => lane),
    lanesAre: 'choices',
    byte: providers[0]!.byte,
    selector: `thread-id-${suffix} 0 to ${providers.length - 1}, byte-id-${suffix} ${byteId}`
  }
}

function mfmaReader(edge: 16 | 32, row: number, column: number, packed: boolean): ScaleReader {
  const along = 64 / edge
  const byte =
    edge === 16
      ? (Math.floor(column / 4) % 2) * 2 + (Math.floor(row / 16) % 2)
      : Math.floor(column / 2) % 4
  return {
    instruction: `v_mfma_scale_f32_${edge}x${edge}x${along * 32}_f8f6f4`,
    operand: 'A or B',
    tile: [Math.floor(row / edge), Math.floor(column / along)],
    lanes: [mfmaScaleLane(edge, row, column)],
    lanesAre: 'copies',
    byte: packed ? byte : undefined,
    selector: packed ? `op_sel byte ${byte}` : 'op_sel any byte'
  }
}

/**
 * The instructions that read a scale of this layout without a rearrangement on the way; for linear scales, those whose
 * lanes a kernel fills itself. None for layouts that only software reads.
 */
export function scaleReaders(layoutName: string, row: number, column: number): ScaleReader[] {
  const tensorMemory = () => scaleVectors.map((one) => tensorMemoryReader(one, row, column))
  const warp = () =>
    (['A', 'B'] as const).flatMap((operand) =>
      scaleVectors.map((one) => warpReader(operand, one, row, column))
    )
  switch (layoutName) {
    case 'nvidia_32_4_4':
    case 'triton_blackwell':
      return [...tensorMemory(), ...warp()]
    case 'linear':
      return [...warp(), mfmaReader(16, row, column, false), mfmaReader(32, row, column, false)]
    case 'cdna4_mfma16':
      return [mfmaReader(16, row, column, true)]
    case 'cdna4_mfma32':
      return [mfmaReader(32, row, column, true)]
    default:
      return []
  }
}

/** 'lanes 5, 37, 69 and 101, column 4, byte 2'. */
export function readerPlace({ lanes, lanesAre, column, byte }: ScaleReader): string {
  const last = lanes.at(-1)
  const joined =
    lanes.length === 1
      ? `lane ${last}`
      : `lanes ${lanes.slice(0, -1).join(', ')} ${lanesAre === 'copies' ? 'and' : 'or'} ${last}`
  return [
    joined,
    ...(column === undefined ? [] : [`column ${column}`]),
    ...(byte === undefined ? [] : [`byte ${byte}`])
  ].join(', ')
}

/** 'tile 1, MMA 3 along K'. */
export function readerTile({ operand, tile }: ScaleReader): string {
  const axis = operand === 'A' ? 'M' : operand === 'B' ? 'N' : 'M or N'
  return `${operand}, tile ${tile[0]} along ${axis}, ${tile[1]} along K`
}
