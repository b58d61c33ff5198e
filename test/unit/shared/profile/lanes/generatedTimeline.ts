import { StringTable } from '@shared/profile/tree/stringTable'
import type { Lane, Timeline } from '@shared/profile/tree/timeline'

export interface GivenSlice {
  name: string
  category?: string
  lane: number
  startNs: number
  durationNs: number
  node?: number
  correlation?: number
  bytes?: number
  facts?: Record<string, string>
}

export const laneOf = (name: string, process = 'python', processId = process): Lane => ({
  name,
  process,
  processId,
  processLabel: ''
})

export function timelineOf(lanes: Lane[], slices: readonly GivenSlice[]): Timeline {
  const strings = new StringTable()
  const whole = (of: (slice: GivenSlice) => number) => Int32Array.from(slices, of)
  const double = (of: (slice: GivenSlice) => number) => Float64Array.from(slices, of)
  return {
    count: slices.length,
    strings,
    name: whole(({ name }) => strings.intern(name)),
    category: whole(({ category = 'kernel' }) => strings.intern(category)),
    lane: whole(({ lane }) => lane),
    startNs: double(({ startNs }) => startNs),
    durationNs: double(({ durationNs }) => durationNs),
    node: whole(({ node = -1 }) => node),
    correlation: double(({ correlation = NaN }) => correlation),
    bytes: double(({ bytes = NaN }) => bytes),
    facts: whole(({ facts }) => (facts ? strings.intern(JSON.stringify(facts)) : -1)),
    lanes,
    flows: [],
    baseTimeNs: null
  }
}

/** Numbers in [0, 1) that are the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

export const kernelNames = ['gemm', 'norm', 'softmax', 'allreduce', 'copy']

/** Kernels one after another on a stream, with gaps, of very different lengths. */
export function streamSlices(
  lane: number,
  count: number,
  random: () => number,
  fromNs = 0
): GivenSlice[] {
  let at = fromNs
  return Array.from({ length: count }, () => {
    at += random() < 0.1 ? Math.floor(random() * 20_000) : Math.floor(random() * 300)
    const durationNs = Math.floor(10 ** (1 + random() * 4))
    const slice = {
      name: kernelNames[Math.floor(random() * kernelNames.length)]!,
      lane,
      startNs: at,
      durationNs
    }
    at += durationNs
    return slice
  })
}

export function shuffled<T>(values: readonly T[], random: () => number): T[] {
  const found = [...values]
  for (let at = found.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    ;[found[at], found[other]] = [found[other]!, found[at]!]
  }
  return found
}
