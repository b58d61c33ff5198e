/** The rows of a table that are drawn while it scrolls, all of one height. */
import { useElementSize, useEventListener } from '@vueuse/core'
import { computed, ref, shallowRef, watch, type Ref } from 'vue'
import { boxHeight, boxTop, elementsFor, rowsAt, tableTop, type Elements } from './rowWindow'

export interface RowPlace {
  row: number
  /** Of the element that shows it; another row's later. */
  element: number
  /** From the top of the box, px. */
  y: number
}

/** Rows drawn beyond either end of what is in sight. */
const spareRows = 4
/** Before it has been laid out, as in tests. */
const usualView = 600
const restMs = 150

/** @param headHeight what sticks to the top of the view, px: rows below it are not in sight. */
export function useRowWindow(
  scroller: Ref<HTMLElement | null>,
  count: () => number,
  rowHeight: () => number
) {
  const { height } = useElementSize(scroller)
  const view = computed(() => height.value || usualView)
  /** The box begins right below the head, which sticks and is as high as a row. */
  const total = computed(() => count() * rowHeight())
  const whole = computed(() => total.value + rowHeight())
  const scrolled = ref(0)
  /** Pixels of the table that are above the view, less those of the box. */
  const ahead = ref(0)
  const top = computed(() => scrolled.value + ahead.value)
  let elements: Elements = { first: 0, end: 0, ids: [] }
  const places = computed<RowPlace[]>(() => {
    const high = rowHeight()
    elements = elementsFor(elements, rowsAt(top.value, view.value, high, count(), spareRows))
    const { first, ids } = elements
    return ids.map((element, at) => {
      const row = first + at
      return { row, element, y: row * high - ahead.value }
    })
  })

  const topOf = (scrollTop: number) => Math.round(tableTop(scrollTop, whole.value, view.value))

  function place(to: number): void {
    const box = scroller.value
    if (!box) return
    const now = Math.max(0, Math.min(to, whole.value - view.value))
    box.scrollTop = Math.round(boxTop(now, whole.value, view.value))
    scrolled.value = box.scrollTop
    ahead.value = Math.round(now - scrolled.value)
  }

  const resting = shallowRef<ReturnType<typeof setTimeout>>()
  function onScroll(): void {
    const box = scroller.value
    if (!box || box.scrollTop === scrolled.value) return
    const by = box.scrollTop - scrolled.value
    scrolled.value = box.scrollTop
    if (whole.value <= boxHeight(whole.value)) {
      ahead.value = 0
      return
    }
    const isAtEnd = scrolled.value <= 0 || scrolled.value >= box.scrollHeight - view.value - 1
    if (isAtEnd || Math.abs(by) > view.value) ahead.value = topOf(scrolled.value) - scrolled.value
    clearTimeout(resting.value)
    resting.value = setTimeout(() => place(top.value), restMs)
  }
  useEventListener(scroller, 'scroll', onScroll, { passive: true })
  // Fewer rows or others: as far down as it was, if there is so much.
  watch([total, view], () => place(top.value), { flush: 'post' })

  /** Rows are below the head, so as much less is in sight. */
  function isInSight(row: number): boolean {
    const y = row * rowHeight() - top.value
    return y >= 0 && y + 2 * rowHeight() <= view.value
  }

  /** Scrolls no further than it must, or to the middle. */
  function bringIntoSight(row: number, to: 'nearest' | 'middle' = 'nearest'): void {
    if (isInSight(row)) return
    const y = row * rowHeight()
    const free = view.value - 2 * rowHeight()
    if (to === 'middle') place(y - free / 2)
    else place(y < top.value ? y : y - free)
  }

  return { places, height: computed(() => boxHeight(whole.value) - rowHeight()), bringIntoSight }
}
