/** What the Profile view asks of its worker, and what it gets back. */
import type { Arrangement } from '@shared/profile/ask/arrange'
import type { Query } from '@shared/profile/ask/ask'
import type { TransferredTree } from '@shared/profile/tree/transfer'

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
  /** Edges of the icicle, 0..1. */
  x0: Float64Array<ArrayBuffer>
  x1: Float64Array<ArrayBuffer>
  levels: number
  /** Per node 0 both, 1 new, 2 gone; null outside a diff. */
  state: Uint8Array | null
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

export interface ProfileInfo {
  name: string
  count: number
  format: string
  metrics: string[]
  /** What it is first shown with. */
  suggested: string[]
  warnings: string[]
}

export type TextForm = 'proton' | 'csv' | 'folded' | 'hatchet' | 'speedscope' | 'trace'

export type ProfileRequest =
  | { id: number; do: 'open' | 'baseline'; file: Blob; name: string }
  | { id: number; do: 'show'; query: ProfileQuery }
  | { id: number; do: 'details'; node: number; query: ProfileQuery }
  | { id: number; do: 'text'; form: TextForm; query: ProfileQuery }
