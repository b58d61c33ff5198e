/** A product by a Python kernel: operands handed over as files, C taken back as one, samples as a measurement. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import * as v from 'valibot'
import { launchSchema } from '@shared/contract/run'
import { matricesOf } from '@shared/batch'
import { UserError } from '@shared/errors'
import { statisticsOf } from '@shared/measurement/statistics'
import { outputBytes } from '@shared/measurement/work'
import type {
  MeasureRequest,
  NativeMeasurement,
  NativeOpenRequest,
  NativeRaisedScale
} from './nativeBinding'
import { knownNames, parseAnswer, protocolSchema } from './pythonKernels'
import type { PythonKernel } from './pythonKernel'
import { handedOperation, handOver, handOverRaised, type OperandFiles } from './pythonOperands'
import type { PythonHost } from './pythonHost'

const runSchema = v.object({
  protocol: protocolSchema,
  samplesNs: v.pipe(v.array(v.number()), v.nonEmpty()),
  launchesPerSample: v.number(),
  stopReason: v.string(),
  /** The best of the kernel's configurations, for the next run of this product; null where it has none. */
  chosen: v.nullable(v.object({ configuration: v.unknown(), words: v.string() })),
  warmupNs: v.number(),
  operandSets: v.number(),
  /** Whether the cache was written over before each sample, sets being too few for it. */
  flushed: v.optional(v.boolean(), false),
  clock: v.string(),
  launches: v.array(launchSchema),
  /** 'CUPTI' where the launches' times come from there. */
  launchSource: v.string(),
  sustainedNs: v.number(),
  sustainedCount: v.number()
})
type Answer = v.InferOutput<typeof runSchema>

export type Rules = Omit<MeasureRequest, 'kernel'>

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
  operands: OperandFiles
  rules: Rules
}

/** C in the problem's output type, and that of each raised scale. */
interface Products {
  output: Uint8Array
  afterRaising: Uint8Array[]
}

type OnProgress = (fraction: number, phase: string) => void

/** What the kernel answered about its times. Throws a UserError. */
export function timePython(
  host: PythonHost,
  run: PythonRun,
  onProgress: OnProgress,
  signal: AbortSignal
): Promise<Answer> {
  return ask(host, run, { result: null, raised: [] }, onProgress, signal)
}

/** The same with its product, and one more for each of the scales that are raised one after the other. */
export async function runPython(
  host: PythonHost,
  run: PythonRun,
  raised: readonly NativeRaisedScale[],
  onProgress: OnProgress,
  signal: AbortSignal
): Promise<Answer & Products> {
  const { kernel, operands } = run
  const folder = await mkdtemp(join(tmpdir(), 'blockscope-product-'))
  try {
    const result = join(folder, 'c.bin')
    const changed = []
    for (const scale of raised) changed.push(await handOverRaised(kernel, operands, scale, folder))
    const answer = await ask(host, run, { result, raised: changed }, onProgress, signal)
    const read = (path: string) => readProduct(path, operands.problem, kernel.file)
    const afterRaising = await Promise.all(changed.map(({ result: path }) => read(path)))
    return { ...answer, output: await read(result), afterRaising }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function ask(
  host: PythonHost,
  { kernel, operands, rules }: PythonRun,
  products: { result: string | null; raised: object[] },
  onProgress: OnProgress,
  signal: AbortSignal
): Promise<Answer> {
  const changedAt = (await stat(kernel.file)).mtimeMs
  const product = JSON.stringify([kernel, changedAt, operands.problem])
  let phase = 'operands'
  const alive = setInterval(() => onProgress(0.5, `Python, ${phase}`), signOfLifeMs)
  try {
    const question = {
      ...{ method: 'run' as const, file: kernel.file, kernel: kernel.id, known: knownNames },
      ...{ rules, cacheBytes: kernel.cacheBytes, memoryBytes: kernel.memoryBytes },
      ...{ chosen: host.chosen.get(product) ?? null, ...products },
      ...(await handOver(kernel, operands))
    }
    const onPhase = (now: string) => onProgress(0.5, `Python, ${(phase = now)}`)
    const said = await host.ask(question, { signal, onPhase })
    const answer = parseAnswer(runSchema, said, kernel.file)
    host.chosen.set(product, answer.chosen)
    return answer
  } finally {
    clearInterval(alive)
  }
}

/** C as the host wrote it. Throws a UserError where it is missing or of another size. */
async function readProduct(
  path: string,
  problem: NativeOpenRequest,
  file: string
): Promise<Uint8Array> {
  const { m, n, output } = problem
  const bytes = await readFile(path).catch(() => undefined)
  if (bytes === undefined) throw new UserError('failed', `${basename(file)}: Python wrote no C.`)
  const { batch } = handedOperation(problem)
  const expected = matricesOf(batch) * m * n * outputBytes[output]!
  if (bytes.length === expected) return new Uint8Array(bytes)
  throw new UserError(
    'failed',
    `${basename(file)}: Python wrote ${bytes.length} bytes of C; ${[...batch, m, n].join(' x ')} in ${output} is ${expected}.`
  )
}

/** A relative standard deviation above this is called noisy, as in native/core/measure.cpp. */
const noisyShare = 0.05

/** As planCold of native/core/measure.cpp says it (test/fixtures/sampling/plans.json). */
function coldText(sets: number, isFlushed: boolean): string {
  if (sets === 1 && isFlushed) return 'cold: cache flush'
  const inTurn = `cold: ${sets} operand set${sets === 1 ? '' : 's'}`
  return isFlushed ? `${inTurn}, cache flush` : inTurn
}

/** A measurement from what the host sampled. */
export function pythonMeasurement(
  answer: Answer,
  { cold, fixedSamples }: Rules
): NativeMeasurement {
  const { operandSets: sets, launches, launchesPerSample, stopReason, chosen } = answer
  const { mean, standardDeviation } = statisticsOf(answer.samplesNs, 0)
  const isNoisy = fixedSamples === 0 && standardDeviation / mean > noisyShare
  return {
    samplesNs: Float64Array.from(answer.samplesNs),
    samplesMHz: new Float64Array(),
    discarded: 0,
    launchesPerSample,
    operandSets: sets,
    cacheMode: cold ? coldText(sets, answer.flushed) : 'hot',
    timingSource: answer.clock,
    stopReason: chosen ? `${stopReason}; ${chosen.words}` : stopReason,
    warmupNs: answer.warmupNs,
    compileSeconds: 0,
    meanWatts: 0,
    meanTemperatureC: 0,
    badges: [
      ...(launchesPerSample > 1 ? ['grouped'] : []),
      ...(isNoisy ? ['noisy'] : []),
      ...(stopReason === 'timed out' ? [stopReason] : [])
    ],
    launches,
    launchSource: answer.launchSource,
    sustainedNs: answer.sustainedNs,
    sustainedCount: answer.sustainedCount,
    sustainedWatts: 0,
    joulesPerLaunch: 0
  }
}
