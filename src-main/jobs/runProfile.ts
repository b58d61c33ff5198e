import type { Device } from '@shared/contract/devices'
import type { Measurement, Run, Step } from '@shared/contract/run'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { PathTree } from '@shared/profile/pathTree'
import {
  countMetric,
  timeMetric,
  type ProfileDevice,
  type ProfileTree
} from '@shared/profile/profileTree'
import { writeHatchet } from '@shared/profile/writeHatchet'
import { workOf } from '@shared/measurement/work'
import type { RunWriter } from '../store/runWriter'

export const profileName = 'profile.hatchet'

/** Writes the run's profile.hatchet. A run without a single timed kernel has none. */
export async function writeProfile(writer: RunWriter): Promise<void> {
  const tree = profileOfRun(writer.run)
  if (tree.count > 1) await writer.file(profileName, writeHatchet(tree))
}

/**
 * The hatchet tree of a run: run kind > format > K > kernel, with the sums over all samples of `time (ns)`, `count`,
 * `flops`, the width-specific key, and `bytes` with scales. An operation of several kernels has one child for each.
 */
export function profileOfRun(run: Run): ProfileTree {
  const tree = new PathTree()
  const device = run.device && profileDevice(run.device)
  for (const step of run.steps) {
    if (device) addStep(tree, run, step, device)
  }
  return tree.finish('built', device ? [device] : [], true)
}

function addStep(tree: PathTree, run: Run, step: Step, device: ProfileDevice): void {
  const { measurement, validation } = step
  // A sweep's point that was validated but not timed has no time worth showing; a validation's is that of its one run.
  const onceNs = run.kind === 'validate' ? (validation?.kernelSeconds ?? 0) * 1e9 : 0
  const totalNs = measurement ? measurement.timeNs.mean * measurement.timeNs.samples : onceNs
  if (totalNs === 0) return
  const count = measurement?.timeNs.samples ?? 1
  const scope = tree.at([run.kind, step.format, `K=${step.k}`])
  const node = tree.child(scope, `${step.kernel} [M=${step.m}, N=${step.n}, K=${step.k}]`)
  const integer = (at: number, name: string, value: number) =>
    tree.addNumber(at, name, Math.round(value), false)
  for (const { at, share } of launchNodes(tree, node, measurement)) {
    integer(at, timeMetric, totalNs * share)
    integer(at, countMetric, count)
    tree.setText(at, 'device_id', device.id)
    tree.setText(at, 'device_type', device.type)
  }
  const work = workOf(step.format, step.m, step.n, step.k, run.spec.output, 'linear')
  const width = step.baseline ? 'flops16' : findBlockFormat(step.format).flopsMetric
  tree.addNumber(node, 'flops', work.flops * count, true)
  tree.addNumber(node, width, work.flops * count, true)
  integer(node, 'bytes', work.bytes * count)
}

/** Where the operation's time goes: the node itself, or a child for each of several kernels, by its share. */
function launchNodes(tree: PathTree, node: number, measurement: Measurement | undefined) {
  const launches = measurement?.launches ?? []
  if (launches.length < 2) return [{ at: node, share: 1 }]
  const total = launches.reduce((sum, launch) => sum + launch.endNs - launch.startNs, 0)
  return launches.map((launch) => ({
    at: tree.child(node, launch.name),
    share: (launch.endNs - launch.startNs) / total
  }))
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
    arch: device.architecture.replace(/^sm_/, ''),
    busWidthBits: number('memoryBusBits'),
    clockRateKHz: Math.round(number('clockMHz') * 1000),
    memoryClockRateKHz: Math.round(number('memoryClockMHz') * 1000),
    multiprocessors: number('smCount') || number('cores')
  }
}
