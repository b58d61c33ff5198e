/** Everything that is known about one slice, and what it is linked with: the call that launched it, what a call launched. */
import { launchKinds } from '../tree/traceCategories'
import { endOf, nameOf, rowOfSlice, startOf, type Lanes } from './lanes'
import type { Window } from './window'

export interface Place extends Window {
  slice: number
  row: number
}

export interface SliceFacts extends Place {
  name: string
  category: string
  lane: number
  /** Node of the tree; -1 for none. */
  node: number
  /** NaN where the trace does not say. */
  bytes: number
  correlation: number
  /** Grid, block, registers, ... as recorded. */
  facts: Record<string, string>
  /** The call that launched it; null where there is none or it was not recorded. */
  launch: Place | null
  /** What it launched. */
  launched: Place[]
}

/** One launch of a graph may run thousands of kernels: as many are drawn. */
const mostLaunched = 200

export function sliceFacts(lanes: Lanes, slice: number): SliceFacts {
  const { timeline } = lanes
  const { strings } = timeline
  const facts = strings.text(timeline.facts[slice]!)
  const launch = launchOf(lanes, slice)
  return {
    ...placeOf(lanes, slice),
    name: nameOf(lanes, slice),
    category: strings.text(timeline.category[slice]!),
    lane: timeline.lane[slice]!,
    node: timeline.node[slice]!,
    bytes: timeline.bytes[slice]!,
    correlation: timeline.correlation[slice]!,
    facts: facts === '' ? {} : (JSON.parse(facts) as Record<string, string>),
    launch: launch < 0 ? null : placeOf(lanes, launch),
    launched: launchedBy(lanes, slice).map((other) => placeOf(lanes, other))
  }
}

export const placeOf = (lanes: Lanes, slice: number): Place => ({
  slice,
  row: rowOfSlice(lanes, slice),
  startNs: startOf(lanes, slice),
  endNs: endOf(lanes, slice)
})

function launchOf(lanes: Lanes, slice: number): number {
  const flow = lanes.timeline.flows.find(({ to }) => to === slice)
  if (flow) return flow.from
  const correlated = sameCorrelation(lanes, slice)
  return isOnStream(lanes, slice) ? nearestCall(lanes, correlated, slice) : -1
}

function launchedBy(lanes: Lanes, slice: number): number[] {
  const flows = lanes.timeline.flows.filter(({ from }) => from === slice)
  if (flows.length > 0) return flows.slice(0, mostLaunched).map(({ to }) => to)
  if (!isCall(lanes, slice)) return []
  const correlated = sameCorrelation(lanes, slice)
  return correlated
    .filter((other) => isOnStream(lanes, other) && nearestCall(lanes, correlated, other) === slice)
    .slice(0, mostLaunched)
}

/** Ids begin anew in each process: of several calls with one id it is the last before what ran. */
function nearestCall(lanes: Lanes, correlated: readonly number[], slice: number): number {
  let best = -1
  for (const other of correlated) {
    if (!isCall(lanes, other) || startOf(lanes, other) > startOf(lanes, slice)) continue
    if (best < 0 || startOf(lanes, other) > startOf(lanes, best)) best = other
  }
  return best
}

function sameCorrelation({ timeline, lanes }: Lanes, slice: number): number[] {
  const id = timeline.correlation[slice]!
  const partOf = (event: number) => lanes[timeline.lane[event]!]!.part
  const part = partOf(slice)
  const found: number[] = []
  // Kineto gives 0 to what it could not correlate.
  if (!(id > 0)) return found
  for (let other = 0; other < timeline.count; other++) {
    if (timeline.correlation[other] === id && partOf(other) === part) found.push(other)
  }
  return found
}

const isOnStream = ({ timeline, lanes }: Lanes, slice: number): boolean =>
  lanes[timeline.lane[slice]!]!.kind === 'stream'

const isCall = ({ timeline }: Lanes, slice: number): boolean =>
  launchKinds.has(timeline.strings.text(timeline.category[slice]!).toLowerCase())
