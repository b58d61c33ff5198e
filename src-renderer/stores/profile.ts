/** The open profile: what is asked of the worker and what it answered. */
import { defineStore } from 'pinia'
import { computed, reactive, ref, shallowRef } from 'vue'
import { demangle } from '@shared/profile/demangle'
import { nodeAtPath, pathText } from '@shared/profile/nodePath'
import { nodeName, type ProfileTree } from '@shared/profile/profileTree'
import { fromTransferable } from '@shared/profile/transfer'
import { failureOf, type Failure } from '../app/failure'
import type {
  Detail,
  ProfileInfo,
  ProfileQuery,
  ProfileRequest,
  ShownColumn,
  ShownProfile,
  TextForm
} from '../workers/profileProtocol'
import { WorkerClient } from '../workers/workerClient'

const everyLevel = 100

const firstQuery = (): ProfileQuery => ({
  metrics: [],
  include: '',
  exclude: '',
  threshold: NaN,
  depth: everyLevel,
  sort: 'chronological',
  hotPath: false,
  arrangement: 'calls',
  below: -1,
  metadata: false,
  demangle: true,
  diff: false,
  search: '',
  openness: { all: true, toggled: [] }
})

export const useProfile = defineStore('profile', () => {
  const info = shallowRef<ProfileInfo>()
  const baseline = shallowRef<ProfileInfo>()
  const query = reactive(firstQuery())
  const tree = shallowRef<ProfileTree>()
  const columns = shallowRef<ShownColumn[]>([])
  const shown = shallowRef<ShownProfile>()
  const selected = ref(-1)
  const details = shallowRef<Detail[]>([])
  const failure = shallowRef<Failure>()
  const filterProblem = ref('')
  const reading = ref('')
  const fraction = ref(0)
  /** While the worker looks for an answer. */
  const busy = ref(false)
  let client: WorkerClient<ProfileRequest> | undefined
  let asking: Promise<void> | undefined
  let askAgain = false

  function worker(): WorkerClient<ProfileRequest> {
    client ??= new WorkerClient(
      new Worker(new URL('../workers/profile.worker.ts', import.meta.url), { type: 'module' }),
      'The profile worker stopped: the file may need more memory than is free.'
    )
    return client
  }

  function plainQuery(): ProfileQuery {
    return JSON.parse(JSON.stringify(query), (key, value: unknown) =>
      key === 'threshold' && value === null ? NaN : value
    ) as ProfileQuery
  }

  async function read(what: 'open' | 'baseline', file: Blob, name: string): Promise<void> {
    failure.value = undefined
    reading.value = name
    fraction.value = 0
    try {
      const opened = await worker().call<ProfileInfo>({ do: what, file, name }, (now) => {
        fraction.value = now
      })
      if (what === 'open') {
        info.value = opened
        baseline.value = undefined
        Object.assign(query, firstQuery(), { metrics: firstMetrics(opened.metrics) })
      } else {
        baseline.value = opened
        query.diff = true
        query.below = -1
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

  function cancelReading(): void {
    client?.stop()
    client = undefined
    info.value = baseline.value = tree.value = shown.value = undefined
  }

  /** Asks again after the query changed. One question at a time: those that a later one overtakes are not asked. */
  function refresh(): Promise<void> {
    askAgain = busy.value = true
    asking ??= askUntilAnswered().finally(() => {
      asking = undefined
      busy.value = false
    })
    return asking
  }

  async function askUntilAnswered(): Promise<void> {
    while (askAgain) {
      askAgain = false
      await ask()
    }
  }

  async function ask(): Promise<void> {
    try {
      const answer = await worker().call<ShownProfile>({ do: 'show', query: plainQuery() })
      // Rows and tree change together: row numbers mean nothing in another tree.
      if (answer.tree) {
        tree.value = fromTransferable(answer.tree)
        selected.value = -1
      }
      if (answer.columns) columns.value = answer.columns
      filterProblem.value = ''
      shown.value = answer
    } catch (error) {
      filterProblem.value = failureOf('profile.show', error).message
    }
  }

  async function change(part: Partial<ProfileQuery>): Promise<void> {
    const isRegrouped = query.arrangement !== 'calls'
    const isNewTree =
      'arrangement' in part ||
      'diff' in part ||
      (query.diff && 'metrics' in part) ||
      (isRegrouped && ('metadata' in part || 'demangle' in part))
    const afresh: Partial<ProfileQuery> = {
      below: -1,
      openness: startingOpenness({ ...query, ...part })
    }
    Object.assign(query, part, isNewTree ? afresh : {})
    await refresh()
  }

  async function select(node: number): Promise<void> {
    selected.value = node
    details.value = await worker().call<Detail[]>({ do: 'details', node, query: plainQuery() })
  }

  /** Only the selected subtree; the whole tree again when it is what is shown, or nothing is selected. */
  async function focus(): Promise<void> {
    const isShown = query.below >= 0 && (query.below === selected.value || selected.value < 0)
    await change({ below: isShown ? -1 : selected.value })
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
    for (let at = now.parent[node]!; at >= 0; at = now.parent[at]!) await setOpen(at, true)
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

  const text = (form: TextForm) => worker().call<string>({ do: 'text', form, query: plainQuery() })

  function nameOf(node: number): string {
    if (!tree.value) return ''
    const name = nodeName(tree.value, node)
    return query.demangle ? demangle(name) : name
  }

  const belowPath = computed(() =>
    tree.value && query.below >= 0 ? pathText(tree.value, query.below) : ''
  )
  const command = computed(() =>
    viewCommand(query, info.value?.name, baseline.value?.name, belowPath.value)
  )

  return {
    info,
    baseline,
    query,
    tree,
    columns,
    shown,
    selected,
    details,
    failure,
    filterProblem,
    reading,
    fraction,
    busy,
    command,
    belowPath,
    read,
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
    nameOf
  }
})

/** Callers are looked up kernel by kernel; everything else starts open. */
const startingOpenness = ({ arrangement }: ProfileQuery): ProfileQuery['openness'] =>
  arrangement === 'callers' ? { all: false, toggled: [0] } : { all: true, toggled: [] }

function firstMetrics(available: readonly string[]): string[] {
  if (!available.includes('time/ms')) return available.slice(0, 1)
  const rate = available.find((name) => /^tflop\d*\/s$/.test(name))
  return ['time/ms', 'time/%', ...(rate ? [rate] : [])]
}

const quoted = (word: string) =>
  /^[\w./%,:=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/** The command line that shows the same. */
export function viewCommand(
  query: ProfileQuery,
  file = 'FILE',
  baseline?: string,
  belowPath = ''
): string {
  const words = ['blockscope', 'view', quoted(file), '-m', quoted(query.metrics.join())]
  if (query.include) words.push('-i', quoted(query.include))
  if (query.exclude) words.push('-e', quoted(query.exclude))
  if (!Number.isNaN(query.threshold)) words.push('-t', String(query.threshold))
  if (query.depth !== everyLevel) words.push('-d', String(query.depth))
  if (query.sort === 'name') words.push('--sort', 'name')
  else if (typeof query.sort === 'object' && query.sort.column === 0 && query.sort.descending)
    words.push('--sort', 'metric')
  if (query.hotPath) words.push('--hot-path')
  if (belowPath) words.push('--node', quoted(belowPath))
  if (query.arrangement === 'kernels') words.push('--flat')
  if (query.arrangement === 'callers') words.push('--inverted')
  if (query.metadata) words.push('--metadata')
  if (!query.demangle) words.push('--no-demangle')
  if (query.diff && baseline) words.push('--diff-profile', quoted(baseline))
  return words.join(' ')
}
