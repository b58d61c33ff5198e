/** A run in the Trace Event Format, for Perfetto and chrome://tracing. */
import type { Launch, Run, Step } from '../../contract/run'
import { operationName, operationPath } from '../tree/operation'
import { childrenOf, nodeName, timeMetric, type ProfileTree } from '../tree/profileTree'
import { rollUp } from '../tree/rollUp'
import { ownProfilePieces } from './writeChromeTrace'

/** Between two operations, so that neighbours stay apart on the screen. */
const gapUs = 1

/**
 * One operation of every step, one after another: a process per format, a thread per kernel, the launches inside. An
 * operation lasts as long as in the run's tree. Its launches were recorded once, and the engine's clock starts anew with
 * each problem: where they lie within the operation is drawn to the operation's scale, how long that once took is said.
 * @param tree the run's, which opens again from the trace
 */
export function traceOfRun(run: Run, tree: ProfileTree): string {
  const nodeAt = (parent: number, name: string) =>
    childrenOf(tree, parent).find((child) => nodeName(tree, child) === name) ?? parent
  const nodeOf = (step: Step) => operationPath(run, step).reduce(nodeAt, 0)
  const isTimed = (step: Step) => nodeName(tree, nodeOf(step)) === operationName(step)
  const times = rollUp(tree, timeMetric)
  const timed = run.steps.filter(isTimed)
  const formats = [...new Set(timed.map(({ format }) => format))]
  const kernels = [...new Set(timed.map(({ kernel }) => kernel))]
  const events: object[] = formats.map((format, pid) => named('process_name', pid, 0, format))
  const lanes = new Set<string>()
  let atUs = 0
  for (const step of timed) {
    const node = nodeOf(step)
    const place = { pid: formats.indexOf(step.format), tid: kernels.indexOf(step.kernel) }
    const lane = `${place.pid} ${place.tid}`
    if (!lanes.has(lane)) events.push(named('thread_name', place.pid, place.tid, step.kernel))
    lanes.add(lane)
    const durationUs = times[node]! / 1000
    events.push({
      ph: 'X',
      name: operationName(step),
      cat: step.format,
      ...place,
      ts: atUs,
      dur: durationUs,
      args: { ...facts(step), node }
    })
    events.push(...counterEvents(step, formats.length, [atUs, durationUs]))
    events.push(...launchEvents(step, place, [atUs, durationUs], (name) => nodeAt(node, name)))
    atUs += durationUs + gapUs
  }
  if (events.some((event) => 'ph' in event && event.ph === 'C'))
    events.push(named('process_name', formats.length, 0, run.device?.name ?? 'device'))
  const otherData = {
    run: run.id,
    device: run.device?.name ?? '',
    command: run.command,
    time: 'one operation per step, laid out in order'
  }
  const lines = events.map((event) => JSON.stringify(event)).join(',\n')
  const own = [...ownProfilePieces(tree)].join('')
  return `{"displayTimeUnit":"ns","otherData":${JSON.stringify(otherData)},${own}"traceEvents":[\n${lines}\n]}\n`
}

/** What the device was at while the step was measured: means over its samples, so steps of a stair. */
function counterEvents(
  { measurement }: Step,
  pid: number,
  [atUs, durationUs]: [number, number]
): object[] {
  const { meanMHz = 0, meanWatts = 0 } = measurement ?? {}
  const means = { 'Clock (MHz)': meanMHz, 'Power (W)': meanWatts }
  return Object.entries(means).flatMap(([name, value]) =>
    value > 0
      ? [atUs, atUs + durationUs].map((ts) => ({ ph: 'C', name, pid, ts, args: { value } }))
      : []
  )
}

const named = (name: string, pid: number, tid: number, value: string) => ({
  ph: 'M',
  name,
  pid,
  tid,
  args: { name: value }
})

/** From the first start to the last end, ns. */
function spanOf(launches: readonly Launch[]): { start: number; length: number } {
  const start = Math.min(...launches.map(({ startNs }) => startNs))
  return { start, length: Math.max(...launches.map(({ endNs }) => endNs)) - start }
}

function launchEvents(
  step: Step,
  place: { pid: number; tid: number },
  [atUs, durationUs]: [number, number],
  nodeOf: (name: string) => number
): object[] {
  const launches = step.measurement?.launches ?? []
  const { start, length } = spanOf(launches)
  const scale = length > 0 ? durationUs / length : 0
  return launches.map((launch) => ({
    ph: 'X',
    name: launch.name,
    cat: 'launch',
    ...place,
    ts: atUs + (launch.startNs - start) * scale,
    dur: (launch.endNs - launch.startNs) * scale,
    args: {
      'recorded (ns)': launch.endNs - launch.startNs,
      stream: launch.stream,
      grid: launch.grid.join(' x '),
      block: launch.block.join(' x '),
      'registers per thread': launch.registersPerThread,
      'shared memory (bytes)': launch.sharedMemoryBytes,
      node: nodeOf(launch.name)
    }
  }))
}

function facts(step: Step): Record<string, string | number> {
  const { measurement: m, validation } = step
  const found = m && {
    'median (ns)': m.timeNs.median,
    'q1 (ns)': m.timeNs.q1,
    'q3 (ns)': m.timeNs.q3,
    samples: m.timeNs.samples,
    'TFLOP/s': m.tflops,
    'GB/s': m.gbytesPerSecond,
    method: m.method,
    badges: m.badges.join(', ')
  }
  return {
    result: step.disposition,
    level: step.level,
    ...found,
    ...(validation && { 'normwise error': String(validation.normwise) })
  }
}
