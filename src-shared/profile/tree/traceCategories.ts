/** What the categories of trace events mean, in the spellings of all years and in lower case. */

import type { Lane } from './timeline'

/** What runs on a GPU, and as what it is shown. */
export const gpuKinds: ReadonlyMap<string, string> = new Map([
  ['kernel', 'kernel'],
  ['gpu_memcpy', 'copy'],
  ['memcpy', 'copy'],
  ['gpu_memset', 'set'],
  ['memset', 'set'],
  ['gpu_graph', 'graph']
])

/** Ranges that a profiler draws on a stream around what runs there. */
export const gpuAnnotation = 'gpu_user_annotation'

/** Calls of a driver or a runtime, which launch what runs on a GPU. */
export const launchKinds: ReadonlySet<string> = new Set([
  'cuda_runtime',
  'cuda_driver',
  'hip_runtime',
  'hip_driver',
  'runtime',
  'xpu_runtime',
  'mtia_runtime',
  'privateuse1_runtime',
  'privateuse1_driver'
])

/**
 * Lanes of devices by their names, as XLA writes them: of '/device:GPU:0', 'Stream #7' has what ran and the others retell it
 * by operation and module; a TPU has no streams, its 'XLA Ops' are what ran.
 * @returns per lane: 'host', 'device' where it retells, 'work' where it has what ran
 */
export function deviceLanes(lanes: readonly Lane[]): ('host' | 'device' | 'work')[] {
  const isDevice = lanes.map((lane) => /^\/device:(?!CPU)/.test(lane.process))
  const isOnDevice = (name: RegExp) =>
    lanes.map((lane, at) => isDevice[at]! && name.test(lane.name))
  const marks = [isOnDevice(/^Stream\b/i), isOnDevice(/^XLA Ops$/)]
  const isWork = marks.find((mark) => mark.some(Boolean)) ?? isDevice
  return lanes.map((_, at) => (isWork[at] ? 'work' : isDevice[at] ? 'device' : 'host'))
}
