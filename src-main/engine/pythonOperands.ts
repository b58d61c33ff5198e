/** Operands of one product as files for host.py, each with its shape: in the order, packing and layout that a kernel reads. */
// eslint-disable-next-line no-restricted-imports -- operands for another process, in a folder that mkdtemp makes its owner's alone
import { rm, writeFile } from 'node:fs/promises'
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
import { makeOperandsFolder } from './operandsFolder'
import type { PythonKernel } from './pythonKernel'

type File = { path: string; shape: number[] }
type Files = Record<string, File>
type Read = () => Promise<NativeOperands>

interface Scales {
  a: Uint8Array
  b: Uint8Array
  /** Of A and B. */
  tensor: [number, number]
}

/** Copies: a view would hold all operands. */
const scalesOf = ({ aScales, bScales, tensorScaleA = 1, tensorScaleB = 1 }: NativeOperands) => ({
  ...{ a: Uint8Array.from(aScales), b: Uint8Array.from(bScales) },
  tensor: [tensorScaleA, tensorScaleB] as [number, number]
})

/**
 * The operands of one session as files, each written for the first kernel that reads it and kept for those after it, in a folder of
 * its own until remove().
 */
export class OperandFiles {
  readonly #written = new Map<string, Promise<File>>()
  readonly #copyOperands: Read
  #folder: Promise<string> | undefined
  #scales: Promise<Scales> | undefined

  /** `copyOperands`: all of them, gigabytes; `pack`: codes, one a byte, to a packing of src-shared/layouts/elementPacking.ts. */
  constructor(
    readonly problem: NativeOpenRequest,
    copyOperands: Read,
    readonly pack: (packing: string, codes: Uint8Array) => Uint8Array
  ) {
    this.#copyOperands = copyOperands
  }

  /** All operands, to be let go soon. */
  async read(): Promise<NativeOperands> {
    const operands = await this.#copyOperands()
    this.#scales ??= Promise.resolve(scalesOf(operands))
    return operands
  }

  /** Linear, of A and B, which are kept from the first reading on: no second one takes the codes along. Not to be changed. */
  scales(): Promise<Scales> {
    return (this.#scales ??= this.#copyOperands().then(scalesOf))
  }

  /** The file of this name, made of the operands where there is none yet. */
  keep(name: string, make: () => Promise<{ bytes: Uint8Array; shape: number[] }>): Promise<File> {
    const write = async () => {
      const { bytes, shape } = await make()
      this.#folder ??= makeOperandsFolder()
      return writeArray(join(await this.#folder, name), bytes, shape)
    }
    const known = this.#written.get(name)
    if (known) return known
    const kept = write()
    this.#written.set(name, kept)
    // The next kernel tries again: a full disk may have room by then.
    kept.catch(() => this.#written.delete(name))
    return kept
  }

  async remove(): Promise<void> {
    const folder = await this.#folder
    if (folder) await rm(folder, { recursive: true, force: true })
  }
}

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

/** The problem as host.py reads it, with the operands that this kernel reads. */
export async function handOver(kernel: PythonKernel, operands: OperandFiles): Promise<object> {
  const { problem, pack } = operands
  const { m, n, k, output } = problem
  const block = findBlockFormat(problem.format)
  const operation = handedOperation(problem)
  const { bOrder, outputScale, batch, batchA, batchB, groups } = operation
  // They are large: read once here, where a file is missing, and let go.
  let held: Promise<NativeOperands> | undefined
  const read = () => (held ??= operands.read())
  const files: Files = {}
  /** Of A and B: what a code takes of its file. */
  const codeBits = { a: 8, b: 8 }
  for (const side of ['a', 'b'] as const) {
    const [rows, dims, element] = side === 'a' ? [m, batchA, block.a] : [n, batchB, block.b]
    const isTurned = side === 'b' && bOrder === 'kn'
    const bits = kernel.codes === 'packed' ? element.storageBits : 8
    const lines = isTurned ? k : rows
    codeBits[side] = bits
    files[side] = await operands.keep(`${side}-${bits < 8 ? 'packed' : 'codes'}`, async () => {
      const codes = (await read())[`${side}Codes`]
      const inOrder = isTurned ? turned(codes, rows, k) : codes
      const bytes = bits < 8 ? packCodes(element, inOrder, pack) : inOrder
      return { bytes, shape: [...dims, lines, bytes.length / matricesOf(dims) / lines] }
    })
    const keep: Keep = async (name, make) =>
      operands.keep(name, async () => make((await operands.scales())[side]))
    Object.assign(files, await scaleFiles(kernel, problem, side, keep))
    files[`${side}Table`] = await operands.keep(`${side}Table`, async () => tableOf(element))
  }
  files.scaleTable = await operands.keep('scaleTable', async () => tableOf(block.scale))
  if (operation.accumulate) {
    files.accumulator = await operands.keep('accumulator', async () => {
      const { buffer, byteOffset, byteLength } = (await read()).accumulator!
      return { bytes: new Uint8Array(buffer, byteOffset, byteLength), shape: [...batch, m, n] }
    })
  }
  return {
    ...{ m, n, k, output, outputScale, bOrder, batch, batchA, batchB },
    ...{ format: block.id, ...namesOf(block), codeBits, files },
    tensorScales: (await operands.scales()).tensor,
    ...(groups && {
      groups: {
        ...{ layout: groups.layout, rows: groups.rows },
        starts: segmentsOf(groups).segments.map(({ firstRow }) => firstRow)
      }
    })
  }
}

async function writeArray(path: string, bytes: Uint8Array, shape: number[]): Promise<File> {
  await writeFile(`${path}.bin`, bytes)
  return { path: `${path}.bin`, shape }
}

/** Where a file of scales goes, and what it is made of: linear scales. */
type Keep = (
  name: string,
  make: (scales: Uint8Array) => { bytes: Uint8Array; shape: number[] }
) => Promise<File>

/** Scales of one operand: linear with B as (N, K), whatever its order, and as the kernel reads them. */
async function scaleFiles(
  kernel: PythonKernel,
  problem: NativeOpenRequest,
  side: 'a' | 'b',
  keep: Keep
): Promise<Files> {
  const { bOrder, batchA, batchB, groups } = handedOperation(problem)
  const columns = problem.k / findBlockFormat(problem.format).scaleBlockSize
  const [rows, dims] = side === 'a' ? [problem.m, batchA] : [problem.n, batchB]
  const linear = await keep(`${side}LinearScales`, (scales) => ({
    ...{ bytes: scales, shape: [...dims, rows, columns] }
  }))
  const ofBoth = (own: File) => ({ [`${side}LinearScales`]: linear, [`${side}Scales`]: own })
  const own = `${side}Scales-${kernel.scaleLayout}`
  if (kernel.scaleLayout !== 'linear') {
    const layout = findLayout(kernel.scaleLayout)
    if (side === 'a' && groups) {
      return ofBoth(
        await keep(own, (scales) => {
          const bytes = scalesOfGroups(layout, groups, columns, scales)
          return { bytes, shape: [bytes.length] }
        })
      )
    }
    const shape = [...dims, ...packedShapes(layout, { rows, columns })[1]!]
    return ofBoth(
      await keep(own, (scales) => ({ bytes: packBatch(layout, { rows, columns }, scales), shape }))
    )
  }
  // A swizzled layout is one of rows of N in both orders; linear scales lie as the codes do.
  if (side === 'a' || bOrder === 'nk') return ofBoth(linear)
  const shape = [...dims, columns, rows]
  return ofBoth(await keep(own, (scales) => ({ bytes: turned(scales, rows, columns), shape })))
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

/** The scales of one operand with one of them raised, in the first matrix of a batch, and where C goes: files of `folder`. */
export async function handOverRaised(
  kernel: PythonKernel,
  operands: OperandFiles,
  { side, row, block, raised }: NativeRaisedScale,
  folder: string
): Promise<{ files: Files; result: string }> {
  const { problem } = operands
  const columns = problem.k / findBlockFormat(problem.format).scaleBlockSize
  const scales = Uint8Array.from((await operands.scales())[side])
  scales[row * columns + block] = raised
  const files = await scaleFiles(kernel, problem, side, async (name, make) => {
    const { bytes, shape } = make(scales)
    return writeArray(join(folder, `raised-${name}`), bytes, shape)
  })
  return { files, result: join(folder, `raised-${side}-c.bin`) }
}

const namesOf = ({ a, b, scale, scaleBlockSize }: BlockFormat) => ({
  elements: [a.name, b.name],
  scale: scale.name,
  scaleBlock: scaleBlockSize
})

const tableOf = (format: NumberFormat) => ({
  bytes: new Uint8Array(Float32Array.from(decodeTable(format)).buffer),
  shape: []
})

/** Two fp4 to a byte, the even one in the low nibble; four fp6 to three bytes. */
function packCodes(
  { storageBits }: NumberFormat,
  codes: Uint8Array,
  pack: OperandFiles['pack']
): Uint8Array {
  return pack(storageBits === 4 ? 'fp4_low_first' : 'fp6_dense', codes)
}
