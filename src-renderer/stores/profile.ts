/** The open profile: what is asked of the worker and what it answered. */
import { defineStore } from 'pinia'
import { computed, reactive, ref, shallowRef } from 'vue'
import type { KernelFacts, KernelGrouping } from '@shared/capture/kernelTable'
import { defaultDepth } from '@shared/profile/ask/ask'
import { demangle } from '@shared/profile/ask/demangle'
import { nodeAtPath, pathText } from '@shared/profile/ask/nodePath'
import { nodeName, type ProfileTree } from '@shared/profile/tree/profileTree'
import { fromTransferable } from '@shared/profile/tree/transfer'
import { viewCommand } from '@shared/profile/write/viewCommand'
import { fetchOpened } from '../client/openedFile'
import { failureOf, type Failure } from '../ground/failure'
import { useLatest } from '../ground/latest'
import type {
  Detail,
  FlameAsked,
  NamedFile,
  NamedFiles,
  OpenedFiles,
  ProfileInfo,
  ProfileQuery,
  ShownColumn,
  ShownProfile,
  TextForm
} from '../workers/profileProtocol'
import type { TimelineAnswers, TimelineAsk } from '../workers/timelineProtocol'
import { useConnection } from './connection'
import { useProfileWorker } from './profileWorker'

const firstQuery = (): ProfileQuery => ({
  metrics: [],
  include: '',
  exclude: '',
  threshold: undefined,
  depth: defaultDepth,
  sort: 'chronological',
  hotPath: false,
  arrangement: 'tree',
  node: undefined,
  metadata: false,
  demangle: true,
  diff: false,
  search: '',
  openness: { all: true, toggled: [] },
  byName: false
})

export const useProfile = defineStore('profile', () => {
  const info = shallowRef<ProfileInfo>()
  const baseline = shallowRef<ProfileInfo>()
  const query = reactive(firstQuery())
  const tree = shallowRef<ProfileTree>()
  /** Counts the trees shown, so that answers about one are told from those about another. */
  const treeNumber = ref(0)
  const columns = shallowRef<ShownColumn[]>([])
  const shown = shallowRef<ShownProfile>()
  /** The search that `shown` answers: while a later one is worked on, its matches are not yet those. */
  const searched = ref('')
  const selected = ref(-1)
  const details = shallowRef<Detail[]>([])
  const failure = shallowRef<Failure>()
  const filterProblem = ref('')
  const reading = ref('')
  const fraction = ref(0)
  /** Bytes of the file that is being read. */
  const readingBytes = ref(0)
  /** The run of the store whose profile this is; '' for a file. */
  const runId = ref('')
  const connection = useConnection()
  const worker = useProfileWorker()
  const { busy, refresh } = useLatest(ask)

  function plainQuery(): ProfileQuery {
    return JSON.parse(JSON.stringify(query)) as ProfileQuery
  }

  /** `run`: whose profile it is, where it comes from the store. */
  const read = (what: 'open' | 'baseline', file: Blob, name: string, run = '') =>
    readFiles(what, { files: [{ file, name }] }, run)

  /** Several are one profile where they are its parts; two that are not are compared. */
  async function readFiles(
    what: 'open' | 'baseline',
    { files, capture }: NamedFiles,
    run = ''
  ): Promise<void> {
    failure.value = undefined
    reading.value =
      capture ??
      (files.length === 1 ? files[0]!.name : `${files[0]!.name} and ${files.length - 1} more`)
    fraction.value = 0
    readingBytes.value = files.reduce((sum, { file }) => sum + file.size, 0)
    try {
      const opened = await worker.call<OpenedFiles>(
        { do: what, files: [...files], ...(capture !== undefined && { capture }) },
        (now) => {
          fraction.value = now
        }
      )
      if (opened.profile) {
        info.value = opened.profile
        runId.value = run
        baseline.value = undefined
        Object.assign(query, firstQuery(), { metrics: opened.profile.suggested })
      }
      if (opened.baseline) {
        baseline.value = opened.baseline
        query.diff = true
        query.node = undefined
        query.sort = 'chronological'
      }
      query.openness = startingOpenness(query)
      selected.value = -1
      await refresh()
    } catch (error) {
      failure.value = failureOf(`profile.${what}`, error)
    } finally {
      reading.value = ''
    }
  }

  /** The shards of a capture that lies on the main side. */
  async function readHandles(handles: readonly string[], capture: string): Promise<void> {
    const files: NamedFile[] = []
    for (const handle of handles) {
      const { name, file } = await fetchOpened(
        (input) => connection.call('files.read', input),
        handle
      )
      files.push({ name, file })
    }
    await readFiles('open', { files, capture })
  }

  function cancelReading(): void {
    worker.stop()
    runId.value = ''
    info.value = baseline.value = tree.value = shown.value = undefined
  }

  async function ask(): Promise<void> {
    try {
      const { search } = query
      const answer = await worker.call<ShownProfile>({ do: 'show', query: plainQuery() })
      // Rows and tree change together: row numbers mean nothing in another tree.
      if (answer.tree) {
        tree.value = fromTransferable(answer.tree)
        treeNumber.value++
        selected.value = -1
      }
      if (answer.columns) columns.value = answer.columns
      filterProblem.value = ''
      shown.value = answer
      searched.value = search
    } catch (error) {
      filterProblem.value = failureOf('profile.show', error).message
    }
  }

  async function change(part: Partial<ProfileQuery>): Promise<void> {
    const isRegrouped = query.arrangement !== 'tree'
    const isNewTree =
      'arrangement' in part ||
      'diff' in part ||
      (query.diff && ('metrics' in part || 'byName' in part)) ||
      (isRegrouped && ('metadata' in part || 'demangle' in part))
    const afresh: Partial<ProfileQuery> = {
      node: undefined,
      openness: startingOpenness({ ...query, ...part })
    }
    Object.assign(query, part, isNewTree ? afresh : {})
    await refresh()
  }

  async function select(node: number): Promise<void> {
    selected.value = node
    const answer = await worker.call<Detail[]>({ do: 'details', node, query: plainQuery() })
    if (selected.value === node) details.value = answer
  }

  /** Only the selected subtree; the whole tree again when it is what is shown, or nothing is selected. */
  async function focus(): Promise<void> {
    const { node } = query
    const isShown = node !== undefined && (node === selected.value || selected.value < 0)
    await change({ node: isShown ? undefined : selected.value })
  }

  const isOpen = (node: number) => query.openness.all !== query.openness.toggled.includes(node)

  async function setOpen(node: number, open: boolean): Promise<void> {
    if (isOpen(node) === open) return
    const { all, toggled } = query.openness
    const without = toggled.filter((other) => other !== node)
    const next = without.length < toggled.length ? without : [...toggled, node]
    await change({ openness: { all, toggled: next } })
  }

  /** Opens what is above a node, so that it has a row. */
  async function reveal(node: number): Promise<void> {
    const now = tree.value
    if (!now) return
    const { all, toggled } = query.openness
    const changed = new Set(toggled)
    for (let at = now.parent[node]!; at >= 0; at = now.parent[at]!) {
      if (isOpen(at)) continue
      if (all) changed.delete(at)
      else changed.add(at)
    }
    if (changed.size !== toggled.length) await change({ openness: { all, toggled: [...changed] } })
    await select(node)
  }

  /** Selects the node that a link names; false when the profile has none of this path. */
  async function revealPath(path: string): Promise<boolean> {
    const node = tree.value ? nodeAtPath(tree.value, path) : -1
    if (node >= 0) await reveal(node)
    return node >= 0
  }

  const selectedPath = computed(() =>
    tree.value && selected.value >= 0 ? pathText(tree.value, selected.value) : ''
  )

  /** Adds a column, or takes it away; one always stays. */
  async function toggleMetric(metric: string): Promise<void> {
    const { metrics } = query
    const isShown = metrics.includes(metric)
    if (isShown && metrics.length === 1) return
    await change({
      metrics: isShown ? metrics.filter((other) => other !== metric) : [...metrics, metric],
      sort: typeof query.sort === 'object' ? 'chronological' : query.sort
    })
  }

  /** Asks the worker something about what is shown. */
  const question = <T>(
    part:
      | { do: 'flame'; asked: FlameAsked }
      | { do: 'sandwich'; node: number; colour: FlameAsked['colour'] }
  ) => worker.call<T>({ ...part, query: plainQuery() })

  /** Asks for the timeline of the open profile; null where it has no times. */
  const askTimeline = <Q extends TimelineAsk>(question: Q) =>
    worker.call<TimelineAnswers[Q['ask']]>({ do: 'timeline', question })

  /** Of an open capture; null of any other profile. */
  const kernels = (by: KernelGrouping) => worker.call<KernelFacts[] | null>({ do: 'kernels', by })

  const text = (form: TextForm) => worker.call<string>({ do: 'text', form, query: plainQuery() })

  function nameOf(node: number): string {
    if (!tree.value) return ''
    const name = nodeName(tree.value, node)
    return query.demangle ? demangle(name) : name
  }

  const belowPath = computed(() =>
    tree.value && query.node !== undefined ? pathText(tree.value, query.node) : ''
  )
  const command = computed(() => {
    const base = query.diff ? baseline.value?.name : undefined
    const metrics = base === undefined ? query.metrics : query.metrics.slice(0, 1)
    return viewCommand({ ...query, metrics }, info.value?.files, base, belowPath.value)
  })

  return {
    info,
    runId,
    baseline,
    query,
    tree,
    treeNumber,
    question,
    columns,
    shown,
    searched,
    selected,
    details,
    failure,
    filterProblem,
    reading,
    fraction,
    readingBytes,
    busy,
    command,
    belowPath,
    read,
    readFiles,
    readHandles,
    cancelReading,
    change,
    select,
    focus,
    isOpen,
    setOpen,
    reveal,
    revealPath,
    selectedPath,
    toggleMetric,
    text,
    askTimeline,
    kernels,
    nameOf
  }
})

/** Callers are looked up kernel by kernel; everything else starts open. */
const startingOpenness = ({ arrangement }: ProfileQuery): ProfileQuery['openness'] =>
  arrangement === 'inverted' ? { all: false, toggled: [0] } : { all: true, toggled: [] }
