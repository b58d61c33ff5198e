/** Operands of one product as files for host.py, each with its shape: in the order, packing and layout that a kernel reads. */
// eslint-disable-next-line no-restricted-imports -- operands for another process, in a folder that mkdtemp makes its owner's alone
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { broadcastBatch, matricesOf } from '@shared/batch'
import { segmentsOf, type Groups } from '@shared/contract/groups'
import { operationOf, plainOperation } from '@shared/contract/operation'
import { findBlockFormat, type BlockFormat } from '@shared/formats/blockFormat'
import { decodeTable, type NumberFormat } from '@shared/formats/numberFormat'
import { packBatch, packedShapes, type ScaleLayout } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import { turned } from '@shared/operands/turned'
import type { NativeOpenRequest, NativeOperands, NativeRaisedScale } from './nativeBinding'
import type { PythonKernel } from './pythonKernel'

/** What is written: the problem, its operands, and how the kernel reads them. */
export interface HandedOver {
  kernel: PythonKernel
  problem: NativeOpenRequest
  operands: NativeOperands
  /** Codes, one a byte, to a packing of src-shared/layouts/elementPacking.ts. */
  pack: (packing: string, codes: Uint8Array) => Uint8Array
}

type Files = Record<string, { path: string; shape: number[] }>

/**
 * The operation, with the batch dimensions of A, B and C: none where C is one matrix, which then has no leading axes. Of groups B has
 * one, C and A have none.
 */
export function handedOperation(problem: NativeOpenRequest) {
  const operation = operationOf({ ...plainOperation, ...problem })
  const { groups } = operation
  if (groups) return { ...operation, batch: [], batchA: [], batchB: [groups.rows.length] }
  const batch = broadcastBatch(operation.batchA, operation.batchB)!
  if (matricesOf(batch) === 1) return { ...operation, batch: [], batchA: [], batchB: [] }
  return { ...operation, batch }
}

/** Writes the operands as host.py reads them. */
export async function handOver(
  { kernel, problem, operands, pack }: HandedOver,
  folder: string
): Promise<object> {
  const { m, n, k, output } = problem
  const block = findBlockFormat(problem.format)
  const operation = handedOperation(problem)
  const { bOrder, outputScale, batch, batchA, batchB, groups } = operation
  const files: Files = {}
  const write = async (name: string, bytes: Uint8Array, shape: number[]) => {
    files[name] = await writeArray(join(folder, name), bytes, shape)
  }
  for (const side of ['a', 'b'] as const) {
    const { rows, dims, codes, element } =
      side === 'a'
        ? { rows: m, dims: batchA, codes: operands.aCodes, element: block.a }
        : { rows: n, dims: batchB, codes: operands.bCodes, element: block.b }
    await write(`${side}Codes`, codes, [...dims, rows, k])
    const isTurned = side === 'b' && bOrder === 'kn'
    const inOrder = isTurned ? turned(codes, rows, k) : codes
    const packed = kernel.codes === 'packed' ? packCodes(element, inOrder, pack) : inOrder
    const lines = isTurned ? k : rows
    if (packed === codes) files[side] = files[`${side}Codes`]!
    else await write(side, packed, [...dims, lines, packed.length / matricesOf(dims) / lines])
    const scales = side === 'a' ? operands.aScales : operands.bScales
    Object.assign(files, await writeScales({ kernel, problem }, folder, side, scales))
    await write(`${side}Table`, bytesOfTable(element), [])
  }
  await write('scaleTable', bytesOfTable(block.scale), [])
  const { accumulator, tensorScaleA = 1, tensorScaleB = 1 } = operands
  if (operation.accumulate && accumulator) {
    const { buffer, byteOffset, byteLength } = accumulator
    await write('accumulator', new Uint8Array(buffer, byteOffset, byteLength), [...batch, m, n])
  }
  return {
    ...{ m, n, k, output, outputScale, bOrder, batch, batchA, batchB },
    ...{ format: block.id, ...namesOf(block), files },
    tensorScales: [tensorScaleA, tensorScaleB],
    ...(groups && {
      groups: {
        ...{ layout: groups.layout, rows: groups.rows },
        starts: segmentsOf(groups).segments.map(({ firstRow }) => firstRow)
      }
    })
  }
}

async function writeArray(path: string, bytes: Uint8Array, shape: number[]) {
  await writeFile(`${path}.bin`, bytes)
  return { path: `${path}.bin`, shape }
}

/** Scales of one operand: linear with B as (N, K), whatever its order, and as the kernel reads them. */
async function writeScales(
  { kernel, problem }: Pick<HandedOver, 'kernel' | 'problem'>,
  folder: string,
  side: 'a' | 'b',
  scales: Uint8Array,
  prefix = ''
): Promise<Files> {
  const { bOrder, batchA, batchB, groups } = handedOperation(problem)
  const columns = problem.k / findBlockFormat(problem.format).scaleBlockSize
  const [rows, dims] = side === 'a' ? [problem.m, batchA] : [problem.n, batchB]
  const write = (name: string, bytes: Uint8Array, shape: number[]) =>
    writeArray(join(folder, `${prefix}${side}${name}`), bytes, [...dims, ...shape])
  const linear = await write('LinearScales', scales, [rows, columns])
  const ofBoth = (own: Files[string]) => ({
    [`${side}LinearScales`]: linear,
    [`${side}Scales`]: own
  })
  if (kernel.scaleLayout !== 'linear') {
    const layout = findLayout(kernel.scaleLayout)
    if (side === 'a' && groups) {
      const packed = scalesOfGroups(layout, groups, columns, scales)
      return ofBoth(await write('Scales', packed, [packed.length]))
    }
    const bytes = packBatch(layout, { rows, columns }, scales)
    return ofBoth(await write('Scales', bytes, packedShapes(layout, { rows, columns })[1]!))
  }
  // A swizzled layout is one of rows of N in both orders; linear scales lie as the codes do.
  if (side === 'a' || bOrder === 'nk') return ofBoth(linear)
  return ofBoth(await write('Scales', turned(scales, rows, columns), [columns, rows]))
}

/** Of each group padded on its own, one behind the other; padding rows have none. */
function scalesOfGroups(
  layout: ScaleLayout,
  groups: Groups,
  columns: number,
  scales: Uint8Array
): Uint8Array {
  const parts = segmentsOf(groups).segments.map(({ firstRow, rows }) =>
    packBatch(
      layout,
      { rows, columns },
      scales.subarray(firstRow * columns, (firstRow + rows) * columns)
    )
  )
  return Uint8Array.from(Buffer.concat(parts))
}

/** The scales of one operand with one of them raised, in the first matrix of a batch, and where C goes. */
export async function handOverRaised(
  { kernel, problem, operands }: HandedOver,
  folder: string,
  { side, row, block, raised }: NativeRaisedScale
): Promise<{ files: Files; result: string }> {
  const columns = problem.k / findBlockFormat(problem.format).scaleBlockSize
  const scales = Uint8Array.from(side === 'a' ? operands.aScales : operands.bScales)
  scales[row * columns + block] = raised
  const files = await writeScales({ kernel, problem }, folder, side, scales, 'raised-')
  return { files, result: join(folder, `raised-${side}-c.bin`) }
}

const namesOf = ({ a, b, scale, scaleBlockSize }: BlockFormat) => ({
  elements: [a.name, b.name],
  scale: scale.name,
  scaleBlock: scaleBlockSize
})

const bytesOfTable = (format: NumberFormat) =>
  new Uint8Array(Float32Array.from(decodeTable(format)).buffer)

/** Two fp4 to a byte, the even one in the low nibble; four fp6 to three bytes; eight bits as they are. */
function packCodes({ storageBits }: NumberFormat, codes: Uint8Array, pack: HandedOver['pack']) {
  if (storageBits === 8) return codes
  return pack(storageBits === 4 ? 'fp4_low_first' : 'fp6_dense', codes)
}
