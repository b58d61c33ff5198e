/** The timeline of whatever was opened: of a trace its own, of a run the one that its trace has. */
import { openProfile, type OpenedProfile } from './read/openProfile'
import type { Timeline } from './tree/timeline'
import { traceOfRun } from './write/runTrace'

/** Null for profiles of sums, which keep no times of launches. */
export function timelineOf({ tree, timeline, run }: OpenedProfile): Timeline | null {
  if (timeline || !run) return timeline
  const trace = new TextEncoder().encode(traceOfRun(run, tree))
  return openProfile(trace, `the trace of run ${run.id}`).timeline
}

export const withoutTimes =
  'It holds sums, not the times of launches: record a trace (Proton with data="trace", PyTorch\'s profiler) or open a run.'
