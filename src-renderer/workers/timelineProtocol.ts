/** What the Timeline view asks of the profile's worker, and what it gets back. */
import type { CounterRange, CounterScene } from '@shared/profile/lanes/counters'
import type { ShownLane } from '@shared/profile/lanes/lanes'
import type { RangeSums } from '@shared/profile/lanes/rangeSums'
import type { Scene, SceneQuery } from '@shared/profile/lanes/scene'
import type { SliceFacts } from '@shared/profile/lanes/sliceFacts'
import type { Window } from '@shared/profile/lanes/window'

/** What slices are coloured by. */
export type Coloring = 'kind' | 'name'

/** A value over time, and between what it lies. */
export interface ShownCounter extends CounterRange {
  name: string
  process: string
}

export interface TimelineInfo {
  sliceCount: number
  lengthNs: number
  lanes: ShownLane[]
  /** Of each row, whether what it shows takes time of its lane. */
  isWorkRow: boolean[]
  counters: ShownCounter[]
  /** Of each lane of a stream the group that most of its time has; -1 of other lanes. */
  groupOfLane: number[]
  /** Lanes whose time is summed: streams, or all where there are none. */
  workLanes: number[]
  gapCount: number
  tooDeep: number
}

export interface TimelineGap extends Window {
  row: number
}

export interface ShownScene {
  scene: Scene
  /** Names of the boxes that have room for one, by their id. */
  names: Map<number, string>
  gaps: TimelineGap[]
}

export interface ShownOverview {
  /** [width x groups] */
  shares: Float32Array<ArrayBuffer>
  width: number
  /** Of each group its title; the shown colours follow their order. */
  groups: string[]
}

export interface ShownFacts extends SliceFacts {
  /** As it is shown and as it is in the file. */
  shownName: string
  /** Of its node in the tree; '' for none. */
  path: string
  group: number
}

export interface FoundCount {
  count: number
  problem: string
}

/** Where a step leads: the slice, and of a hit its place among all. */
export interface Step {
  slice: number
  place: number
}

export type TimelineAsk =
  | { ask: 'info' }
  | { ask: 'scene'; query: SceneQuery }
  | { ask: 'counters'; window: Window; width: number }
  | { ask: 'overview'; width: number; lanes: number[] }
  | { ask: 'colour'; by: Coloring }
  | { ask: 'sums'; range: Window; lanes: number[] }
  | { ask: 'slice'; slice: number }
  | { ask: 'at'; row: number; ns: number; reachNs: number }
  | { ask: 'beside'; row: number; slice: number; direction: 1 | -1 }
  | { ask: 'nearest'; row: number; slice: number }
  | { ask: 'search'; text: string }
  | { ask: 'hit'; from: number; direction: 1 | -1 }
  | { ask: 'gap'; ns: number; direction: 1 | -1 }
  | { ask: 'node'; path: string }

export interface TimelineAnswers {
  info: TimelineInfo | null
  scene: ShownScene
  /** One for each counter of the info. */
  counters: CounterScene[]
  overview: ShownOverview
  colour: string[]
  sums: RangeSums
  slice: ShownFacts
  at: number
  beside: number
  nearest: number
  search: FoundCount
  hit: Step
  gap: Window | null
  node: Step
}
