/** The timeline of the open profile, and the answers to the view's questions. Runs in the worker; needs no DOM. */
import { messageOf, UserError } from '@shared/errors'
import { hues, workKindIds, workKinds } from '@shared/measurement/pictureColours'
import { kernelFamily } from '@shared/profile/ask/kernelFamilies'
import { nodeAtPath, pathText } from '@shared/profile/ask/nodePath'
import { shortName } from '@shared/profile/ask/shortName'
import {
  placeOfKind,
  saysWorkKinds,
  workKindOf,
  workKindOfNode
} from '@shared/profile/ask/workKind'
import { counterRange, counterScene } from '@shared/profile/lanes/counters'
import { FoundSlices } from '@shared/profile/lanes/findSlices'
import { deviceGaps, nextGap, type DeviceGaps } from '@shared/profile/lanes/gaps'
import { groupOfSlice, groupsBy, groupsByNode, type Groups } from '@shared/profile/lanes/groups'
import {
  endOf,
  lanesOf,
  rowOfSlice,
  startOf,
  workRows,
  type Lanes,
  type ShownLane
} from '@shared/profile/lanes/lanes'
import { overviewOf } from '@shared/profile/lanes/overview'
import { rangeSums, workLanes } from '@shared/profile/lanes/rangeSums'
import { AllRowSums, largestGroup } from '@shared/profile/lanes/rowSums'
import { sceneOf, type SceneQuery } from '@shared/profile/lanes/scene'
import { sliceFacts } from '@shared/profile/lanes/sliceFacts'
import { besides, nearestIn, sliceAt } from '@shared/profile/lanes/walk'
import type { Window } from '@shared/profile/lanes/window'
import { nodeName, type ProfileTree } from '@shared/profile/tree/profileTree'
import { hashPrime, hashSeed } from '@shared/profile/tree/stringTable'
import type { Counter, Timeline } from '@shared/profile/tree/timeline'
import type {
  Coloring,
  FoundCount,
  ShownFacts,
  ShownOverview,
  ShownScene,
  Step,
  TimelineAsk,
  TimelineGap,
  TimelineInfo
} from './timelineProtocol'

/** Narrower than this a gap is not drawn, pixels. */
const leastGapPx = 3

export class TimelineSession {
  private readonly lanes: Lanes
  private readonly among: number[]
  private sums: AllRowSums
  private found: FoundSlices | null = null
  private gaps: DeviceGaps | undefined

  constructor(
    private readonly tree: ProfileTree,
    timeline: Timeline
  ) {
    this.lanes = lanesOf(timeline)
    this.among = workLanes(this.lanes)
    this.sums = new AllRowSums(this.lanes, groupsOf(tree, timeline, 'kind'))
  }

  answer(question: TimelineAsk): unknown {
    switch (question.ask) {
      case 'info':
        return this.info()
      case 'scene':
        return this.scene(question.query)
      case 'counters':
        return this.counters.map((counter) =>
          counterScene(counter, this.lanes.originNs, question.window, question.width)
        )
      case 'overview':
        return this.overview(question.width, question.lanes)
      case 'colour':
        this.sums = new AllRowSums(
          this.lanes,
          groupsOf(this.tree, this.lanes.timeline, question.by)
        )
        return this.sums.groups.titles
      case 'sums':
        return rangeSums(this.sums, question.range, question.lanes)
      case 'slice':
        return this.facts(question.slice)
      case 'at':
        return sliceAt(this.lanes, question.row, question.ns, question.reachNs)
      case 'beside':
        return besides(this.lanes, question.row, question.slice, question.direction)
      case 'nearest':
        return nearestIn(this.lanes, question.row, question.slice)
      case 'search':
        return this.search(question.text)
      case 'hit':
        return this.hit(question.from, question.direction)
      case 'gap':
        return this.gap(question.ns, question.direction)
      case 'node':
        return this.firstOfNode(question.path)
    }
  }

  private get counters(): readonly Counter[] {
    return this.lanes.timeline.counters ?? []
  }

  private info(): TimelineInfo {
    const { timeline, lengthNs, lanes, rows, tooDeep } = this.lanes
    const isWorkRow = rows.map(({ isWork }) => isWork)
    const gapCount = this.allGaps().startNs.length
    const counts = { sliceCount: timeline.count, gapCount, tooDeep }
    const counters = this.counters.map((counter) => ({
      ...{ name: counter.name, process: counter.process },
      ...counterRange(counter)
    }))
    const groupOfLane = lanes.map((lane) => this.groupOfLane(lane))
    return {
      ...{ ...counts, lengthNs, lanes, isWorkRow, counters, groupOfLane },
      workLanes: this.among
    }
  }

  private groupOfLane(lane: ShownLane): number {
    if (lane.kind !== 'stream') return -1
    const sums = new Float64Array(this.sums.groups.titles.length)
    for (const row of workRows(this.lanes, lane))
      this.sums.of(row).addGroups(0, this.lanes.rows[row]!.slices.length, sums)
    const largest = largestGroup(sums)
    return sums[largest]! > 0 ? largest : -1
  }

  private scene(query: SceneQuery): ShownScene {
    const scene = sceneOf(this.sums, query, this.found)
    const names = new Map<number, string>()
    for (const id of scene.name) {
      if (id >= 0 && !names.has(id)) names.set(id, shortName(this.lanes.timeline.strings.text(id)))
    }
    return { scene, names, gaps: this.gapsIn(query) }
  }

  private gapsIn({ startNs, endNs, width }: SceneQuery): TimelineGap[] {
    const gaps = this.allGaps()
    const leastNs = (leastGapPx * (endNs - startNs)) / Math.max(1, width)
    const shown: TimelineGap[] = []
    // A gap that reaches into the window may begin before it, the one before that ends before it begins.
    for (let at = Math.max(0, nextGap(gaps, startNs, -1)); at < gaps.startNs.length; at++) {
      const [from, to] = [gaps.startNs[at]!, gaps.endNs[at]!]
      if (from >= endNs) break
      if (to - from < leastNs) continue
      shown.push({ startNs: from, endNs: to, row: rowOfSlice(this.lanes, gaps.next[at]!) })
    }
    return shown
  }

  private allGaps(): DeviceGaps {
    return (this.gaps ??= deviceGaps(this.lanes))
  }

  private overview(width: number, lanes: readonly number[]): ShownOverview {
    const among = this.among.filter((lane) => lanes.includes(lane))
    return { shares: overviewOf(this.sums, among, width), width, groups: this.sums.groups.titles }
  }

  private facts(slice: number): ShownFacts {
    const { lanes, tree } = this
    const facts = sliceFacts(lanes, slice)
    const hasNode = facts.node >= 0 && facts.node < tree.count
    return {
      ...facts,
      shownName: shortName(facts.name),
      path: hasNode ? pathText(tree, facts.node) : '',
      group: groupOfSlice(this.sums.groups, slice)
    }
  }

  private search(text: string): FoundCount {
    this.found = null
    if (text === '') return { count: 0, problem: '' }
    try {
      this.found = new FoundSlices(this.lanes, text)
      return { count: this.found.count, problem: '' }
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      return { count: 0, problem: messageOf(error) }
    }
  }

  private hit(from: number, direction: 1 | -1): Step {
    const slice = this.found?.next(from, direction) ?? -1
    return { slice, place: this.found?.placeOf(slice) ?? 0 }
  }

  private gap(ns: number, direction: 1 | -1): Window | null {
    const gaps = this.allGaps()
    const at = nextGap(gaps, ns, direction)
    return at < 0 ? null : { startNs: gaps.startNs[at]!, endNs: gaps.endNs[at]! }
  }

  /** The first slice, in time, of a node or of what is below it; how many there are as the place. */
  private firstOfNode(path: string): Step {
    const { lanes, tree } = this
    const node = nodeAtPath(tree, path)
    if (node < 0) return { slice: -1, place: 0 }
    const { timeline } = lanes
    let first = -1
    let count = 0
    for (let slice = 0; slice < timeline.count; slice++) {
      const of = timeline.node[slice]!
      if (of < node || of >= tree.end[node]!) continue
      count++
      const isBefore = first < 0 || startOf(lanes, slice) < startOf(lanes, first)
      const surrounds = first >= 0 && startOf(lanes, slice) === startOf(lanes, first)
      if (isBefore || (surrounds && endOf(lanes, slice) > endOf(lanes, first))) first = slice
    }
    return { slice: first, place: count }
  }
}

/** Kinds of work in their order, then calls that launch, then all else; or as many groups of names as there are hues. */
function groupsOf(tree: ProfileTree, timeline: Timeline, by: Coloring): Groups {
  if (by === 'kind') {
    const titles = [...workKindIds.map((id) => workKinds[id].title), 'launching calls', 'other']
    const groupOf = (kind: number, name: string) =>
      kind >= 0 ? kind : titles.length - (kernelFamily(name) === 'runtime' ? 2 : 1)
    if (!saysWorkKinds(tree))
      return groupsBy(timeline, titles, (name) => groupOf(placeOfKind(workKindOf(name)), name))
    const kindOf = workKindOfNode(tree)
    return groupsByNode(timeline, tree.count, titles, (node) =>
      groupOf(kindOf(node), nodeName(tree, node))
    )
  }
  const titles = hues.map(() => '')
  return groupsBy(timeline, titles, (name) => hash(name) % titles.length)
}

function hash(name: string): number {
  let value = hashSeed
  for (let at = 0; at < name.length; at++) value = Math.imul(value ^ name.charCodeAt(at), hashPrime)
  return (value ^ (value >>> 15)) >>> 0
}
