/** The stretch a picture shows, as state: set at once, or in a short movement that lets the eye follow. */
import { onScopeDispose, shallowRef, type ShallowRef } from 'vue'
import { isSameSpan, limited, type Span, type SpanLimits } from './span'

const durationMs = 160

export interface SpanState {
  span: Readonly<ShallowRef<Span>>
  set: (to: Span, smooth?: boolean) => void
}

/** @param limits read at every change: what there is may grow. */
export function useSpan(first: Span, limits: () => SpanLimits): SpanState {
  const span = shallowRef(first)
  let frame = 0

  function set(to: Span, smooth = false): void {
    cancelAnimationFrame(frame)
    const target = limited(to, limits())
    if (isSameSpan(target, span.value)) return
    if (!smooth || isCalm()) {
      span.value = target
      return
    }
    const from = span.value
    const began = performance.now()
    const step = (now: number) => {
      const passed = Math.min(1, Math.max(0, (now - began) / durationMs))
      const share = 1 - (1 - passed) ** 3
      span.value = passed === 1 ? target : between(from, target, share)
      if (passed < 1) frame = requestAnimationFrame(step)
    }
    frame = requestAnimationFrame(step)
  }
  onScopeDispose(() => cancelAnimationFrame(frame))
  return { span, set }
}

const between = (from: Span, to: Span, share: number): Span => ({
  start: from.start + (to.start - from.start) * share,
  end: from.end + (to.end - from.end) * share
})

/** Whether the system asks for less motion. */
const isCalm = () => globalThis.matchMedia?.('(prefers-reduced-motion: reduce)').matches ?? false
