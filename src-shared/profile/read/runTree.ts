/** The one tree of a run: what is written to profile.hatchet, exported, shown and printed is this. */
import type { Device } from '../../contract/devices'
import type { Measurement, Run, Step } from '../../contract/run'
import { findBlockFormat } from '../../formats/blockFormat'
import { flopsMetricOf } from '../../measurement/instructions'
import { launchTimes, totalOf } from '../../measurement/launchTimes'
import type { WorkKind } from '../../measurement/pictureColours'
import { ownLaunchNs } from '../../measurement/validationFigures'
import { workOfStep } from '../../measurement/workOfStep'
import {
  launchesProperty,
  operationPath,
  operationProperty,
  samplesMetric,
  totalSampledMetric,
  workKindProperty
} from '../tree/operation'
import { PathTree } from '../tree/pathTree'
import { countMetric, timeMetric, type ProfileDevice, type ProfileTree } from '../tree/profileTree'

/**
 * Run kind > format > K, or layers of a model > operation > launched kernels. An operation counts 1 and has the time of one: the median of a
 * sweep's samples, so that rates, averages and shares are of one operation in any viewer; `total sampled (ns)` and
 * `samples` say what was measured in all. Where its launches were recorded, each is a node with its share of the time.
 * A run in which nothing was timed has a ROOT alone.
 */
export function treeOfRun(run: Run): ProfileTree {
  const tree = new PathTree()
  const device = run.device && profileDevice(run.device)
  for (const step of run.steps) {
    if (device) addOperation(tree, run, step, device)
  }
  const finished = tree.finish('run', device ? [device] : [], true)
  if (run.status !== 'done')
    finished.warnings.push(`Run ${run.id} is ${run.status}: the steps that it finished are here.`)
  if (finished.count === 1) finished.warnings.push(`No kernel was timed in run ${run.id}.`)
  return finished
}

function addOperation(tree: PathTree, run: Run, step: Step, device: ProfileDevice): void {
  const ns = operationNs(run, step)
  if (!(ns > 0)) return
  const node = tree.at(operationPath(run, step))
  const { measurement } = step
  const launches = measurement?.launches ?? []
  // A CPU kernel is launched as itself: there is nothing to tell apart.
  const isItself = launches.every(({ name }) => name === step.kernel)
  tree.setText(node, operationProperty, `${step.kernel} ${step.format}`)
  if (launches.length === 0) tree.setText(node, launchesProperty, 'not recorded')
  // A baseline multiplies the same values without their blocks' scales.
  const kind: WorkKind = step.baseline ? 'dense' : 'block-scaled'
  tree.setText(node, workKindProperty, kind)
  for (const { at, share } of launchNodes(tree, node, isItself ? [] : launches)) {
    tree.addNumber(at, timeMetric, ns * share, true)
    setDevice(tree, at, device)
  }
  // Also on the operation: proton-viewer gives util only to rows with a device of their own.
  setDevice(tree, node, device)
  tree.addNumber(node, countMetric, 1, false)
  if (measurement) {
    const { mean, samples } = measurement.timeNs
    tree.addNumber(node, totalSampledMetric, mean * samples, true)
    tree.addNumber(node, samplesMetric, samples, false)
  }
  addValidation(tree, node, run, step)
  const { flops, bytes } = workOfStep(step, run.spec)
  // By the width of the instruction that multiplied: util then takes the peak of the unit that did the work.
  const width = flopsMetricOf(step.instruction) ?? findBlockFormat(step.format).flopsMetric
  tree.addNumber(node, 'flops', flops, true)
  tree.addNumber(node, width, flops, true)
  tree.addNumber(node, 'bytes', bytes, false)
}

/** What a validation took beside the kernel's own launches, so that none of it is taken for the kernel's time. */
function addValidation(tree: PathTree, node: number, run: Run, { validation }: Step): void {
  if (run.kind !== 'validate' || !validation) return
  const wall = {
    reference: validation.oracleSeconds,
    comparison: validation.comparisonSeconds,
    perturbation: validation.perturbationSeconds
  }
  for (const [what, seconds] of Object.entries(wall)) {
    if (seconds !== undefined) tree.addNumber(node, `${what} (ns)`, seconds * 1e9, true)
  }
}

/** A sweep's point that was validated but not timed has no time worth showing; a validation's is its kernel's own. */
function operationNs(run: Run, { measurement, validation }: Step): number {
  if (measurement) return measurement.timeNs.median
  return run.kind === 'validate' ? (ownLaunchNs(validation) ?? 0) : 0
}

/** Where the operation's time goes: to each kernel by its share, or to the operation itself where none is known. */
function launchNodes(tree: PathTree, node: number, launches: Measurement['launches']) {
  const times = launchTimes(launches)
  const total = totalOf(times)
  if (!(total > 0)) return [{ at: node, share: 1 }]
  return launches.map(({ name }, at) => ({ at: tree.child(node, name), share: times[at]! / total }))
}

function setDevice(tree: PathTree, node: number, device: ProfileDevice): void {
  tree.setText(node, 'device_id', device.id)
  tree.setText(node, 'device_type', device.type)
}

/** Proton's device element: 'sm_90' is arch '90', clocks are in kHz. */
function profileDevice(device: Device): ProfileDevice {
  const number = (key: string) => {
    const value = device.properties[key]
    return typeof value === 'number' ? value : 0
  }
  return {
    type: device.kind.toUpperCase(),
    id: device.id.split(':')[1] ?? '0',
    arch: device.architecture.replace(/^sm_(\d+)[af]?$/, '$1'),
    busWidthBits: number('memoryBusBits'),
    clockRateKHz: Math.round(number('clockMHz') * 1000),
    memoryClockRateKHz: Math.round(number('memoryClockMHz') * 1000),
    multiprocessors: number('smCount') || number('cores')
  }
}
