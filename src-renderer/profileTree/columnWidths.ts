/** Widths of the columns of the profile's tree, as a person drew them. */
import { computed } from 'vue'
import { useProfile } from '../stores/profile'
import { useSavedForm } from '../stores/savedForm'

export const nameColumn = 'Name'
const usualWidth = { name: 176, column: 104 }
const leastWidth = 56
const barWidth = 96
/** Of a whole bar, which keeps clear of the figures before it, px. */
export const shareWidth = barWidth - 12

/** @param barColumn the place of the column with bars, which has no width of its own. */
export function useColumnWidths(barColumn: () => number) {
  const profile = useProfile()
  const form = useSavedForm('profileColumns', { widths: {} as Record<string, number> })

  const widthOf = (label: string) =>
    form.widths[label] ?? (label === nameColumn ? usualWidth.name : usualWidth.column)

  /** As grid-template-columns. */
  const tracks = computed(() => {
    const name = form.widths[nameColumn]
    const first = name === undefined ? `minmax(${usualWidth.name}px, 1fr)` : `${name}px`
    const others = profile.columns.map(({ label }) => `${widthOf(label)}px`)
    others.splice(barColumn(), 0, `${barWidth}px`)
    return [first, ...others].join(' ')
  })

  function resize(label: string, to: number): void {
    form.widths = { ...form.widths, [label]: Math.max(leastWidth, Math.round(to)) }
  }

  function resizeByDrag(label: string, event: PointerEvent): void {
    const handle = event.currentTarget as HTMLElement
    const start = handle.parentElement!.getBoundingClientRect().width
    const from = event.clientX
    handle.setPointerCapture(event.pointerId)
    const move = (now: PointerEvent) => resize(label, start + now.clientX - from)
    const end = () => {
      handle.removeEventListener('pointermove', move)
      handle.removeEventListener('pointerup', end)
    }
    handle.addEventListener('pointermove', move)
    handle.addEventListener('pointerup', end)
  }

  function resizeByKey(label: string, event: KeyboardEvent): void {
    const by = { ArrowLeft: -16, ArrowRight: 16 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    event.stopPropagation()
    const { width } = (event.currentTarget as HTMLElement).parentElement!.getBoundingClientRect()
    resize(label, width + by)
  }

  function resetWidth(label: string): void {
    const { [label]: _drawn, ...others } = form.widths
    form.widths = others
  }

  return { tracks, widthOf, resizeByDrag, resizeByKey, resetWidth }
}
