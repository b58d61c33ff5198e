/** A stretch of a timeline for a terminal: sums by kernel, then how busy each lane is. */
import { columnLines } from '../../columns'
import { laneTitle, nameOf, type Lanes } from '../lanes/lanes'
import type { RangeSums } from '../lanes/rangeSums'
import { shortName } from '../ask/shortName'
import { count, digits, percent, scaleFor, timeSpan } from '../../units'

export interface TimelineText {
  /** Rows of kernels that are shown at most. */
  most: number
  nameOf: (name: string) => string
}

export function timelineLines(lanes: Lanes, sums: RangeSums, show: TimelineText): string[] {
  const lengthNs = sums.endNs - sums.startNs
  const laneName = (lane: number) => laneTitle(lanes, lane)
  const unit = scaleFor('time', sums.names[0]?.ns ?? 0)
  const share = (ns: number) => percent(lengthNs > 0 ? ns / lengthNs : NaN)
  const kernels = sums.names
    .slice(0, show.most)
    .map(({ name, ns, count: found, lanes: on }) => [
      digits(ns * unit.factor),
      share(ns),
      count(found),
      on.map(laneName).join(', '),
      show.nameOf(name)
    ])
  const left = sums.names.length - kernels.length
  const busy = sums.lanes.flatMap(({ lane, count: found, busyNs, gap }) => {
    if (found === 0) return []
    const idle = gap
      ? `${timeSpan(gap.endNs - gap.startNs)} at ${timeSpan(gap.startNs)}${beforeWhat(lanes, gap.next)}`
      : '-'
    return [[timeSpan(busyNs), share(busyNs), count(found), idle, laneName(lane)]]
  })
  return [
    `${timeSpan(sums.startNs)} to ${timeSpan(sums.endNs)} of ${timeSpan(lanes.lengthNs)}: ${timeSpan(lengthNs)}, ${count(sums.count)} slices`,
    '',
    ...columnLines(
      [[`time (${unit.unit})`, 'of range', 'count', 'lane', 'kernel'], ...kernels],
      isName
    ),
    ...(left > 0 ? [`${left} more; -n ${sums.names.length} shows all.`] : []),
    '',
    ...columnLines([['busy', 'of range', 'count', 'longest idle time', 'lane'], ...busy], isName)
  ]
}

const beforeWhat = (lanes: Lanes, next: number) =>
  next < 0 ? ', to the end' : `, before ${shortName(nameOf(lanes, next))}`

/** Numbers come first. */
const isName = (column: number) => column > 2

/** The same for scripts: times in ns, counted from the first slice. */
export function timelineJson(lanes: Lanes, sums: RangeSums): object {
  const laneName = (lane: number) => lanes.lanes[lane]!.name
  return {
    lengthNs: lanes.lengthNs,
    slices: lanes.timeline.count,
    range: { startNs: sums.startNs, endNs: sums.endNs },
    kernels: sums.names.map(({ name, count: found, ns, lanes: on }) => ({
      name,
      count: found,
      ns,
      lanes: on.map(laneName)
    })),
    lanes: sums.lanes.map(({ lane, count: found, busyNs, gap }) => ({
      name: laneName(lane),
      process: lanes.lanes[lane]!.process,
      kind: lanes.lanes[lane]!.kind,
      count: found,
      busyNs,
      longestIdle: gap && {
        startNs: gap.startNs,
        endNs: gap.endNs,
        before: gap.next < 0 ? null : nameOf(lanes, gap.next)
      }
    }))
  }
}
