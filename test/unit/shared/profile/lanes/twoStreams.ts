/** Kernels on two streams, and windows of their time: what tests of lanes look at. */
import { groupsBy } from '@shared/profile/lanes/groups'
import { lanesOf } from '@shared/profile/lanes/lanes'
import { AllRowSums } from '@shared/profile/lanes/rowSums'
import {
  kernelNames,
  laneOf,
  seeded,
  shuffled,
  streamSlices,
  timelineOf
} from './generatedTimeline'

export const random = seeded(14)
const originNs = 3.2e12
export const given = shuffled(
  [...streamSlices(0, 4000, random, originNs), ...streamSlices(1, 300, random, originNs + 50_000)],
  random
)
export const timeline = timelineOf([laneOf('stream 7'), laneOf('stream 20')], given)
export const lanes = lanesOf(timeline)
const groups = groupsBy(timeline, kernelNames, (name) => kernelNames.indexOf(name))
export const sums = new AllRowSums(lanes, groups)

export const windows = Array.from({ length: 60 }, (_, at) => {
  const length = lanes.lengthNs / 2 ** (at % 24)
  const startNs = random() * (lanes.lengthNs - length)
  return { startNs, endNs: startNs + length }
})
