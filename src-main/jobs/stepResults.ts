/** From what the engine answered to what run.json keeps. */
import type { Measurement, Step, Validation } from '@shared/contract/run'
import type {
  NativeMeasurement,
  NativeValidateRequest,
  NativeValidation
} from '../engine/nativeBinding'
import { launchTimes, totalOf } from '@shared/measurement/launchTimes'
import { statisticsOf, median } from '@shared/measurement/statistics'
import { workOf, type Asked, type Reads } from '@shared/measurement/work'
import type { PlannedStep } from './plan'

export function emptyStep(planned: PlannedStep, spec: Asked): Step {
  const { format, m, n, k, groups, choice } = planned
  return {
    index: planned.index,
    format: planned.format,
    kernel: planned.kernel.id,
    provider: planned.kernel.provider,
    baseline: planned.kernel.baseline,
    level: planned.level,
    m: planned.m,
    n: planned.n,
    k: planned.k,
    ...(groups && { groups }),
    disposition: 'not-run',
    reason: '',
    seconds: 0,
    sourceHash: planned.kernel.sourceHash,
    compileOptions: planned.kernel.compileOptions,
    instruction: planned.instruction,
    ...(choice && { choice }),
    work: workOf(format, m, n, k, { ...spec, groups }, planned.kernel)
  }
}

export function toValidation(native: NativeValidation, request: NativeValidateRequest): Validation {
  const { counted, withinStated, statedError, errorBeforeRounding, ...figures } = native
  return {
    ...figures,
    ...(statedError && { withinStated, statedError, errorBeforeRounding }),
    ...(counted?.labels.length && { counted }),
    atol: request.atol,
    rtol: request.rtol,
    rule: request.rule,
    launchNs: Array.from(native.launchNs),
    errorMap: Array.from(native.errorMap, (value) => Number(value.toPrecision(3)))
  }
}

/** Between-round spread of medians above this share is called unstable. */
const maxRoundSpread = 0.02

const mean = (values: number[]) =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

/** One measurement from its rounds; every sample counts the same. */
export function toMeasurement(
  rounds: NativeMeasurement[],
  step: Step,
  kernel: Reads,
  context: { method: string; spec: Asked & { distribution: string } }
): Measurement {
  const first = rounds[0]!
  const samples = rounds.flatMap((round) => Array.from(round.samplesNs))
  const clocks = rounds.flatMap((round) => Array.from(round.samplesMHz))
  const timeNs = statisticsOf(
    samples,
    rounds.reduce((sum, round) => sum + round.discarded, 0)
  )
  const roundMediansNs = rounds.map((round) => median(round.samplesNs))
  const badges = new Set(rounds.flatMap((round) => round.badges))
  const spread = (Math.max(...roundMediansNs) - Math.min(...roundMediansNs)) / timeNs.median
  if (spread > maxRoundSpread) badges.add('unstable')
  if (rounds.some((round) => round.stopReason === 'timed out')) badges.add('timed out')
  if (context.spec.distribution === 'zeros') badges.add('power-optimistic')
  const { format, m, n, k, groups } = step
  const work = step.work ?? workOf(format, m, n, k, { ...context.spec, groups }, kernel)
  const { launches, launchSource } = rounds.find((round) => round.launches.length > 0) ?? first
  const sustained = rounds.find((round) => round.sustainedNs > 0) ?? first
  const { samplesNs: _ns, samplesMHz: _mhz, discarded: _discarded, ...figures } = first
  return {
    // What is not said below is as in the first round.
    ...figures,
    method: context.method,
    timeNs,
    roundMediansNs,
    meanMHz: mean(clocks),
    meanWatts: mean(rounds.map((round) => round.meanWatts)),
    meanTemperatureC: mean(rounds.map((round) => round.meanTemperatureC)),
    stopReason: rounds.at(-1)!.stopReason,
    warmupNs: rounds.reduce((sum, round) => sum + round.warmupNs, 0),
    badges: [...badges],
    launches,
    launchSource,
    cuptiNs: launchSource === 'CUPTI' ? totalOf(launchTimes(launches)) : 0,
    sustainedNs: sustained.sustainedNs,
    sustainedCount: sustained.sustainedCount,
    sustainedWatts: sustained.sustainedWatts,
    joulesPerLaunch: sustained.joulesPerLaunch,
    flops: work.flops,
    bytes: work.bytes,
    paddedBytes: work.paddedBytes,
    // FLOP per nanosecond is GFLOP/s.
    tflops: work.flops / timeNs.median / 1e3,
    gbytesPerSecond: work.bytes / timeNs.median
  }
}
