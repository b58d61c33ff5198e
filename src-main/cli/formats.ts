import { InvalidArgumentError, type Command } from 'commander'
import { mostK } from '@shared/contract/formats'
import type { Input } from '@shared/contract/methods'
import { findWeights, type Named } from '@shared/checkpoints/conventions'
import { planWeightSample, readSampledRow, weightSample } from '@shared/checkpoints/weightSample'
import { UserError } from '@shared/errors'
import { didYouMean, knownName } from '@shared/knownName'
import {
  blockFormats,
  findBlockFormat,
  formatOfPair,
  pairRules,
  type BlockFormat
} from '@shared/formats/blockFormat'
import { distributions, findDistribution, type ComparisonRow } from '@shared/formats/compare'
import {
  decodeSample,
  isFloatTensor,
  planSample,
  tensorValues,
  type TensorSample
} from '@shared/formats/floatTensor'
import {
  codeCount,
  decodeTable,
  isScaled,
  limitsOf,
  numberFormats,
  type NumberFormat
} from '@shared/formats/numberFormat'
import { scaleRules, type ScaleRule } from '@shared/formats/quantize'
import type { TensorEntry } from '@shared/formats/safetensors'
import { exactValue } from '@shared/units'
import { print, printJson } from '../ground/terminal'
import { openCheckpoint, type Checkpoint } from '../store/checkpointFile'
import { connectInProcess } from '../transports/inProcess'
import { integerList, wholeNumber, wordList } from './arguments'
import { namedOf, weightNamed, withNamedTensors, type NamedFlags } from './checkpointWeights'
import { registerBytes } from './formatBytes'
import { localApplication } from './localApplication'

function productDepths(text: string): number[] {
  const depths = integerList(text)
  if (depths.some((k) => k > mostK)) throw new InvalidArgumentError(`K is at most ${mostK}.`)
  return depths
}

interface CompareFlags extends NamedFlags {
  formats: string[]
  rules: string[]
  dist: string[]
  K: number[]
  seed: number
  file?: string
  tensor?: string
  json?: boolean
}

export function register(program: Command): void {
  const command = program
    .command('formats [name]')
    .description('Number formats and block-scaled formats: limits and codes.')
    .option('--json', 'print as JSON')
    .action((name: string | undefined, flags: { json?: boolean }) => formats(name, flags))
  withNamedTensors(command.command('compare'))
    .description('what formats and scale rules do to values: SQNR, errors, clipping, products')
    .option('--formats <names>', 'formats, or all', wordList, ['all'])
    .option('--rules <names>', scaleRules.join(', '), wordList, [...scaleRules])
    .option('--dist <names>', distributions.join(', '), wordList, ['normal'])
    .option('-K <sizes>', 'K of the products', productDepths, [64, 512, 4096])
    .option('--seed <number>', 'seed of the values', wholeNumber, 0)
    .option(
      '--file <path>',
      'values of a .safetensors file (or its index), or GGUF, instead; with --tensor'
    )
    .option(
      '--tensor <name>',
      'which tensor of --file: F64, F32, F16 or BF16, or a block-scaled weight'
    )
    .option('--json', 'print as JSON')
    // The outer command has --json too and takes it when both do.
    .action((_flags, own: Command) => compare(own.optsWithGlobals<CompareFlags>()))
  registerBytes(command)
}

async function compare(flags: CompareFlags): Promise<void> {
  const chosen = flags.formats.includes('all') ? blockFormats : flags.formats.map(findBlockFormat)
  const rules = flags.rules.map(findRule)
  const sample = sampleOf(flags)
  const rows = await askEngine({
    formats: chosen.map(({ id }) => id),
    rules,
    ks: flags.K,
    values: sample
      ? tensorValues(sample)
      : { kind: 'drawn', distributions: flags.dist.map(findDistribution), seed: flags.seed }
  })
  if (flags.json) return printJson(rows)
  if (sample) {
    const { name, rows: taken, ofRows, k, ofK } = sample
    print(`${name}: ${taken} of ${ofRows} rows, ${k} of ${ofK} values along K`)
  }
  const products = flags.K.map((k) => `K=${k}`.padStart(10)).join('')
  print('distribution  format            rule       SQNR dB   max error  clipped %' + products)
  for (const row of rows) {
    print(
      (sample ? 'tensor' : row.distribution).padEnd(14) +
        row.format.padEnd(18) +
        row.rule.padEnd(9) +
        row.sqnr.toFixed(2).padStart(9) +
        row.maxError.toPrecision(4).padStart(12) +
        (row.clippedShare * 100).toFixed(2).padStart(11) +
        flags.K.map((k) => productText(row, k).padStart(10)).join('')
    )
  }
  const bad = sample ? (rows[0]?.bad ?? 0) : 0
  if (bad > 0)
    print(`${bad} of the values are NaN or infinite; their blocks are left out, and products.`)
  print(
    sample
      ? 'K columns: norm-wise relative error of a product of rows of the tensor by others of it.'
      : 'K columns: norm-wise relative error of a 16 x 16 product.'
  )
}

async function askEngine(comparison: Input<'formats.compare'>): Promise<ComparisonRow[]> {
  const application = localApplication({})
  try {
    return await connectInProcess(application.handlers).call('formats.compare', comparison)
  } finally {
    await application.close()
  }
}

/** '-' where the tensor is too short for this K. */
function productText({ product }: ComparisonRow, k: number): string {
  return product.find((one) => one.k === k)?.relativeError.toExponential(2) ?? '-'
}

/** Rows of the tensor named; undefined when none is. */
function sampleOf(flags: CompareFlags): TensorSample | undefined {
  const { file, tensor } = flags
  if (file === undefined && tensor === undefined) return undefined
  if (file === undefined || tensor === undefined) {
    throw new UserError('usage', '--file and --tensor go together: name both.')
  }
  const checkpoint = openCheckpoint(file)
  try {
    const entry = checkpoint.tensors.get(tensor)
    return entry && isFloatTensor(entry)
      ? floatSample(checkpoint, entry)
      : quantisedSample(checkpoint, tensor, namedOf(checkpoint, flags))
  } finally {
    checkpoint.close()
  }
}

function floatSample({ read }: Checkpoint, tensor: TensorEntry): TensorSample {
  const plan = planSample(tensor)
  return decodeSample(
    plan,
    plan.ranges.map(({ from, to }) => read(tensor, from, to))
  )
}

/** Rows of a block-scaled weight as the real numbers that they stand for. */
function quantisedSample(checkpoint: Checkpoint, name: string, named: Named): TensorSample {
  const { path, tensors, read } = checkpoint
  const { weights, unsure } = findWeights(checkpoint, path, named)
  if ([...weights, ...unsure].some((weight) => weight.name === name)) {
    const plan = planWeightSample(weightNamed(checkpoint, name, named))
    return weightSample(
      plan,
      plan.rows.map((row) => readSampledRow(plan, row, read))
    )
  }
  const entry = tensors.get(name)
  // Says which dtypes there are.
  if (entry) return floatSample(checkpoint, entry)
  const readable = [...weights, ...[...tensors.values()].filter(isFloatTensor)]
  const some = readable.slice(0, 5).map((one) => one.name)
  const near = didYouMean(name, tensors.keys())
  throw new UserError(
    'usage',
    `${path} has no tensor "${name}".${near} It has ${some.join(', ') || 'none of real numbers'}.`
  )
}

function findRule(name: string): ScaleRule {
  return knownName(name, scaleRules, 'scale rule', 'Rules')
}

function formats(name: string | undefined, flags: { json?: boolean }): void {
  if (name === undefined) return overview(flags)
  const numbers = Object.keys(numberFormats) as NumberFormat['name'][]
  const pair = formatOfPair(name)
  if (pair) return showBlock(pair, flags)
  const known = knownName(name, [...blockFormats.map((f) => f.id), ...numbers], 'format', 'Formats')
  const block = blockFormats.find((format) => format.id === known)
  if (block) return showBlock(block, flags)
  showNumber(numberFormats[known as NumberFormat['name']], flags)
}

function overview(flags: { json?: boolean }): void {
  if (flags.json) {
    const numbers = Object.values(numberFormats).map((f) => ({ ...f, ...limitsOf(f) }))
    return printJson({ blockFormats, numberFormats: numbers })
  }
  print('format            A     B     scale  V   bits per element (A, B) with scales')
  for (const f of blockFormats) {
    const bits = [f.a, f.b]
      .map((e) => e.storageBits + (isScaled(e) ? 8 / f.scaleBlockSize : 0))
      .join(', ')
    print(
      f.id.padEnd(18) +
        f.a.name.padEnd(6) +
        f.b.name.padEnd(6) +
        f.scale.name.padEnd(7) +
        String(f.scaleBlockSize).padEnd(4) +
        bits
    )
  }
  print('')
  print('Any other pair of elements is named by them, A before B: e5m2xe2m1 (formats e5m2xe2m1).')
  for (const { scale, scaleBlockSize, elements } of pairRules)
    print(`  ${scale} per ${scaleBlockSize}: ${elements.join(', ')}`)
  print('')
  print('number  s/e/m  bias  largest       smallest normal  subnormal step  Inf, NaN')
  for (const f of Object.values(numberFormats)) {
    const { largest, smallestNormal, subnormalStep } = limitsOf(f)
    print(
      f.name.padEnd(8) +
        `${f.signBits}/${f.exponentBits}/${f.mantissaBits}`.padEnd(7) +
        String(f.bias).padEnd(6) +
        exactValue(largest).padEnd(14) +
        exactValue(smallestNormal).padEnd(17) +
        exactValue(subnormalStep).padEnd(16) +
        { none: 'none', nan: 'NaN', ieee: 'Inf and NaN' }[f.special]
    )
  }
}

function showBlock(f: BlockFormat, flags: { json?: boolean }): void {
  if (flags.json) return printJson(f)
  print(`${f.id}: ${f.title}`)
  const ofB = isScaled(f.a) ? '' : ' of B; A has no scales'
  print(
    `A ${f.a.name}, B ${f.b.name}, one ${f.scale.name} scale per ${f.scaleBlockSize} elements along K${ofB}`
  )
  if (f.tensorScale) print('and one float32 scale per tensor')
  print(`work is counted as 2 M N K ${f.flopsMetric}`)
}

function showNumber(f: NumberFormat, flags: { json?: boolean }): void {
  const values = Array.from(decodeTable(f))
  if (flags.json) {
    const codes = values.map((value) => (Number.isFinite(value) ? value : String(value)))
    return printJson({ ...f, ...limitsOf(f), codes })
  }
  const { largest, smallestNormal, subnormalStep } = limitsOf(f)
  print(
    `${f.name}: sign ${f.signBits}, exponent ${f.exponentBits}, mantissa ${f.mantissaBits}, bias ${f.bias}`
  )
  print(
    `largest ${exactValue(largest)}, smallest normal ${exactValue(smallestNormal)}, subnormal step ${exactValue(subnormalStep)}`
  )
  if (!isScaled(f))
    return print(`its ${codeCount(f)} codes are the upper halves of float32 (--json lists them)`)
  const digits = codeCount(f) > 16 ? 2 : 1
  const cells = values.map(
    (value, code) => `${code.toString(16).padStart(digits, '0')}: ${exactValue(value)}`
  )
  const width = Math.max(...cells.map((cell) => cell.length)) + 2
  for (let at = 0; at < cells.length; at += 8) {
    print(
      cells
        .slice(at, at + 8)
        .map((cell) => cell.padEnd(width))
        .join('')
        .trimEnd()
    )
  }
}
