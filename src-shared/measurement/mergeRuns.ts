/** Several runs of one kind of device as one: equal points are pooled, and each keeps where it was measured. */
import { commandOf } from '../contract/command'
import { shapeKey } from '../contract/groups'
import type { SweepSpec } from '../contract/jobs'
import { operationText } from '../contract/operation'
import type { Measurement, Place, Run, Step } from '../contract/run'
import type { Shapes } from '../contract/shapes'
import { groupedBy } from '../groupedBy'
import { statisticsOf } from './statistics'

export interface Shard {
  run: Run
  /** Of a step by its index: nanoseconds per operation, and the clocks of the samples. */
  samples(step: number): { samplesNs: number[]; samplesMHz: number[] }
}

const keyOf = (step: Step) => [step.format, step.kernel, shapeKey(step)].join(' ')

/** Worst first: one that failed anywhere has failed. */
const severity = ['error', 'incorrect', 'not-verified', 'not-run', 'cancelled', 'not-supported']

/** What runs have alike that become one: their device, what was computed of which operands, how it was timed, and the model. */
export function alikeKey({ device, spec }: Pick<Run, 'device' | 'spec'>): string {
  const { output, distribution, shapes } = spec
  const { source, tp, groupLayout } = shapes ?? {}
  const mode = spec.kind === 'sweep' ? spec.mode : ''
  const model = [shapes !== undefined, source, tp, groupLayout]
  return JSON.stringify([device?.name, operationText(spec), output, distribution, mode, model])
}

/** `shards`: runs of sweeps, at least one, alike (alikeKey). The result has the id, date and label of `as`. */
export function mergeRuns(
  shards: readonly Shard[],
  as: Pick<Run, 'id' | 'label' | 'createdAt' | 'notes'>
): Run {
  const [first] = shards
  const all = shards.flatMap((shard) => shard.run.steps.map((step) => ({ step, shard })))
  const found = groupedBy(all, ({ step }) => keyOf(step))
  const steps = [...found.values()].map((points, index) => pooled(points, index))
  const hosts = [...new Set(shards.map(({ run }) => run.host.name))]
  const { resumes: _resumes, ...spec } = specOfAll(shards.map(({ run }) => run.spec as SweepSpec))
  return {
    ...first!.run,
    ...as,
    host: { ...first!.run.host, name: hosts.length === 1 ? hosts[0]! : `${hosts.length} hosts` },
    spec,
    command: commandOf(spec),
    steps,
    stepsPlanned: steps.length,
    status: 'done',
    reason: '',
    events: shards.map(({ run }) => ({
      at: run.finishedAt ?? run.createdAt,
      message: `Collected ${run.id} of ${run.device?.id ?? 'a device'} of ${run.host.name}.`
    }))
  }
}

function pooled(points: readonly { step: Step; shard: Shard }[], index: number): Step {
  const worst = points.reduce((one, other) => (rank(other.step) < rank(one.step) ? other : one))
  const measured = points.filter(({ step }) => step.measurement)
  const places = measured.map(({ step, shard }) => placeOf(step, shard.run))
  const seconds = points.reduce((sum, { step }) => sum + step.seconds, 0)
  const { measurement: _own, ...rest } = worst.step
  if (measured.length === 0) return { ...rest, index, seconds }
  return { ...rest, index, seconds, measurement: measurementOf(measured), places }
}

function rank({ disposition }: Step): number {
  const at = severity.indexOf(disposition)
  return at < 0 ? severity.length : at
}

function placeOf({ measurement, sourceHash, compileOptions }: Step, run: Run): Place {
  const { timeNs, meanMHz, meanWatts, meanTemperatureC } = measurement!
  const { id = '', name = '', properties } = run.device ?? {}
  const uuid = String(properties?.['uuid'] ?? '')
  return {
    ...{ run: run.id, host: run.host.name, deviceId: id, device: name, uuid },
    ...{ timeNs, meanMHz, meanWatts, meanTemperatureC, sourceHash, compileOptions }
  }
}

function measurementOf(points: readonly { step: Step; shard: Shard }[]): Measurement {
  const all = points.map(({ step, shard }) => ({
    ...step.measurement!,
    ...shard.samples(step.index)
  }))
  const [first] = all
  const discarded = all.reduce((sum, { timeNs }) => sum + timeNs.discarded, 0)
  const samples = all.flatMap(({ samplesNs }) => samplesNs)
  // Without the samples of all (runs of other programs), what their medians say.
  const isKept = all.every(({ samplesNs }) => samplesNs.length > 0)
  const timeNs = statisticsOf(isKept ? samples : all.map((one) => one.timeNs.median), discarded)
  const { samplesNs: _ns, samplesMHz: _mhz, ...figures } = first!
  return {
    ...figures,
    timeNs,
    roundMediansNs: all.flatMap(({ roundMediansNs }) => roundMediansNs),
    meanMHz: mean(all.map(({ meanMHz }) => meanMHz)),
    meanWatts: mean(all.map(({ meanWatts }) => meanWatts)),
    meanTemperatureC: mean(all.map(({ meanTemperatureC }) => meanTemperatureC)),
    badges: [...new Set(all.flatMap(({ badges }) => badges))],
    tflops: figures.flops / timeNs.median / 1e3,
    gbytesPerSecond: figures.bytes / timeNs.median
  }
}

const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** What all were asked for together. */
function specOfAll(specs: readonly SweepSpec[]): SweepSpec {
  const union = <T>(values: (spec: SweepSpec) => readonly T[]) => [
    ...new Set(specs.flatMap(values))
  ]
  return {
    ...specs[0]!,
    formats: union((spec) => spec.formats),
    kernels: union((spec) => spec.kernels),
    providers: union((spec) => spec.providers),
    mValues: union((spec) => spec.mValues),
    nValues: union((spec) => spec.nValues),
    kValues: union((spec) => spec.kValues),
    ...(specs[0]!.shapes && { shapes: shapesOfAll(specs.map((spec) => spec.shapes!)) })
  }
}

/** Of one model: every layer of every number of tokens once. */
function shapesOfAll(all: readonly Shapes[]): Shapes {
  const rows = new Map(all.flatMap((one) => one.rows.map((row) => [JSON.stringify(row), row])))
  const tokens = new Set(all.flatMap((one) => one.tokens ?? []))
  return {
    ...all[0]!,
    ...(all[0]!.tokens && { tokens: [...tokens].sort((a, b) => a - b) }),
    rows: [...rows.values()]
  }
}
