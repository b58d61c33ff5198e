/** kernelTimes.mjs, for tests in TypeScript. */
export type Times = Map<string, { ns: number; count: number }>

export interface ComparedKernel {
  name: string
  /** Mean ns of a launch, the median of rounds; NaN where a profiler has no such kernel. */
  our: number
  their: number
  /** The median of the rounds' own. */
  ratio: number
  sameCount: boolean
  /** Within `agreement`, or one tick of the GPU's timer. */
  agrees: boolean
}

export function timesOfTrace(trace: { traceEvents: object[] }): Times
export function timesOfHatchet(tree: object[]): Times
export function timesOfLaunches(rows: object[]): Times
export function renamed(times: Times, rows: object[]): Times
export function median(list: number[]): number
export function compareTimes(ours: Times[], theirs: Times[], agreement?: number): ComparedKernel[]
