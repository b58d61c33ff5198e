/** The open profile and its baseline, and the answers to the view's questions. Runs in the worker; needs no DOM. */
import { UserError } from '@shared/errors'
import { ask, subjectOf, type Answer, type Query } from '@shared/profile/ask/ask'
import { demangle } from '@shared/profile/ask/demangle'
import {
  availableMetrics,
  deriveMetric,
  type DerivedMetric
} from '@shared/profile/ask/deriveMetric'
import { icicle, zoomTo } from '@shared/profile/ask/icicle'
import { matchNodes } from '@shared/profile/ask/nameMatcher'
import { suggestedMetrics } from '@shared/profile/ask/suggestedMetrics'
import { openProfile, type OpenedProfile } from '@shared/profile/read/openProfile'
import type { ProfileTree } from '@shared/profile/tree/profileTree'
import { toTransferable } from '@shared/profile/tree/transfer'
import { notesOn } from '@shared/profile/write/notes'
import { printTree } from '@shared/profile/write/printTree'
import { traceOfRun } from '@shared/profile/write/runTrace'
import { chromeTracePieces } from '@shared/profile/write/writeChromeTrace'
import { csvLines } from '@shared/profile/write/writeCsv'
import { foldedLines } from '@shared/profile/write/writeFolded'
import { hatchetPieces } from '@shared/profile/write/writeHatchet'
import { speedscopePieces } from '@shared/profile/write/writeSpeedscope'
import type {
  Detail,
  ProfileInfo,
  ProfileQuery,
  ShownColumn,
  ShownProfile,
  TextForm
} from './profileProtocol'

/** Which nodes are open: all or none, but for those toggled. */
export class Openness extends Set<number> {
  constructor(
    private readonly inverted: boolean,
    toggled: Iterable<number>
  ) {
    super()
    for (const node of toggled) super.add(node)
  }

  override has(node: number): boolean {
    return this.inverted !== super.has(node)
  }
}

export class ProfileSession {
  private opened: OpenedProfile | undefined
  private name = ''
  private base: ProfileTree | undefined
  private sentTree: ProfileTree | undefined
  private sentColumns: readonly DerivedMetric[] | undefined

  open(bytes: Uint8Array, name: string, onProgress?: (fraction: number) => void): ProfileInfo {
    const opened = openProfile(bytes, name, onProgress)
    this.opened = opened
    this.base = undefined
    this.name = name
    return infoOf(opened.tree, name)
  }

  openBaseline(
    bytes: Uint8Array,
    name: string,
    onProgress?: (fraction: number) => void
  ): ProfileInfo {
    this.base = openProfile(bytes, name, onProgress).tree
    return infoOf(this.base, name)
  }

  show(query: ProfileQuery): ShownProfile {
    const began = performance.now()
    const answer = this.ask(query)
    const { tree, columns, shown, rows, widths, comparison, remarks } = answer
    const whole = icicle(tree, widths, shown)
    const edges = query.node === undefined ? whole : zoomTo(whole, query.node)
    const isNewTree = tree !== this.sentTree
    this.sentTree = tree
    const areNewColumns = columns !== this.sentColumns
    this.sentColumns = columns
    return {
      // One copy here, off the UI thread, so that it can be handed over and queries still be answered.
      tree: isNewTree ? structuredClone(toTransferable(tree).message) : null,
      columns: areNewColumns ? columns.map(shownColumn) : null,
      rows,
      x0: edges.x0,
      x1: edges.x1,
      levels: edges.levels,
      state: comparison?.diff.state ?? null,
      matches: matchesOf(tree, shown, query),
      shownCount: shown.reduce((sum, one) => sum + one, 0),
      notes: [...notesOn(this.current().tree, query), ...remarks],
      took: performance.now() - began
    }
  }

  details(node: number, query: ProfileQuery): Detail[] {
    const { asked, baselines } = this.question(query)
    const { tree, columns, comparison } = subjectOf(this.current().tree, asked, baselines)
    const rules = { proton: false, metadata: query.metadata }
    const metrics = comparison
      ? columns
      : availableMetrics(tree).map((request) => deriveMetric(tree, request, rules))
    return metrics.map(({ label, values, text, reason }) => ({
      label,
      value: values[node]!,
      text: text?.(node) ?? '',
      reason: reason(node)
    }))
  }

  /** The whole profile in one form; 'proton' is what is shown, filters applied. */
  text(form: TextForm, query: ProfileQuery): string {
    const { tree, timeline, run } = this.current()
    const nameOf = query.demangle ? demangle : (name: string) => name
    switch (form) {
      case 'proton':
        return printTree(this.ask(query, true))
      case 'csv':
        return [...csvLines(tree, nameOf)].join('')
      case 'folded':
        return [...foldedLines(tree, nameOf)].join('')
      case 'hatchet':
        return [...hatchetPieces(tree)].join('')
      case 'speedscope':
        return [...speedscopePieces(tree, this.name, nameOf)].join('')
      case 'trace':
        return run ? traceOfRun(run, tree) : [...chromeTracePieces(tree, timeline, nameOf)].join('')
    }
  }

  private current(): OpenedProfile {
    if (!this.opened) throw new UserError('usage', 'No profile is open.')
    return this.opened
  }

  private ask(query: ProfileQuery, everythingOpen = false): Answer {
    const { all, toggled } = query.openness
    const open =
      everythingOpen || (all && toggled.length === 0) ? 'all' : new Openness(all, toggled)
    const { asked, baselines } = this.question(query)
    return ask(this.current().tree, asked, baselines, open)
  }

  /** A comparison is of the first metric. */
  private question(query: ProfileQuery): { asked: Query; baselines: ProfileTree[] } {
    if (!query.diff || !this.base) return { asked: query, baselines: [] }
    return { asked: { ...query, metrics: query.metrics.slice(0, 1) }, baselines: [this.base] }
  }
}

function shownColumn({ label, values, text }: DerivedMetric): ShownColumn {
  return { label, values, texts: text ? Array.from(values, (_, node) => text(node)) : null }
}

function infoOf(tree: ProfileTree, name: string): ProfileInfo {
  const { count, format, warnings } = tree
  const suggested = suggestedMetrics(tree)
  return { name, count, format, metrics: availableMetrics(tree), suggested, warnings }
}

function matchesOf(tree: ProfileTree, shown: Uint8Array, { search }: ProfileQuery): Int32Array {
  if (search === '') return new Int32Array(0)
  const mask = matchNodes(tree, search, { ignoreCase: true })
  const nodes: number[] = []
  for (let node = 0; node < tree.count; node++) if (mask[node] && shown[node]) nodes.push(node)
  return Int32Array.from(nodes)
}
