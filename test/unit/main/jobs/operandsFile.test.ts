/** Files of operands: batches, B as (K, N), accumulators. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readOperands } from '@shared/operands/readOperands'
import { arrayFileOnDisk } from '../../../../src-main/jobs/arrays/arrayFiles'
import { writeCheckpoint } from '../../../support/writeCheckpoint'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-operands-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const metadata = { a: 'e4m3', b: 'e5m2', scale: 'e8m0', vec: '32' }
const [m, n, k] = [2, 3, 64]

const readOperandsFile = async (path: string) =>
  readOperands(await arrayFileOnDisk(path, '--operands'))

const counted = (length: number) => Uint8Array.from({ length }, (_, i) => i % 100)
const tensor = (name: string, shape: number[], bytes: Uint8Array, dtype = 'U8') => ({
  ...{ name, dtype, shape, bytes }
})
const bytesOf = (values: Float32Array | Float64Array) => new Uint8Array(values.buffer)

function write(tensors: ReturnType<typeof tensor>[], more: Record<string, string> = {}): string {
  const path = join(folder, `${tensors.length}-${Object.keys(more).length}.safetensors`)
  writeCheckpoint(path, tensors, { ...metadata, ...more })
  return path
}

const ofA = (batch: number[] = []) => {
  const count = batch.reduce((all, extent) => all * extent, 1)
  return [
    tensor('a_codes', [...batch, m, k], counted(count * m * k)),
    tensor('a_scales', [...batch, m, 2], counted(count * m * 2))
  ]
}

it('turns B that is (K, N) to (N, K), matrix by matrix', async () => {
  const codes = counted(2 * k * n)
  const scales = counted(2 * 2 * n)
  const path = write(
    [...ofA([2]), tensor('b_codes', [2, k, n], codes), tensor('b_scales', [2, 2, n], scales)],
    { b_order: 'kn' }
  )
  const { operation, operands, format, ...shape } = await readOperandsFile(path)
  expect(format.id).toBe('mxfp8_e4m3_e5m2')
  expect(shape).toMatchObject({ m, n, k, batch: [2] })
  expect(operation).toEqual({ bOrder: 'kn', accumulate: false, batchA: [2], batchB: [2] })
  for (let matrix = 0; matrix < 2; matrix++) {
    for (let row = 0; row < n; row++) {
      for (let at = 0; at < k; at++)
        expect(operands.bCodes[(matrix * n + row) * k + at]).toBe(
          codes[(matrix * k + at) * n + row]
        )
      for (let at = 0; at < 2; at++)
        expect(operands.bScales[(matrix * n + row) * 2 + at]).toBe(
          scales[(matrix * 2 + at) * n + row]
        )
    }
  }
})

it('brings a batch that broadcasts, an accumulator and the reference of each of its matrices', async () => {
  const accumulator = Float32Array.from({ length: 6 * m * n }, (_, i) => i / 2)
  const reference = Float64Array.from({ length: 6 * m * n }, (_, i) => i)
  const path = write([
    ...ofA([2, 1]),
    tensor('b_codes', [3, n, k], counted(3 * n * k)),
    tensor('b_scales', [3, n, 2], counted(3 * n * 2)),
    tensor('c_f32', [2, 3, m, n], bytesOf(accumulator), 'F32'),
    tensor('c_f64', [2, 3, m, n], bytesOf(reference), 'F64')
  ])
  const { operation, operands } = await readOperandsFile(path)
  expect(operation).toEqual({ bOrder: 'nk', accumulate: true, batchA: [2, 1], batchB: [3] })
  expect(operands.accumulator).toEqual(accumulator)
  expect(operands.reference).toEqual(reference)
})

it.each<[string, number[], number[], Record<string, string>, RegExp]>([
  [
    'batches that do not broadcast',
    [3, n, k],
    [3, n, 2],
    {},
    /batch \(3\) of B does not broadcast/
  ],
  ['scales of another batch', [2, n, k], [1, n, 2], {}, /"b_scales" is 1 x 3 x 2; 2 x 3 x 2 is/],
  ['another order', [2, n, k], [2, n, 2], { b_order: 'mk' }, /b_order is "mk"; nk or kn is needed/]
])('refuses %s', async (_what, codes, scales, more, words) => {
  const sizeOf = (shape: number[]) => shape.reduce((all, extent) => all * extent, 1)
  const path = write(
    [
      ...ofA([2]),
      tensor('b_codes', codes, counted(sizeOf(codes))),
      tensor('b_scales', scales, counted(sizeOf(scales)))
    ],
    more
  )
  await expect(readOperandsFile(path)).rejects.toThrow(words)
})
