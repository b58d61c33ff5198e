/**
 * What the "Trace Event Format" (Google, 2016, the document that Perfetto's JSON importer and chrome://tracing go by) demands of
 * a trace in JSON Object Format, for the kinds of events that are written here. Sections of the document stand beside the rules.
 */
interface Event {
  ph?: unknown
  name?: unknown
  cat?: unknown
  pid?: unknown
  tid?: unknown
  ts?: unknown
  dur?: unknown
  id?: unknown
  bp?: unknown
  sf?: unknown
  args?: unknown
}

const isNumber = (value: unknown): value is number => Number.isFinite(value)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Metadata Events: what each has in args. */
const metadata: Readonly<Record<string, [key: string, type: 'string' | 'number']>> = {
  process_name: ['name', 'string'],
  process_labels: ['labels', 'string'],
  process_sort_index: ['sort_index', 'number'],
  thread_name: ['name', 'string'],
  thread_sort_index: ['sort_index', 'number']
}

/** Sentences; none where the trace is as the document has it. */
export function problemsOfTrace(trace: unknown): string[] {
  const problems: string[] = []
  if (!isObject(trace)) return ['The trace is no object.']
  const { traceEvents, displayTimeUnit, stackFrames = {} } = trace
  if (!Array.isArray(traceEvents)) return ['traceEvents is no list.']
  // JSON Object Format
  if (displayTimeUnit !== undefined && displayTimeUnit !== 'ms' && displayTimeUnit !== 'ns')
    problems.push(`displayTimeUnit is ${String(displayTimeUnit)}.`)
  const frames = framesOf(stackFrames, problems)
  const events = traceEvents as Event[]
  for (const [at, event] of events.entries())
    for (const problem of problemsOfEvent(event, frames))
      problems.push(`Event ${at} (${String(event?.name)}) ${problem}.`)
  return [...problems, ...flowProblems(events), ...nestingProblems(events)]
}

/** Stack traces: a dictionary of frames, each with its parent, in no circle. */
function framesOf(stackFrames: unknown, problems: string[]): Set<string> {
  if (!isObject(stackFrames)) {
    problems.push('stackFrames is no dictionary.')
    return new Set()
  }
  for (const [id, frame] of Object.entries(stackFrames)) {
    if (!isObject(frame) || typeof frame.name !== 'string' || typeof frame.category !== 'string') {
      problems.push(`Stack frame ${id} has no name or no category.`)
      continue
    }
    const seen = new Set([id])
    for (let up = frame.parent; up !== undefined;) {
      const parent = typeof up === 'string' ? stackFrames[up] : undefined
      if (!isObject(parent) || seen.has(up as string)) {
        problems.push(`Stack frame ${id} has the parent ${String(up)}, which leads nowhere.`)
        break
      }
      seen.add(up as string)
      up = parent.parent
    }
  }
  return new Set(Object.keys(stackFrames))
}

function* problemsOfEvent(event: Event, frames: ReadonlySet<string>): Generator<string> {
  if (!isObject(event)) return yield 'is no object'
  if (typeof event.name !== 'string' || event.name === '') yield 'has no name'
  if (!Number.isInteger(event.pid) || !Number.isInteger(event.tid)) yield 'has no pid or tid'
  if (event.args !== undefined && !isObject(event.args)) yield 'has args that are no object'
  if (event.sf !== undefined && !frames.has(String(event.sf)))
    yield 'names a frame that is not there'
  if (event.ph === 'M') {
    const known = metadata[String(event.name)]
    if (!known) return yield 'is metadata of no kind that there is'
    const value = isObject(event.args) ? event.args[known[0]] : undefined
    if (typeof value !== known[1]) yield `has no ${known[0]} in args`
    return
  }
  // Timestamps are microseconds, of which fractions are allowed.
  if (!isNumber(event.ts) || event.ts < 0) yield 'has no ts'
  if (event.ph === 'X') {
    if (!isNumber(event.dur) || event.dur < 0) yield 'has no dur'
  } else if (event.ph === 's' || event.ph === 'f') {
    if (typeof event.cat !== 'string') yield 'has no cat'
    if (!['string', 'number'].includes(typeof event.id)) yield 'has no id'
    if (event.bp !== undefined && event.bp !== 'e') yield 'has a bp other than e'
  } else {
    yield `is of the phase ${String(event.ph)}`
  }
}

/** Flow Events: a start and a finish share cat, name and id, the finish not before the start; both within a slice. */
function flowProblems(events: readonly Event[]): string[] {
  const problems: string[] = []
  const keyOf = ({ cat, name, id }: Event) => JSON.stringify([cat, name, id])
  const starts = new Map<string, Event>()
  for (const event of events) if (event.ph === 's') starts.set(keyOf(event), event)
  const slices = new Set(
    events.filter(({ ph }) => ph === 'X').map(({ pid, tid, ts }) => JSON.stringify([pid, tid, ts]))
  )
  for (const event of events) {
    if (event.ph !== 's' && event.ph !== 'f') continue
    if (!slices.has(JSON.stringify([event.pid, event.tid, event.ts])))
      problems.push(`Flow ${String(event.id)} is bound to no slice.`)
    if (event.ph === 's') continue
    const start = starts.get(keyOf(event))
    if (!start) problems.push(`Flow ${String(event.id)} has no start.`)
    else if (Number(start.ts) > Number(event.ts))
      problems.push(`Flow ${String(event.id)} ends before it starts.`)
    starts.delete(keyOf(event))
  }
  return [...problems, ...[...starts.keys()].map((key) => `Flow ${key} has no finish.`)]
}

/** Complete Events: those of a thread lie within one another or apart, as calls do. */
function nestingProblems(events: readonly Event[]): string[] {
  const ofThread = new Map<string, { name: unknown; start: number; end: number }[]>()
  for (const { ph, pid, tid, ts, dur, name } of events) {
    if (ph !== 'X') continue
    const key = `${String(pid)} ${String(tid)}`
    const [start, length] = [Math.round(Number(ts) * 1000), Math.round(Number(dur) * 1000)]
    const slices = ofThread.get(key) ?? []
    slices.push({ name, start, end: start + length })
    ofThread.set(key, slices)
  }
  const problems: string[] = []
  for (const slices of ofThread.values()) {
    slices.sort((a, b) => a.start - b.start || b.end - a.end)
    const open: typeof slices = []
    for (const slice of slices) {
      while (open.length > 0 && open.at(-1)!.end <= slice.start) open.pop()
      if (open.length > 0 && slice.end > open.at(-1)!.end)
        problems.push(
          `${String(slice.name)} begins within ${String(open.at(-1)!.name)} and ends after it.`
        )
      open.push(slice)
    }
  }
  return problems
}
