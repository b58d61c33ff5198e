/**
 * Operations of a run in its tree. An operation is one product as its caller sees it; the kernels launched for it are
 * nodes below it, and its row is the whole of them wherever rows are rearranged.
 */
import { groupsText, type Groups } from '../../contract/groups'
import type { Run, Step } from '../../contract/run'
import { layerName, layersOf } from '../../measurement/modelTime'
import { textColumn, type ProfileTree } from './profileTree'

/** Text property of an operation's node: which kernel and format it is. */
export const operationProperty = 'operation'
/** Text property of an operation whose kernels are not known one by one. */
export const launchesProperty = 'launches'
/**
 * Text property of an operation: which kind of work it is (measurement/pictureColours), as the run knows it. Names of what it
 * launches do not tell: each kernel of ours calls its product `multiply`.
 */
export const workKindProperty = 'kind of work'
/** What the samples of a sweep's operation took together; its time is that of one, the median. */
export const totalSampledMetric = 'total sampled (ns)'
export const samplesMetric = 'samples'

/** 'wgmma mxfp4 [M=8192, N=8192, K=8192]'; the format is in it so that rows put together by name never mix formats. */
export function operationName(step: {
  kernel: string
  format: string
  m: number
  n: number
  k: number
  groups?: Groups | undefined
}): string {
  const groups = step.groups ? `, ${groupsText(step.groups)}` : ''
  return `${step.kernel} ${step.format} [M=${step.m}, N=${step.n}, K=${step.k}${groups}]`
}

/** Where a step's operation stands in its run's tree: run kind, format, K or layers of a model, operation. */
export function operationPath(run: Pick<Run, 'kind' | 'spec'>, step: Step): string[] {
  const layers = layersOf(run.spec, step)
  const place = layers.length > 0 ? layers.map(layerName).join(', ') : `K=${step.k}`
  return [run.kind, step.format, place, operationName(step)]
}

/** Per node the operation it is part of, or the node itself. */
export function wholeOf(tree: ProfileTree): Int32Array {
  const whole = Int32Array.from({ length: tree.count }, (_, node) => node)
  const marks = textColumn(tree, operationProperty)
  if (!marks) return whole
  for (let node = 0; node < tree.count; node++) {
    if (marks.values[node]! < 0) continue
    whole.fill(node, node, tree.end[node])
    node = tree.end[node]! - 1
  }
  return whole
}
