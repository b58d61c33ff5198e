import type { Launch } from '../contract/run'

type Times = Pick<Launch, 'startNs' | 'endNs'>

/**
 * What each launch adds to its operation, ns, in the order given: its time without the part in which one that started
 * before it was still running. Such a launch waits for that one (programmatic dependent launch) and would otherwise be
 * told for what it waited for. The sum is the time in which any of them ran.
 */
export function launchTimes(launches: readonly Times[]): number[] {
  const times = launches.map(() => 0)
  let busyUntil = -Infinity
  const inOrder = launches.map((launch, at) => ({ ...launch, at }))
  for (const { startNs, endNs, at } of inOrder.sort((a, b) => a.startNs - b.startNs)) {
    times[at] = Math.max(0, endNs - Math.max(startNs, busyUntil))
    busyUntil = Math.max(busyUntil, endNs)
  }
  return times
}

export const totalOf = (times: readonly number[]): number => times.reduce((sum, ns) => sum + ns, 0)
