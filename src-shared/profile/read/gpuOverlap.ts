/** How what ran on a GPU lay in time: the sum of kernels' times says neither how long it was busy nor what was hidden. */

/** At least one kernel, copy or set ran. */
export const busyMetric = 'gpu busy (ns)'
/** Two or more ran at once, on streams of one device. */
export const overlapMetric = 'gpu overlap (ns)'
/** Copies and sets while no kernel ran. */
export const exposedCopiesMetric = 'exposed copies (ns)'
/** Communication (NCCL, RCCL and their like) while no other kernel ran. */
export const exposedCommunicationMetric = 'exposed communication (ns)'

export type ActivityClass = 'compute' | 'communication' | 'copy'
const classes: readonly ActivityClass[] = ['compute', 'communication', 'copy']

export function isCommunication(kernel: string): boolean {
  return /nccl|rccl|oneccl|nvshmem|rocshmem/i.test(kernel)
}

interface Spans {
  starts: number[]
  ends: number[]
}

/** Collects what ran on each device, in any order. */
export class GpuOverlap {
  private readonly devices = new Map<string, Record<ActivityClass, Spans>>()

  add(device: string, kind: ActivityClass, startNs: number, durationNs: number): void {
    let spans = this.devices.get(device)
    if (!spans) {
      const none = (): Spans => ({ starts: [], ends: [] })
      this.devices.set(device, (spans = { compute: none(), communication: none(), copy: none() }))
    }
    spans[kind].starts.push(startNs)
    spans[kind].ends.push(startNs + durationNs)
  }

  /** ns by metric, summed over devices; only of kinds that ran. */
  sums(): Map<string, number> {
    const sums = new Map<string, number>()
    const add = (metric: string, ns: number) => sums.set(metric, (sums.get(metric) ?? 0) + ns)
    for (const spans of this.devices.values()) {
      const found = sweep(spans)
      add(busyMetric, found.busy)
      add(overlapMetric, found.overlap)
      if (spans.copy.starts.length > 0) add(exposedCopiesMetric, found.exposedCopies)
      if (spans.communication.starts.length > 0)
        add(exposedCommunicationMetric, found.exposedCommunication)
    }
    return sums
  }
}

/** From one beginning or end to the next, counting what runs of each class. */
function sweep(spans: Record<ActivityClass, Spans>) {
  // Sorted apart: which end belongs to which beginning does not matter to a count.
  const edges = classes.flatMap((kind) => [
    { kind, step: -1, times: Float64Array.from(spans[kind].ends).sort(), at: 0 },
    { kind, step: 1, times: Float64Array.from(spans[kind].starts).sort(), at: 0 }
  ])
  const running: Record<ActivityClass, number> = { compute: 0, communication: 0, copy: 0 }
  const sums = { busy: 0, overlap: 0, exposedCopies: 0, exposedCommunication: 0 }
  let now = -Infinity
  for (;;) {
    let next = Infinity
    for (const edge of edges) next = Math.min(next, edge.times[edge.at] ?? Infinity)
    if (next === Infinity) return sums
    const all = running.compute + running.communication + running.copy
    if (all > 0) {
      const ns = next - now
      sums.busy += ns
      if (all > 1) sums.overlap += ns
      if (running.copy === all) sums.exposedCopies += ns
      if (running.communication > 0 && running.compute === 0) sums.exposedCommunication += ns
    }
    now = next
    for (const edge of edges) {
      while (edge.times[edge.at] === next) {
        edge.at++
        running[edge.kind] += edge.step
      }
    }
  }
}
