/** The picture of the open profile: in which order and colours, and what the worker laid out for it. */
import { defineStore } from 'pinia'
import { computed, reactive, ref, shallowRef, watch } from 'vue'
import type { FlameGrouping } from '@shared/profile/ask/flamePaint'
import { useLatest } from '../ground/latest'
import type {
  FlameAsked,
  FlameScene,
  ProfileQuery,
  SandwichAnswer
} from '../workers/profileProtocol'
import { useProfile } from './profile'
import { useSavedForm } from './savedForm'

export type FlameColourName = 'kind' | FlameGrouping | `metric ${string}`
export type PictureKind = 'flame' | 'sandwich'

export const useFlame = defineStore('flame', () => {
  const profile = useProfile()
  const form = useSavedForm('profilePicture', {
    picture: 'flame' as PictureKind,
    order: 'recorded' as FlameAsked['order'],
    /** 'metric NAME' is the column of that name. */
    colour: 'kind' as FlameColourName
  })
  /** In a diff boxes show its change first. */
  const diff = reactive({ byChange: true })
  const scene = shallowRef<FlameScene>()
  const sandwich = shallowRef<SandwichAnswer>()
  /** Counts the layouts: colours come and go without it. */
  const layoutNumber = ref(0)

  const colour = computed<FlameAsked['colour']>(() => {
    if (profile.query.diff && diff.byChange) return 'change'
    const { colour: wanted } = form
    if (isGrouping(wanted)) return wanted
    const column = profile.columns.findIndex(({ label }) => wanted === `metric ${label}`)
    return column >= 0 ? { column } : 'kind'
  })
  const asked = computed<FlameAsked>(() => ({
    order: form.order === 'time' && !profile.info?.hasTimes ? 'recorded' : form.order,
    colour: colour.value
  }))

  /** What of a question changes the picture: not what is open, searched for or sorted. */
  function pictureQuery(): Partial<ProfileQuery> {
    const { openness: _open, search: _search, sort: _sort, ...rest } = profile.query
    return rest
  }
  const key = computed(() =>
    // While the table is asked for, query and tree do not belong together.
    profile.shown && !profile.busy && profile.filterProblem === ''
      ? JSON.stringify([profile.treeNumber, pictureQuery(), asked.value])
      : ''
  )
  let drawn = ''
  let laidOut = ''
  const { busy, refresh } = useLatest(async () => {
    const wanted = key.value
    if (wanted === '' || wanted === drawn) return
    const answer = await profile.question<FlameScene>({ do: 'flame', asked: asked.value })
    // Boxes are of nodes: of another tree they mean nothing.
    if (key.value === wanted) {
      drawn = wanted
      const [number, query, { order }] = JSON.parse(wanted) as [number, unknown, FlameAsked]
      const layout = JSON.stringify([number, query, order])
      if (layout !== laidOut) layoutNumber.value++
      laidOut = layout
      scene.value = answer
    }
  })
  watch(
    [key, () => profile.tree],
    ([now, tree], [, before]) => {
      if (tree !== before) scene.value = sandwich.value = undefined
      if (now !== '') void refresh()
    },
    { immediate: true }
  )

  const { refresh: refreshSandwich } = useLatest(async () => {
    const node = profile.selected
    if (node < 0 || key.value === '') return
    const answer = await profile.question<SandwichAnswer>({
      do: 'sandwich',
      node,
      colour: colour.value
    })
    if (node === profile.selected) sandwich.value = answer
  })
  watch([() => profile.selected, key], () => void refreshSandwich())

  return { form, diff, layoutNumber, scene, sandwich, asked, busy }
})

const isGrouping = (colour: FlameColourName): colour is 'kind' | FlameGrouping =>
  !colour.startsWith('metric ')
