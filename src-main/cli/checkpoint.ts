import type { Command } from 'commander'
import {
  findWeights,
  matrixCount,
  unsureText,
  type BlockScaledWeight
} from '@shared/checkpoints/conventions'
import { readSlice } from '@shared/checkpoints/slice'
import { integerWeights, likelyWeights } from '@shared/checkpoints/unknown'
import { UserError } from '@shared/errors'
import type { TensorEntry } from '@shared/formats/safetensors'
import { checkOutput, writeOutput } from '../ground/files'
import { print, printJson } from '../ground/terminal'
import { withCheckpoint, type Checkpoint } from '../store/checkpointFile'
import { wholeNumber } from './arguments'
import { registerConvert } from './checkpointConvert'
import { registerError } from './checkpointError'
import { namedOf, weightNamed, withNamedTensors, type NamedFlags } from './checkpointWeights'

interface ListFlags extends NamedFlags {
  json?: boolean
}

interface SliceFlags extends NamedFlags {
  tensor: string
  matrix: number
  row: number
  rows: number
  col: number
  cols: number
  scalesOut?: string
  codesOut?: string
  force?: boolean
  json?: boolean
}

export function register(program: Command): void {
  const checkpoint = program
    .command('checkpoint')
    .description('Block-scaled weights in safetensors and GGUF files: list, slice, error, convert.')
  withNamedTensors(checkpoint.command('list <file>'))
    .description('the tensors, and which of them are block-scaled weights')
    .option('--json', 'print as JSON')
    .action((file: string, flags: ListFlags) => withCheckpoint(file, (open) => list(open, flags)))
  withNamedTensors(checkpoint.command('slice <file>'))
    .description('decoded values of a part of a weight, and its codes and scales counted')
    .requiredOption('--tensor <name>', 'weight, as list names it')
    .option('--matrix <index>', 'which matrix along the leading extents', wholeNumber, 0)
    .option('--row <m>', 'first row', wholeNumber, 0)
    .option('--rows <count>', 'rows', wholeNumber, 4)
    .option('--col <k>', 'first column', wholeNumber, 0)
    .option('--cols <count>', 'columns', wholeNumber, 8)
    .option('--scales-out <file>', 'the scales of the whole matrix as they are stored, raw bytes')
    .option('--codes-out <file>', 'the element codes of the whole matrix as they are stored')
    .option('--force', 'replace the files if they are there')
    .option('--json', 'print as JSON')
    .action((file: string, flags: SliceFlags) =>
      withCheckpoint(file, async (open) => {
        for (const path of [flags.scalesOut, flags.codesOut]) {
          if (path !== undefined) checkOutput(path, flags)
        }
        const weight = weightNamed(open, flags.tensor, namedOf(open, flags))
        slice(open, weight, flags)
        await writeMatrix(open, weight, flags)
      })
    )
  registerError(checkpoint)
  registerConvert(checkpoint)
}

function list(checkpoint: Checkpoint, flags: ListFlags): void {
  const { weights, unsure } = findWeights(checkpoint, checkpoint.path, namedOf(checkpoint, flags))
  const likely = likelyWeights(
    checkpoint,
    weights,
    unsure.map(({ name }) => name)
  )
  const integers = integerWeights(checkpoint)
  const shown = weights.map(({ name, convention, leading, rows, k, layout }) => ({
    name,
    convention: convention.name,
    shape: [...leading, rows, k],
    scaleLayout: layout.name
  }))
  const tensors = [...checkpoint.tensors.values()].map(({ name, dtype, shape, start, end }) => ({
    name,
    dtype,
    shape,
    bytes: end - start
  }))
  if (flags.json) {
    return printJson({
      weights: shown,
      unsure: unsure.map(({ name, conventions }) => ({
        name,
        conventions: conventions.map((convention) => convention.name)
      })),
      likely: likely.map(({ codes, scales, formats }) => ({
        codes: codes.name,
        scales: scales.name,
        formats
      })),
      integers,
      tensors
    })
  }
  print(`${tensors.length} tensors, ${shown.length} block-scaled weights`)
  for (const { name, convention, shape, scaleLayout } of shown) {
    print(`${name}  [${shape.join(', ')}]  ${convention}, scales ${scaleLayout}`)
  }
  for (const one of unsure) print(unsureText(one))
  for (const { codes, scales, formats } of likely.slice(0, mostLikely)) {
    print(
      `"${codes.name}" and "${scales.name}" are of no known convention and look like codes and scales: --codes ${codes.name} --scales ${scales.name} --format ${formats.join(' or ')}`
    )
  }
  if (likely.length > mostLikely) print(`and ${likely.length - mostLikely} other pairs like these`)
  if (integers.length > 0) {
    print(
      `${integers.length} weights, such as ${integers[0]}, are integers with a real scale and an offset for each group (MLX affine, GPTQ, AWQ): no block-scaled floating point`
    )
  }
  for (const { name, dtype, shape, bytes } of tensors) {
    print(`  ${name}  ${dtype} [${shape.join(', ')}]  ${bytes} bytes`)
  }
}

/** Pairs of unknown tensors that are named. */
const mostLikely = 5

/** Largest number of values that one slice shows. */
const sliceLimit = 2 ** 20

function slice(checkpoint: Checkpoint, weight: BlockScaledWeight, flags: SliceFlags): void {
  const rowTo = Math.min(flags.row + flags.rows, weight.rows)
  const kTo = Math.min(flags.col + flags.cols, weight.k)
  if ((rowTo - flags.row) * (kTo - flags.col) > sliceLimit) {
    throw new UserError('usage', `A slice shows at most ${sliceLimit} values; take fewer rows.`)
  }
  const range = { matrix: flags.matrix, rowFrom: flags.row, rowTo, kFrom: flags.col, kTo }
  const found = readSlice(weight, range, checkpoint.read)
  const width = kTo - flags.col
  const codes = counted(found.codeCounts)
  const scales = counted(found.scaleCounts)
  if (flags.json) {
    const values = Array.from(found.values, (value) =>
      Number.isFinite(value) ? value : `${value}`
    )
    return printJson({ ...range, values, codes, scales })
  }
  print(`${weight.name}: rows ${flags.row} to ${rowTo}, columns ${flags.col} to ${kTo}`)
  for (let at = 0; at < found.values.length; at += width) {
    const cells = Array.from(found.values.subarray(at, at + width), (x) => x.toPrecision(4))
    print(cells.map((cell) => cell.padStart(11)).join(''))
  }
  print(`codes   ${describe(codes)}`)
  print(`scales  ${describe(scales)}`)
}

/** What `layout` and the Layouts view read: one matrix of a tensor, without the rest of the file. */
async function writeMatrix(
  checkpoint: Checkpoint,
  weight: BlockScaledWeight,
  flags: SliceFlags
): Promise<void> {
  const parts = [
    [flags.scalesOut, weight.scales, `scales in layout ${weight.layout.name}`],
    [flags.codesOut, weight.codes, 'codes']
  ] as const
  for (const [path, tensor, what] of parts) {
    if (path === undefined) continue
    if (!tensor) {
      throw new UserError(
        'usage',
        `The scales of "${weight.name}" lie among its codes (${weight.convention.name}); convert it to another convention first.`
      )
    }
    const size = (tensor.end - tensor.start) / matrixCount(weight)
    const bytes = await writeOutput(path, piecesOf(checkpoint, tensor, flags.matrix, size), flags)
    if (!flags.json) print(`${path}: ${bytes} bytes, ${what}`)
  }
}

function* piecesOf(
  { read }: Checkpoint,
  tensor: TensorEntry,
  matrix: number,
  size: number
): Generator<Uint8Array> {
  const [from, to] = [matrix * size, (matrix + 1) * size]
  const piece = 8 * 2 ** 20
  for (let at = from; at < to; at += piece) yield read(tensor, at, Math.min(at + piece, to))
}

function counted(counts: Uint32Array): { code: number; count: number }[] {
  return Array.from(counts, (count, code) => ({ code, count })).filter(({ count }) => count > 0)
}

function describe(counts: { code: number; count: number }[]): string {
  return counts.map(({ code, count }) => `${code.toString(16)}: ${count}`).join('  ')
}
