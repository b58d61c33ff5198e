import { readFile } from 'node:fs/promises'
import { UserError, messageOf } from '@shared/errors'
import { checkShape } from '@shared/formats/blockFormat'
import { formatOfOperands, takeMatrix, type Matrix } from '@shared/formats/operandMatrices'
import { decodeFloats } from '@shared/formats/floatTensor'
import { parseSafetensorsHeader, type SafetensorsHeader } from '@shared/formats/safetensors'
import type { NativeGivenOperands } from '../engine/nativeBinding'

export interface OperandsFile {
  format: string
  m: number
  n: number
  k: number
  operands: NativeGivenOperands
}

/**
 * Operands from a .safetensors file: a_codes (M, K), b_codes (N, K), a_scales (M, K/V), b_scales (N, K/V), all U8 with one
 * code a byte, and optionally c_f64 (M, N), the reference product, and
 * a_tensor_scale and b_tensor_scale, one F32 each. The metadata names the formats: a, b, scale, vec.
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
  const codes = (name: string) => takeMatrix(header, bytes, path, name, 'U8')
  const [aCodes, bCodes, aScales, bScales] = ['a_codes', 'b_codes', 'a_scales', 'b_scales'].map(
    codes
  )
  const [m, k] = aCodes!.shape
  const [n] = bCodes!.shape
  checkShape(format, m, n, k)
  const blocks = k / format.scaleBlockSize
  requireShape(path, bCodes!, [n, k])
  requireShape(path, aScales!, [m, blocks])
  requireShape(path, bScales!, [n, blocks])
  const operands: NativeGivenOperands = {
    aCodes: aCodes!.bytes,
    bCodes: bCodes!.bytes,
    aScales: aScales!.bytes,
    bScales: bScales!.bytes
  }
  operands.tensorScaleA = tensorScale(header, bytes, path, 'a_tensor_scale')
  operands.tensorScaleB = tensorScale(header, bytes, path, 'b_tensor_scale')
  if (header.tensors.has('c_f64')) {
    const c = takeMatrix(header, bytes, path, 'c_f64', 'F64')
    requireShape(path, c, [m, n])
    operands.reference = new Float64Array(c.bytes.buffer)
  }
  return { format: format.id, m, n, k, operands }
}

function requireShape(path: string, matrix: Matrix, wanted: [number, number]): void {
  if (matrix.shape[0] === wanted[0] && matrix.shape[1] === wanted[1]) return
  throw new UserError(
    'usage',
    `${path}: tensor "${matrix.name}" is ${matrix.shape.join(' x ')}; ${wanted.join(' x ')} is needed.`
  )
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
