import { ref, watch } from 'vue'
import type { useTimeline } from '../../stores/timeline'

/**
 * While measuring, edges of a range snap to those of slices, and what is selected is measured: from the slice where it began
 * to the one that is selected.
 */
export function useMeasuring(timeline: ReturnType<typeof useTimeline>) {
  const measuring = ref(false)
  const from = ref<{ startNs: number; endNs: number }>()

  /** Begins, or ends. */
  function measure(): void {
    measuring.value = !measuring.value
    from.value = measuring.value ? timeline.facts : undefined
    if (from.value) timeline.setRange(from.value)
  }
  watch(
    () => timeline.facts,
    (facts) => {
      if (!measuring.value || !facts) return
      const { startNs, endNs } = (from.value ??= facts)
      timeline.setRange({
        startNs: Math.min(startNs, facts.startNs),
        endNs: Math.max(endNs, facts.endNs)
      })
    }
  )
  return { measuring, measure }
}
