/** The timeline of the open profile: what is looked at, and what the worker answered. */
import { useThrottleFn } from '@vueuse/core'
import { defineStore } from 'pinia'
import { computed, reactive, ref, shallowRef, watch } from 'vue'
import type { CounterScene } from '@shared/profile/lanes/counters'
import type { RangeSums } from '@shared/profile/lanes/rangeSums'
import type { Window } from '@shared/profile/lanes/window'
import { failureOf, type Failure } from '../ground/failure'
import { useLatest } from '../ground/latest'
import type {
  Coloring,
  ShownFacts,
  ShownOverview,
  ShownScene,
  TimelineInfo
} from '../workers/timelineProtocol'
import { useProfile } from './profile'

/** What a picture of the timeline needs: a window of time, its width in pixels, the rows in sight. */
export interface SceneWanted extends Window {
  width: number
  rows: number[]
}

const sumsEveryMs = 150

export const useTimeline = defineStore('timeline', () => {
  const profile = useProfile()
  /** Null where the open profile has no times; undefined until that is known. */
  const info = shallowRef<TimelineInfo | null>()
  const scene = shallowRef<ShownScene>()
  const overview = shallowRef<ShownOverview>()
  /** One for each counter of the info. */
  const counters = shallowRef<readonly CounterScene[]>([])
  const sums = shallowRef<RangeSums>()
  const facts = shallowRef<ShownFacts>()
  /** The range whose sums are shown; undefined: the whole. */
  const range = shallowRef<Window>()
  const coloring = ref<Coloring>('kind')
  const search = reactive({ text: '', count: 0, place: 0, problem: '' })
  const failure = shallowRef<Failure>()
  /** Lanes that are not drawn and not summed, by index. */
  const hidden = ref<ReadonlySet<number>>(new Set())
  let wanted: SceneWanted | undefined
  let overviewWidth = 0

  /** What goes wrong in the worker is said once, in the view. */
  async function guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      failure.value = failureOf('profile.timeline', error)
    }
  }

  const scenes = useLatest(() =>
    guarded(async () => {
      if (wanted && info.value)
        scene.value = await profile.askTimeline({ ask: 'scene', query: wanted })
    })
  )
  const counterScenes = useLatest(() =>
    guarded(async () => {
      if (!wanted || !info.value || info.value.counters.length === 0) return
      const { startNs, endNs, width } = wanted
      const window = { startNs, endNs }
      counters.value = await profile.askTimeline({ ask: 'counters', window, width })
    })
  )
  const overviews = useLatest(() =>
    guarded(async () => {
      if (info.value && overviewWidth > 0)
        overview.value = await profile.askTimeline({
          ask: 'overview',
          width: overviewWidth,
          lanes: shownLanes.value
        })
    })
  )
  const sumsAsked = useLatest(() =>
    guarded(async () => {
      if (!info.value) return
      const asked = range.value ?? whole.value
      sums.value = await profile.askTimeline({
        ask: 'sums',
        range: asked,
        lanes: summedLanes.value
      })
    })
  )

  /** While a range is drawn its sums are read, not watched: a table for each movement would take the frames of the picture. */
  const sumsInStep = useThrottleFn(() => void sumsAsked.refresh(), sumsEveryMs, true)

  const whole = computed<Window>(() => ({ startNs: 0, endNs: info.value?.lengthNs ?? 0 }))
  const shownLanes = computed(() =>
    (info.value?.lanes ?? []).flatMap((_, lane) => (hidden.value.has(lane) ? [] : [lane]))
  )
  const summedLanes = computed(() => {
    const shown = new Set(shownLanes.value)
    return (info.value?.workLanes ?? []).filter((lane) => shown.has(lane))
  })

  /** Begins with what is open now. */
  async function load(): Promise<void> {
    failure.value = undefined
    info.value = undefined
    scene.value = overview.value = sums.value = facts.value = range.value = undefined
    hidden.value = new Set()
    counters.value = []
    Object.assign(search, { text: '', count: 0, place: 0, problem: '' })
    wanted = undefined
    if (!profile.info) return
    await guarded(async () => {
      const [found] = await Promise.all([
        profile.askTimeline({ ask: 'info' }),
        profile.askTimeline({ ask: 'colour', by: coloring.value })
      ])
      info.value = found
    })
    await Promise.all([sumsAsked.refresh(), overviews.refresh()])
  }

  function look(to: SceneWanted): void {
    wanted = to
    void scenes.refresh()
    void counterScenes.refresh()
  }

  function lookOver(width: number): void {
    overviewWidth = width
    void overviews.refresh()
  }

  async function colour(by: Coloring): Promise<void> {
    coloring.value = by
    await guarded(async () => {
      await profile.askTimeline({ ask: 'colour', by })
    })
    await Promise.all([scenes.refresh(), overviews.refresh(), sumsAsked.refresh(), again()])
  }

  /** The details again, whose colour has changed. */
  async function again(): Promise<void> {
    if (facts.value) await select(facts.value.slice)
  }

  async function select(slice: number): Promise<void> {
    if (slice < 0) {
      facts.value = undefined
      return
    }
    await guarded(async () => {
      facts.value = await profile.askTimeline({ ask: 'slice', slice })
    })
  }

  async function selectAt(row: number, ns: number, reachNs: number): Promise<void> {
    await guarded(async () => {
      await select(await profile.askTimeline({ ask: 'at', row, ns, reachNs }))
    })
  }

  async function stepBeside(direction: 1 | -1): Promise<void> {
    const from = facts.value
    if (!from) return
    await guarded(async () => {
      const { row, slice } = from
      const next = await profile.askTimeline({ ask: 'beside', row, slice, direction })
      if (next >= 0) await select(next)
    })
  }

  async function stepToRow(row: number): Promise<void> {
    const from = facts.value
    if (!from) return
    await guarded(async () => {
      const next = await profile.askTimeline({ ask: 'nearest', row, slice: from.slice })
      if (next >= 0) await select(next)
    })
  }

  /** The latest search: a step that is asked for meanwhile is taken in what it finds. */
  let searching: Promise<unknown> = Promise.resolve()

  async function find(text: string): Promise<void> {
    search.text = text
    searching = guarded(async () => {
      const found = await profile.askTimeline({ ask: 'search', text })
      // A later search has been typed meanwhile.
      if (search.text !== text) return
      Object.assign(search, found, { place: 0 })
    })
    await searching
    await scenes.refresh()
  }

  /** Steps that come faster than their answers are taken one after another. */
  let stepping = Promise.resolve()
  const stepHit = (direction: 1 | -1): Promise<void> =>
    (stepping = stepping.then(() => stepOneHit(direction)))

  async function stepOneHit(direction: 1 | -1): Promise<void> {
    await searching
    if (search.count === 0) return
    await guarded(async () => {
      const from = facts.value?.slice ?? -1
      const { slice, place } = await profile.askTimeline({ ask: 'hit', from, direction })
      if (slice < 0) return
      await select(slice)
      search.place = place
    })
  }

  async function gapFrom(ns: number, direction: 1 | -1): Promise<Window | null> {
    return profile.askTimeline({ ask: 'gap', ns, direction })
  }

  /** Selects the first slice of a node of the tree; how many it has. */
  async function selectNode(path: string): Promise<number> {
    const { slice, place } = await profile.askTimeline({ ask: 'node', path })
    if (slice >= 0) await select(slice)
    return place
  }

  function setRange(to: Window | undefined): void {
    range.value = to
    void sumsInStep()
  }

  function setHidden(lanes: Iterable<number>): void {
    hidden.value = new Set(lanes)
    void sumsAsked.refresh()
    void overviews.refresh()
  }

  watch(
    () => profile.info,
    () => void load(),
    { immediate: true }
  )

  return {
    info,
    scene,
    overview,
    counters,
    sums,
    facts,
    range,
    whole,
    coloring,
    search,
    failure,
    hidden,
    shownLanes,
    load,
    look,
    lookOver,
    colour,
    select,
    selectAt,
    stepBeside,
    stepToRow,
    find,
    stepHit,
    gapFrom,
    selectNode,
    setRange,
    setHidden
  }
})
