/** What a Chromium trace says about the page's main thread. */
export interface TraceEvent {
  name: string
  cat?: string
  ph: string
  pid: number
  tid: number
  /** Microseconds. */
  ts: number
  dur?: number
  args?: { name?: string; data?: { frames?: { url?: string }[] } }
}

/** Durations in ms of the tasks that the page's main thread ran; the page is the renderer process with most of them. */
export function mainThreadTasks(events: readonly TraceEvent[]): number[] {
  const threads = new Map<string, number[]>()
  for (const { name, args, pid, tid } of events) {
    if (name === 'thread_name' && args?.name === 'CrRendererMain') threads.set(`${pid}:${tid}`, [])
  }
  for (const { name, ph, pid, tid, dur } of events) {
    if (name === 'RunTask' && ph === 'X') threads.get(`${pid}:${tid}`)?.push((dur ?? 0) / 1000)
  }
  return [...threads.values()].reduce(
    (most, tasks) => (tasks.length > most.length ? tasks : most),
    []
  )
}
