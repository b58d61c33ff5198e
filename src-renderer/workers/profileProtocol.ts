/** What the Profile view asks of its worker, and what it gets back. */
import type { KernelGrouping } from '@shared/capture/kernelTable'
import type { Arrangement } from '@shared/profile/ask/arrange'
import type { Query } from '@shared/profile/ask/ask'
import type { FlameLayout } from '@shared/profile/ask/flame'
import type { FlameColour, PaintedNodes } from '@shared/profile/ask/flamePaint'
import type { SandwichSide } from '@shared/profile/ask/sandwich'
import type { TransferredTree } from '@shared/profile/tree/transfer'
import type { TimelineAsk } from './timelineProtocol'

/** A question about the profile, and what only a view asks: what is open in it, and what is searched for. */
export interface ProfileQuery extends Query {
  metrics: string[]
  include: string
  exclude: string
  depth: number
  arrangement: Arrangement
  sort: 'chronological' | 'name' | { column: number; descending: boolean }
  hotPath: boolean
  metadata: boolean
  demangle: boolean
  /** Only the subtree of this node of the answer's tree. */
  node?: number
  /** Against the baseline, by the first metric. */
  diff: boolean
  search: string
  openness: { all: boolean; toggled: number[] }
}

/** Order of siblings in the flame graph: as recorded, by the start of their first event, the heaviest left. */
export type FlameOrderName = 'recorded' | 'time' | 'heavy'

export interface FlameAsked {
  order: FlameOrderName
  colour: FlameColour
}

export interface FlameScene {
  layout: FlameLayout
  painted: PaintedNodes
}

/** One side of a sandwich with its boxes; nodes are those of the side. */
export interface SandwichScene extends SandwichSide {
  layout: FlameLayout
  painted: PaintedNodes
}

export interface SandwichAnswer {
  node: number
  callers: SandwichScene
  callees: SandwichScene
  /** Outermost calls of the frame in the order of the profile, and what each takes. */
  calls: Int32Array<ArrayBuffer>
  callWeights: Float64Array<ArrayBuffer>
  weight: number
  /** Of the whole profile. */
  total: number
}

export interface ShownColumn {
  label: string
  values: Float64Array
  /** Text properties, by node, where the column is no number. */
  texts: string[] | null
}

export interface ShownProfile {
  /** Sent when the nodes differ from those sent before. */
  tree: TransferredTree | null
  /** Sent when they differ from those sent before. */
  columns: ShownColumn[] | null
  rows: Int32Array
  /** Per node 0 both, 1 new, 2 gone, 3 both under other names; null outside a diff. */
  state: Uint8Array | null
  /** Whether what a diff compares adds up from parts to the whole; false outside a diff. */
  isSum: boolean
  matches: Int32Array
  shownCount: number
  /** What the totals leave out and the arrangement joins, in sentences. */
  notes: string[]
  /** Time in the worker, ms. */
  took: number
}

export interface Detail {
  label: string
  value: number
  text: string
  reason: string
}

/** What files are opened as: profiles, or the shards of the capture of this name. */
export interface NamedFiles {
  files: readonly NamedFile[]
  capture?: string
}

/** `name` is shown in errors, and may be that of a scope. */
export interface NamedFile {
  file: Blob
  name: string
}

/** What files became; two that are no parts of one profile are compared. */
export interface OpenedFiles {
  profile?: ProfileInfo
  baseline?: ProfileInfo
}

export interface ProfileInfo {
  /** 'rank0.json.gz and 7 more' */
  name: string
  files: string[]
  count: number
  format: string
  metrics: string[]
  /** Whether its events have times, so that nodes can be put in their order. */
  hasTimes: boolean
  /** What it is first shown with. */
  suggested: string[]
  warnings: string[]
  /** Whether it is a capture, whose kernels are known by launch shape. */
  isCapture: boolean
}

export type TextForm = 'proton' | 'csv' | 'folded' | 'hatchet' | 'speedscope' | 'trace'

export type ProfileRequest =
  | { id: number; do: 'open' | 'baseline'; files: NamedFile[]; capture?: string }
  | { id: number; do: 'kernels'; by: KernelGrouping }
  | { id: number; do: 'show'; query: ProfileQuery }
  | { id: number; do: 'flame'; query: ProfileQuery; asked: FlameAsked }
  | { id: number; do: 'sandwich'; node: number; query: ProfileQuery; colour: FlameColour }
  | { id: number; do: 'details'; node: number; query: ProfileQuery }
  | { id: number; do: 'timeline'; question: TimelineAsk }
  | { id: number; do: 'text'; form: TextForm; query: ProfileQuery }
