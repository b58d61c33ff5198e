/** A run in the Trace Event Format, for Perfetto and chrome://tracing. */
import type { Run, Step } from '@shared/contract/run'

export const traceName = 'trace.json'

/** Between two operations, so that neighbours stay apart on the screen. */
const gapUs = 1

/**
 * One operation of every step, one after another: a process per format, a thread per kernel, the launches inside. The
 * engine's clock starts anew with each problem, so only distances within one operation were measured; it lasts as long
 * as its recorded launches, or its median where none were recorded.
 */
export function traceOfRun(run: Run): string {
  const timed = run.steps.filter((step) => operationNs(step) > 0)
  const formats = [...new Set(timed.map(({ format }) => format))]
  const kernels = [...new Set(timed.map(({ kernel }) => kernel))]
  const events: object[] = formats.map((format, pid) => named('process_name', pid, 0, format))
  const lanes = new Set<string>()
  let atUs = 0
  for (const step of timed) {
    const place = { pid: formats.indexOf(step.format), tid: kernels.indexOf(step.kernel) }
    const lane = `${place.pid} ${place.tid}`
    if (!lanes.has(lane)) events.push(named('thread_name', place.pid, place.tid, step.kernel))
    lanes.add(lane)
    const durationUs = operationNs(step) / 1000
    const name = `${step.kernel} [M=${step.m}, N=${step.n}, K=${step.k}]`
    events.push({
      ph: 'X',
      name,
      cat: step.format,
      ...place,
      ts: atUs,
      dur: durationUs,
      args: facts(step)
    })
    events.push(...launchEvents(step, place, atUs))
    atUs += durationUs + gapUs
  }
  const otherData = {
    run: run.id,
    device: run.device?.name ?? '',
    command: run.command,
    time: 'one operation per step, laid out in order'
  }
  const lines = events.map((event) => JSON.stringify(event)).join(',\n')
  return `{"displayTimeUnit":"ns","otherData":${JSON.stringify(otherData)},"traceEvents":[\n${lines}\n]}\n`
}

const named = (name: string, pid: number, tid: number, value: string) => ({
  ph: 'M',
  name,
  pid,
  tid,
  args: { name: value }
})

function operationNs({ measurement, validation }: Step): number {
  if (!measurement) return (validation?.kernelSeconds ?? 0) * 1e9
  const { launches } = measurement
  if (launches.length === 0) return measurement.timeNs.median
  return Math.max(...launches.map(({ endNs }) => endNs)) - firstStart(launches)
}

const firstStart = (launches: readonly { startNs: number }[]) =>
  Math.min(...launches.map(({ startNs }) => startNs))

function launchEvents(step: Step, place: { pid: number; tid: number }, atUs: number): object[] {
  const launches = step.measurement?.launches ?? []
  const start = firstStart(launches)
  return launches.map((launch) => ({
    ph: 'X',
    name: launch.name,
    cat: 'launch',
    ...place,
    ts: atUs + (launch.startNs - start) / 1000,
    dur: (launch.endNs - launch.startNs) / 1000,
    args: {
      stream: launch.stream,
      grid: launch.grid.join(' x '),
      block: launch.block.join(' x '),
      'registers per thread': launch.registersPerThread,
      'shared memory (bytes)': launch.sharedMemoryBytes
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
