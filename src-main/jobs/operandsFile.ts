import { readFile } from 'node:fs/promises'
import type { BOrder, Operation } from '@shared/contract/operation'
import { UserError, messageOf } from '@shared/errors'
import { checkShape } from '@shared/formats/blockFormat'
import { decodeFloats } from '@shared/formats/floatTensor'
import { formatOfOperands, takeMatrices, type Matrices } from '@shared/formats/operandMatrices'
import { parseSafetensorsHeader, type SafetensorsHeader } from '@shared/formats/safetensors'
import { broadcastBatch, matricesOf } from '@shared/measurement/batch'
import type { NativeGivenOperands } from '../engine/nativeBinding'

export interface OperandsFile {
  format: string
  m: number
  n: number
  k: number
  /** What the file says of the operation: its batch, B's order, and whether it brings an accumulator. */
  operation: Omit<Operation, 'outputScale'>
  operands: NativeGivenOperands
}

/**
 * Operands from a .safetensors file: a_codes (M, K), b_codes (N, K), a_scales (M, K/V), b_scales (N, K/V), all U8 with one
 * code a byte, and optionally c_f32 (M, N), an accumulator, c_f64 (M, N), the reference, and a_tensor_scale and
 * b_tensor_scale, one F32 each. Leading axes are a batch, which broadcasts as matmul's. The metadata names the formats: a, b,
 * scale, vec; and with b_order "kn" B and its scales are (K, N) and (K/V, N).
 */
export async function readOperandsFile(path: string): Promise<OperandsFile> {
  let bytes: Uint8Array
  try {
    bytes = await readFile(path)
  } catch (error) {
    throw new UserError('usage', `--operands ${path} cannot be read: ${messageOf(error)}.`)
  }
  const header = parseSafetensorsHeader(bytes, bytes.length, path)
  const format = formatOfOperands(header, path)
  const bOrder = orderOf(header.metadata['b_order'], path)
  const take = (name: string, dtype = 'U8') => takeMatrices(header, bytes, path, name, dtype)
  const [aCodes, aScales] = [take('a_codes'), take('a_scales')]
  const [bCodes, bScales] = [take('b_codes'), take('b_scales')].map((matrices) =>
    bOrder === 'kn' ? turned(matrices) : matrices
  )
  const [m, k] = aCodes.shape
  const [n] = bCodes!.shape
  checkShape(format, m, n, k)
  const blocks = k / format.scaleBlockSize
  const { batch: batchA } = aCodes
  const { batch: batchB } = bCodes!
  requireShape(path, bCodes!, batchB, [n, k])
  requireShape(path, aScales, batchA, [m, blocks])
  requireShape(path, bScales!, batchB, [n, blocks])
  const batch = broadcastBatch(batchA, batchB)
  if (!batch)
    throw new UserError(
      'usage',
      `${path}: the batch (${batchB.join(', ')}) of B does not broadcast with (${batchA.join(', ')}) of A.`
    )
  const operands: NativeGivenOperands = {
    aCodes: aCodes.bytes,
    bCodes: bCodes!.bytes,
    aScales: aScales.bytes,
    bScales: bScales!.bytes
  }
  operands.tensorScaleA = tensorScale(header, bytes, path, 'a_tensor_scale')
  operands.tensorScaleB = tensorScale(header, bytes, path, 'b_tensor_scale')
  const ofC = (name: string, dtype: string) => {
    const c = take(name, dtype)
    requireShape(path, c, batch, [m, n])
    return c.bytes.buffer
  }
  const accumulate = header.tensors.has('c_f32')
  if (accumulate) operands.accumulator = new Float32Array(ofC('c_f32', 'F32'))
  if (header.tensors.has('c_f64')) operands.reference = new Float64Array(ofC('c_f64', 'F64'))
  return { format: format.id, m, n, k, operation: { bOrder, accumulate, batchA, batchB }, operands }
}

function orderOf(order: string | undefined, path: string): BOrder {
  if (order === undefined || order === 'nk' || order === 'kn') return order ?? 'nk'
  throw new UserError('usage', `${path}: b_order is "${order}"; nk or kn is needed.`)
}

/** Every matrix with rows and columns changed for one another. */
function turned({ name, batch, shape: [rows, columns], bytes }: Matrices): Matrices {
  const to = new Uint8Array(bytes.length)
  for (let matrix = 0; matrix < matricesOf(batch); matrix++) {
    const first = matrix * rows * columns
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++)
        to[first + column * rows + row] = bytes[first + row * columns + column]!
    }
  }
  return { name, batch, shape: [columns, rows], bytes: to }
}

function requireShape(
  path: string,
  matrices: Matrices,
  batch: readonly number[],
  wanted: [number, number]
): void {
  const is = [...matrices.batch, ...matrices.shape].join(' x ')
  const needed = [...batch, ...wanted].join(' x ')
  if (is === needed) return
  throw new UserError('usage', `${path}: tensor "${matrices.name}" is ${is}; ${needed} is needed.`)
}

/** One float32 for a whole operand; undefined where the file has none. */
function tensorScale(
  header: SafetensorsHeader,
  bytes: Uint8Array,
  path: string,
  name: string
): number | undefined {
  const entry = header.tensors.get(name)
  if (!entry) return undefined
  if (entry.dtype !== 'F32' || entry.end - entry.start !== 4)
    throw new UserError('usage', `${path}: tensor "${name}" must be one F32.`)
  const [value] = decodeFloats('F32', bytes.subarray(entry.start, entry.end))
  if (Number.isFinite(value)) return value
  throw new UserError('usage', `${path}: tensor "${name}" is ${value}.`)
}
