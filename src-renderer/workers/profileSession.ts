/** The open profile and its baseline, and the answers to the view's questions. Runs in the worker; needs no DOM. */
import { allKernelFacts, type KernelFacts, type KernelGrouping } from '@shared/capture/kernelTable'
import { UserError } from '@shared/errors'
import { ask, subjectOf, type Answer, type Query } from '@shared/profile/ask/ask'
import { demangle } from '@shared/profile/ask/demangle'
import {
  availableMetrics,
  metricFormula,
  type DerivedMetric,
  type MetricFormula
} from '@shared/profile/ask/deriveMetric'
import { flameLayout, grownWeights, type FlameShape } from '@shared/profile/ask/flame'
import {
  paintByChange,
  paintByGroup,
  paintByKind,
  paintByMetric,
  type FlameColour,
  type PaintedNodes
} from '@shared/profile/ask/flamePaint'
import { matchNodes } from '@shared/profile/ask/nameMatcher'
import { sandwichOf, type SandwichSide } from '@shared/profile/ask/sandwich'
import { suggestedMetrics } from '@shared/profile/ask/suggestedMetrics'
import type { OpenedProfile } from '@shared/profile/read/openProfile'
import { timelineOf } from '@shared/profile/timelineOf'
import type { ProfileTree } from '@shared/profile/tree/profileTree'
import { cached } from '@shared/profile/tree/rollUp'
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
  FlameAsked,
  FlameScene,
  ProfileInfo,
  ProfileQuery,
  SandwichAnswer,
  SandwichScene,
  ShownColumn,
  ShownProfile,
  TextForm
} from './profileProtocol'
import type { TimelineAsk } from './timelineProtocol'
import { TimelineSession } from './timelineSession'

/** A profile, and the names of the files that it is of: first the one it is called by. */
export interface ReadProfile {
  opened: OpenedProfile
  files: string[]
}

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
  /** Made when the view is first shown; null where the profile has no times. */
  private lanes: TimelineSession | null | undefined
  private name = ''
  private base: ProfileTree | undefined
  private sentTree: ProfileTree | undefined
  private sentColumns: readonly DerivedMetric[] | undefined
  /** Of the last question of the table; its rows were handed over. */
  private lastShown: { key: string; answer: Pictured } | undefined
  private lastPainted: { key: readonly unknown[]; painted: PaintedNodes } | undefined

  open(read: ReadProfile): ProfileInfo {
    this.opened = read.opened
    this.lanes = undefined
    this.lastShown = undefined
    this.base = undefined
    this.name = read.files[0]!
    return infoOf(read)
  }

  openBaseline(read: ReadProfile): ProfileInfo {
    this.base = read.opened.tree
    this.lastShown = undefined
    return infoOf(read)
  }

  show(query: ProfileQuery): ShownProfile {
    const began = performance.now()
    const answer = this.ask(query)
    const { tree, columns, shown, rows, comparison, remarks } = answer
    this.lastShown = { key: questionKey(query), answer }
    const isNewTree = tree !== this.sentTree
    this.sentTree = tree
    const areNewColumns = columns !== this.sentColumns
    this.sentColumns = columns
    return {
      // One copy here, off the UI thread, so that it can be handed over and queries still be answered.
      tree: isNewTree ? structuredClone(toTransferable(tree).message) : null,
      columns: areNewColumns ? columns.map(shownColumn) : null,
      rows,
      state: comparison
        ? comparison.diff.state.map((state, node) => (comparison.renamed[node] ? renamed : state))
        : null,
      isSum: comparison?.diff.isSum ?? false,
      matches: matchesOf(tree, shown, query),
      shownCount: countOf(shown),
      notes: [...notesOn(this.current().tree, query), ...remarks],
      took: performance.now() - began
    }
  }

  /** What the flame graph of a question looks like. Everything in it is made anew, so that it can be handed over. */
  flame(query: ProfileQuery, { order, colour }: FlameAsked): FlameScene {
    const answer = this.picture(query)
    const { tree, shown } = answer
    const limit = query.depth
    const mask =
      limit > deepest(tree)
        ? shown
        : shown.map((kept, node) => kept && +(tree.depth[node]! < limit))
    const weights = weightsOf(answer)
    const rank = order === 'time' && tree === this.current().tree ? this.firstStarts() : undefined
    const ordered = rank ? { rank } : order === 'heavy' ? 'heavy' : 'recorded'
    const paint = this.painted(answer, weights, colour)
    return {
      layout: flameLayout(tree, weights, ordered, mask),
      painted: { ...paint, classes: paint.classes.slice() }
    }
  }

  /** All calls of the frame that a node is one of. */
  sandwich(node: number, query: ProfileQuery, colour: FlameColour): SandwichAnswer {
    const answer = this.picture(query)
    const weights = weightsOf(answer)
    const all = this.painted(answer, weights, colour)
    const { callers, callees, calls, weight } = sandwichOf(
      answer.tree,
      weights,
      node,
      answer.nameOf
    )
    return {
      node,
      callers: sideScene(callers, all),
      callees: sideScene(callees, all),
      calls,
      callWeights: Float64Array.from(calls, (call) => weights[call]! || 0),
      weight,
      total: rootsOf(answer.tree).reduce((sum, root) => sum + (weights[root]! || 0), 0)
    }
  }

  /** Kept while a filter or an order changes, which paint nothing anew. */
  private painted(answer: Pictured, weights: Float64Array, colour: FlameColour): PaintedNodes {
    const { lastPainted: last } = this
    const { columns } = answer
    const value = typeof colour === 'object' ? columns[colour.column]?.values : answer.comparison
    const key = [answer.tree, answer.widths, value, JSON.stringify(colour)] as const
    if (last?.key.every((part, at) => part === key[at])) return last.painted
    const fresh = painted(answer, weights, colour)
    this.lastPainted = { key, painted: fresh }
    return fresh
  }

  details(node: number, query: ProfileQuery): Detail[] {
    const { asked, baselines } = this.question(query)
    const { tree, columns, comparison } = subjectOf(this.current().tree, asked, baselines)
    const rules = { proton: false, metadata: query.metadata }
    const metrics: Omit<MetricFormula, 'values'>[] = comparison
      ? columns.map((column) => ({ ...column, valueAt: (at) => column.values[at]! }))
      : availableMetrics(tree).map((request) => metricFormula(tree, request, rules))
    return metrics.map(({ label, valueAt, text, reason }) => ({
      label,
      value: valueAt(node),
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

  /** Per node the start of the first event in its subtree; those without one come last. */
  private firstStarts(): Float64Array | undefined {
    const { tree, timeline } = this.current()
    if (!timeline) return undefined
    return cached(tree, 'first starts', () => {
      const first = new Float64Array(tree.count).fill(Infinity)
      for (let event = 0; event < timeline.count; event++) {
        const node = timeline.node[event]!
        if (node >= 0) first[node] = Math.min(first[node]!, timeline.startNs[event]!)
      }
      for (let node = tree.count - 1; node > 0; node--) {
        const above = tree.parent[node]!
        if (above >= 0) first[above] = Math.min(first[above]!, first[node]!)
      }
      return first
    })
  }

  /** Null where the profile has no times. */
  timeline(question: TimelineAsk): unknown {
    if (this.lanes === undefined) {
      const timeline = timelineOf(this.current())
      this.lanes = timeline && new TimelineSession(this.current().tree, timeline)
    }
    return this.lanes?.answer(question) ?? null
  }

  /** Of a capture, the longest first; null where the profile is none. */
  kernels(by: KernelGrouping): KernelFacts[] | null {
    const { kernels } = this.current()
    return kernels ? allKernelFacts(kernels, by) : null
  }

  private current(): OpenedProfile {
    if (!this.opened) throw new UserError('usage', 'No profile is open.')
    return this.opened
  }

  /** What the table shows already is not asked again for its picture: filters go over every node. */
  private picture(query: ProfileQuery): Pictured {
    const last = this.lastShown
    return last?.key === questionKey(query) ? last.answer : this.ask(query)
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

type Pictured = Omit<Answer, 'rows'>

/** What is searched for changes neither rows nor widths. */
const questionKey = ({ search: _searched, ...asked }: ProfileQuery): string => JSON.stringify(asked)

function countOf(shown: Uint8Array): number {
  let count = 0
  for (let node = 0; node < shown.length; node++) count += shown[node]!
  return count
}

function shownColumn({ label, values, text }: DerivedMetric): ShownColumn {
  return { label, values, texts: text ? Array.from(values, (_, node) => text(node)) : null }
}

function infoOf({ opened: { tree, timeline, kernels }, files }: ReadProfile): ProfileInfo {
  const { count, format, warnings } = tree
  const others = files.length - 1
  const name = others > 0 ? `${files[0]} and ${others} more` : files[0]!
  return {
    ...{ name, files, count, format, warnings },
    metrics: availableMetrics(tree),
    hasTimes: timeline !== null && timeline !== undefined,
    suggested: suggestedMetrics(tree),
    isCapture: kernels !== undefined
  }
}

/** Beside inBoth, isNew and isGone. */
const renamed = 3

function rootsOf({ count, end }: ProfileTree): number[] {
  const roots: number[] = []
  for (let root = 0; root < count; root = end[root]!) roots.push(root)
  return roots
}

const deepest = (tree: ProfileTree): number =>
  cached(tree, 'deepest', () => tree.depth.reduce((most, depth) => Math.max(most, depth), 0))

/** In a comparison a parent holds the larger side of each of its children. */
function weightsOf({ tree, widths, comparison }: Pictured): Float64Array {
  return comparison ? grownWeights(tree, widths) : widths
}

function painted(answer: Pictured, weights: Float64Array, colour: FlameColour): PaintedNodes {
  const { tree, columns, comparison } = answer
  if (colour === 'change' && comparison)
    return paintByChange(comparison.diff.ratio, comparison.diff.state)
  if (colour === 'name' || colour === 'module') return paintByGroup(tree, weights, colour)
  const column = typeof colour === 'object' ? columns[colour.column] : undefined
  return column && !column.text
    ? paintByMetric(column.values, column.label)
    : paintByKind(tree, weights)
}

/** Boxes put together look as the heaviest of them. */
function sideScene(side: SandwichSide, all: PaintedNodes): SandwichScene {
  const shape: FlameShape = side
  return {
    ...side,
    layout: flameLayout(shape, side.weight, 'heavy'),
    painted: { ...all, classes: Uint8Array.from(side.example, (node) => all.classes[node]!) }
  }
}

function matchesOf(tree: ProfileTree, shown: Uint8Array, { search }: ProfileQuery): Int32Array {
  if (search === '') return new Int32Array(0)
  const mask = matchNodes(tree, search, { ignoreCase: true })
  const nodes: number[] = []
  for (let node = 0; node < tree.count; node++) if (mask[node] && shown[node]) nodes.push(node)
  return Int32Array.from(nodes)
}
