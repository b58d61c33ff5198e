/** A product by a Python kernel: operands handed over as files, C taken back as one, samples as a measurement. */
// eslint-disable-next-line no-restricted-imports -- operands for another process, in a folder that mkdtemp makes its owner's alone
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import * as v from 'valibot'
import { launchSchema, type Launch } from '@shared/contract/run'
import { UserError } from '@shared/errors'
import { findBlockFormat, type BlockFormat } from '@shared/formats/blockFormat'
import { decodeTable, type NumberFormat } from '@shared/formats/numberFormat'
import { packedShapes, packScales, type ScaleShape } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import { statisticsOf } from '@shared/measurement/statistics'
import { outputBytes } from '@shared/measurement/work'
import type {
  NativeMeasureRequest,
  NativeMeasurement,
  NativeOpenRequest,
  NativeOperands,
  NativeRaisedScale
} from './nativeBinding'
import type { PythonKernel } from './pythonKernel'
import { knownNames, parseAnswer } from './pythonKernels'
import type { PythonHost } from './pythonHost'

const runSchema = v.object({
  samplesNs: v.pipe(v.array(v.number()), v.nonEmpty()),
  stopReason: v.string(),
  /** The best of the kernel's configurations, in words; empty where it has none. */
  configuration: v.string(),
  warmupNs: v.number(),
  operandSets: v.number(),
  clock: v.string(),
  launches: v.array(launchSchema),
  /** 'CUPTI' where the launches' times come from there. */
  launchSource: v.string(),
  sustainedNs: v.number(),
  sustainedCount: v.number()
})
type Answer = v.InferOutput<typeof runSchema>

export type Rules = Omit<NativeMeasureRequest, 'kernel'>

/** Enough to have C; the time of it is not looked at. */
export const onceThrough: Rules = {
  cold: false,
  warmupLaunches: 1,
  warmupNs: 0,
  minSamples: 1,
  minTimeNs: 0,
  maxRelativeStdev: 0,
  maxSamples: 1,
  timeoutNs: 0,
  fixedSamples: 1,
  sustainedNs: 0,
  recordLaunches: false
}

/** A compiler may take long for one configuration: the engine's parent is told meanwhile that this is alive. */
const signOfLifeMs = 5000

export interface PythonRun {
  kernel: PythonKernel
  problem: NativeOpenRequest
  operands: NativeOperands
  rules: Rules
  /** Scales that are raised one after the other, each for one more run of the kernel. */
  raised?: readonly NativeRaisedScale[]
  /** Codes, one a byte, to a packing of src-shared/layouts/elementPacking.ts. */
  pack: (packing: string, codes: Uint8Array) => Uint8Array
}

/** C in the problem's output type, and that of each raised scale. */
interface Products {
  output: Uint8Array
  afterRaising: Uint8Array[]
}

/** What the kernel answered, with its products. Throws a UserError. */
export async function runPython(
  host: PythonHost,
  run: PythonRun,
  onProgress: (fraction: number, phase: string) => void,
  signal: AbortSignal
): Promise<Answer & Products> {
  const { kernel, problem, rules, raised = [] } = run
  const folder = await mkdtemp(join(tmpdir(), 'blockscope-operands-'))
  let phase = 'operands'
  const alive = setInterval(() => onProgress(0.5, `Python, ${phase}`), signOfLifeMs)
  try {
    const result = join(folder, 'c.bin')
    const question = {
      ...{ method: 'run' as const, file: kernel.file, kernel: kernel.id, known: knownNames },
      ...{ result, rules, cacheBytes: kernel.cacheBytes, memoryBytes: kernel.memoryBytes },
      ...(await handOver(run, folder)),
      raised: await Promise.all(raised.map((scale) => handOverRaised(run, folder, scale)))
    }
    const onPhase = (now: string) => onProgress(0.5, `Python, ${(phase = now)}`)
    const answer = parseAnswer(
      runSchema,
      await host.ask(question, { signal, onPhase }),
      kernel.file
    )
    const read = (path: string) => readProduct(path, problem, kernel.file)
    const afterRaising = await Promise.all(question.raised.map(({ result: path }) => read(path)))
    return { ...answer, output: await read(result), afterRaising }
  } finally {
    clearInterval(alive)
    await rm(folder, { recursive: true, force: true })
  }
}

/** Writes the operands as host.py reads them: each file with its shape. */
async function handOver(
  { kernel, problem, operands, pack }: PythonRun,
  folder: string
): Promise<object> {
  const { m, n, k, output } = problem
  const block = findBlockFormat(problem.format)
  const files: Files = {}
  const write = async (name: string, bytes: Uint8Array, shape: number[]) => {
    files[name] = await writeArray(join(folder, name), bytes, shape)
  }
  for (const [side, rows, element, codes, scales] of [
    ['a', m, block.a, operands.aCodes, operands.aScales],
    ['b', n, block.b, operands.bCodes, operands.bScales]
  ] as const) {
    await write(`${side}Codes`, codes, [rows, k])
    const packed = kernel.codes === 'packed' ? packCodes(element, codes, pack) : codes
    if (packed === codes) files[side] = files[`${side}Codes`]!
    else await write(side, packed, [rows, packed.length / rows])
    const shape = { rows, columns: k / block.scaleBlockSize }
    Object.assign(files, await writeScales(join(folder, side), kernel, side, shape, scales))
    await write(`${side}Table`, bytesOfTable(element), [])
  }
  await write('scaleTable', bytesOfTable(block.scale), [])
  const { tensorScaleA = 1, tensorScaleB = 1 } = operands
  return {
    ...{ m, n, k, output, format: block.id, ...namesOf(block), files },
    tensorScales: [tensorScaleA, tensorScaleB]
  }
}

type Files = Record<string, { path: string; shape: number[] }>

async function writeArray(path: string, bytes: Uint8Array, shape: number[]) {
  await writeFile(`${path}.bin`, bytes)
  return { path: `${path}.bin`, shape }
}

/** Scales of one operand, linear and as the kernel reads them. */
async function writeScales(
  path: string,
  { scaleLayout }: PythonKernel,
  side: 'a' | 'b',
  shape: ScaleShape,
  scales: Uint8Array
): Promise<Files> {
  const linear = await writeArray(`${path}LinearScales`, scales, [shape.rows, shape.columns])
  if (scaleLayout === 'linear')
    return { [`${side}LinearScales`]: linear, [`${side}Scales`]: linear }
  const layout = findLayout(scaleLayout)
  const bytes = packScales(layout, shape, scales)
  const packed = await writeArray(`${path}Scales`, bytes, packedShapes(layout, shape)[1]!)
  return { [`${side}LinearScales`]: linear, [`${side}Scales`]: packed }
}

/** The scales of one operand with one of them raised, and where C goes. */
async function handOverRaised(
  { kernel, problem, operands }: PythonRun,
  folder: string,
  { side, row, block, raised }: NativeRaisedScale
): Promise<{ files: Files; result: string }> {
  const columns = problem.k / findBlockFormat(problem.format).scaleBlockSize
  const rows = side === 'a' ? problem.m : problem.n
  const scales = Uint8Array.from(side === 'a' ? operands.aScales : operands.bScales)
  scales[row * columns + block] = raised
  const path = join(folder, `raised-${side}`)
  const files = await writeScales(path, kernel, side, { rows, columns }, scales)
  return { files, result: `${path}-c.bin` }
}

const namesOf = ({ a, b, scale, scaleBlockSize }: BlockFormat) => ({
  elements: [a.name, b.name],
  scale: scale.name,
  scaleBlock: scaleBlockSize
})

const bytesOfTable = (format: NumberFormat) =>
  new Uint8Array(Float32Array.from(decodeTable(format)).buffer)

/** Two fp4 to a byte, the even one in the low nibble; four fp6 to three bytes; eight bits as they are. */
function packCodes({ storageBits }: NumberFormat, codes: Uint8Array, pack: PythonRun['pack']) {
  if (storageBits === 8) return codes
  return pack(storageBits === 4 ? 'fp4_low_first' : 'fp6_dense', codes)
}

/** C as the host wrote it. Throws a UserError where it is missing or of another size. */
async function readProduct(
  path: string,
  { m, n, output }: NativeOpenRequest,
  file: string
): Promise<Uint8Array> {
  const bytes = await readFile(path).catch(() => undefined)
  if (bytes === undefined) throw new UserError('failed', `${basename(file)}: Python wrote no C.`)
  const expected = m * n * outputBytes[output]!
  if (bytes.length === expected) return new Uint8Array(bytes)
  throw new UserError(
    'failed',
    `${basename(file)}: Python wrote ${bytes.length} bytes of C; ${m} x ${n} in ${output} is ${expected}.`
  )
}

/** A relative standard deviation above this is called noisy, as in native/core/measure.cpp. */
const noisyShare = 0.05

const totalOf = (launches: readonly Launch[]) =>
  launches.reduce((sum, { startNs, endNs }) => sum + endNs - startNs, 0)

/** A measurement from what the host sampled. */
export function pythonMeasurement(
  answer: Answer,
  { cold, fixedSamples }: Rules
): NativeMeasurement {
  const { operandSets: sets, launches, stopReason, configuration } = answer
  const { mean, standardDeviation } = statisticsOf(answer.samplesNs, 0)
  const isNoisy = fixedSamples === 0 && standardDeviation / mean > noisyShare
  return {
    samplesNs: Float64Array.from(answer.samplesNs),
    samplesMHz: new Float64Array(),
    discarded: 0,
    launchesPerSample: 1,
    operandSets: sets,
    cacheMode: cold ? `cold: ${sets} operand set${sets === 1 ? '' : 's'}` : 'hot',
    timingSource: answer.clock,
    stopReason: configuration ? `${stopReason}; ${configuration}` : stopReason,
    warmupNs: answer.warmupNs,
    compileSeconds: 0,
    meanWatts: 0,
    meanTemperatureC: 0,
    badges: [...(isNoisy ? ['noisy'] : []), ...(stopReason === 'timed out' ? [stopReason] : [])],
    launches,
    cuptiNs: answer.launchSource === 'CUPTI' ? totalOf(launches) : 0,
    sustainedNs: answer.sustainedNs,
    sustainedCount: answer.sustainedCount,
    sustainedWatts: 0,
    joulesPerLaunch: 0
  }
}
