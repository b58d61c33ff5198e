/**
 * Gestures of a picture with one long axis. Wheel zooms at the pointer; with Shift, or sideways, it pans; with Alt it goes
 * down. Dragging pans, unless the picture makes something else of it. A and D pan, W and S zoom, for as long as they are held.
 */
import { useEventListener } from '@vueuse/core'
import { onScopeDispose, type Ref } from 'vue'
import { isTextField } from '../ground/hotkeys'

export interface Point {
  /** Pixels from the left and upper edge of the element. */
  x: number
  y: number
  /** The same as a share of the width. */
  at: number
}

export interface Drag {
  from: Point
  to: Point
  /** Since the last event, pixels. */
  dx: number
  dy: number
  event: PointerEvent
}

export interface GestureHandlers {
  /** `at`: share of the width that stays where it is; `factor` above 1 shows more detail. */
  zoom: (at: number, factor: number) => void
  /** Shares of the width, above 0 to the right. */
  pan: (by: number) => void
  /** Pixels downwards. */
  scroll?: (by: number) => void
  /** Takes a drag instead of panning; `end` once with its last event. */
  drag?: { move: (drag: Drag) => void; end: (drag: Drag) => void }
  click?: (point: Point, event: PointerEvent) => void
  doubleClick?: (point: Point, event: MouseEvent) => void
  /** Null when the pointer leaves. */
  hover?: (point: Point | null, event: PointerEvent) => void
  /** Whether held letters move this picture; always, unless said otherwise. */
  takesKeys?: () => boolean
}

/** Pixels that the pointer may move in a click. */
const clickSlack = 4
/** A wheel's turn of 100 pixels zooms by 1.3. */
const zoomPerPixel = Math.log(1.3) / 100
const mostZoomPerEvent = 3
const lineHeight = 16
/** Of a held key, each second. */
const keyPan = 1.2
const keyZoom = 3
/** Of a key that is only tapped. */
const tap = { pan: 0.08, zoom: 1.25 }

export function useGestures(target: Ref<HTMLElement | null>, handlers: GestureHandlers): void {
  useWheel(target, handlers)
  usePointer(target, handlers)
  useHeldKeys(handlers)
}

function pointOf(target: Ref<HTMLElement | null>, event: MouseEvent): Point {
  const box = target.value!.getBoundingClientRect()
  const x = event.clientX - box.left
  return { x, y: event.clientY - box.top, at: x / Math.max(1, box.width) }
}

/** What a wheel event asks for; deltas of lines and pages in pixels. */
export function wheelMeaning(
  event: Pick<WheelEvent, 'deltaX' | 'deltaY' | 'deltaMode' | 'shiftKey' | 'altKey' | 'ctrlKey'>
): { zoom: number; panPixels: number; scrollPixels: number } {
  const unit = [1, lineHeight, 400][event.deltaMode] ?? 1
  const [dx, dy] = [event.deltaX * unit, event.deltaY * unit]
  const none = { zoom: 1, panPixels: 0, scrollPixels: 0 }
  if (event.altKey) return { ...none, scrollPixels: dy || dx }
  if (event.shiftKey) return { ...none, panPixels: dx || dy }
  if (Math.abs(dx) > Math.abs(dy)) return { ...none, panPixels: dx }
  // A pinch on a touchpad arrives as Ctrl and small deltas.
  const strength = event.ctrlKey && event.deltaMode === 0 ? 4 : 1
  const zoom = Math.exp(-dy * strength * zoomPerPixel)
  return { ...none, zoom: Math.min(mostZoomPerEvent, Math.max(1 / mostZoomPerEvent, zoom)) }
}

function useWheel(target: Ref<HTMLElement | null>, { zoom, pan, scroll }: GestureHandlers): void {
  useEventListener(
    target,
    'wheel',
    (event: WheelEvent) => {
      event.preventDefault()
      const point = pointOf(target, event)
      const meant = wheelMeaning(event)
      if (meant.zoom !== 1) zoom(point.at, meant.zoom)
      if (meant.panPixels !== 0) pan(meant.panPixels / Math.max(1, target.value!.clientWidth))
      if (meant.scrollPixels !== 0) scroll?.(meant.scrollPixels)
    },
    { passive: false }
  )
}

function usePointer(target: Ref<HTMLElement | null>, handlers: GestureHandlers): void {
  let from: Point | undefined
  let last: Point | undefined
  let isDrag = false

  function dragOf(to: Point, event: PointerEvent): Drag {
    return { from: from!, to, dx: to.x - last!.x, dy: to.y - last!.y, event }
  }

  function onDown(event: PointerEvent): void {
    if (event.button !== 0) return
    from = last = pointOf(target, event)
    isDrag = false
    target.value!.setPointerCapture(event.pointerId)
  }

  function onMove(event: PointerEvent): void {
    const to = pointOf(target, event)
    if (!from || !last) return handlers.hover?.(to, event)
    if (!isDrag && Math.hypot(to.x - from.x, to.y - from.y) < clickSlack) return
    isDrag = true
    const drag = dragOf(to, event)
    last = to
    if (handlers.drag) return handlers.drag.move(drag)
    if (drag.dx !== 0) handlers.pan(-drag.dx / Math.max(1, target.value!.clientWidth))
    if (drag.dy !== 0) handlers.scroll?.(-drag.dy)
  }

  function onUp(event: PointerEvent): void {
    if (!from) return
    const to = pointOf(target, event)
    if (isDrag) handlers.drag?.end(dragOf(to, event))
    else if (event.type === 'pointerup') handlers.click?.(to, event)
    from = last = undefined
  }

  useEventListener(target, 'pointerdown', onDown)
  useEventListener(target, 'pointermove', onMove)
  useEventListener(target, 'pointerup', onUp)
  useEventListener(target, 'pointercancel', onUp)
  useEventListener(target, 'pointerleave', (event: PointerEvent) => {
    if (!from) handlers.hover?.(null, event)
  })
  useEventListener(target, 'dblclick', (event: MouseEvent) =>
    handlers.doubleClick?.(pointOf(target, event), event)
  )
}

const lists = '[role=menu], [role=listbox], [role=dialog]'
const heldKeys = ['w', 'a', 's', 'd'] as const
type HeldKey = (typeof heldKeys)[number]

function useHeldKeys({ zoom, pan, takesKeys = () => true }: GestureHandlers): void {
  const held = new Set<HeldKey>()
  let frame = 0
  let before = 0

  /** `share` of a second, or 'tap'. */
  function act(key: HeldKey, share: number | 'tap'): void {
    const panBy = share === 'tap' ? tap.pan : keyPan * share
    const zoomBy = share === 'tap' ? tap.zoom : keyZoom ** share
    if (key === 'a') pan(-panBy)
    else if (key === 'd') pan(panBy)
    else zoom(0.5, key === 'w' ? zoomBy : 1 / zoomBy)
  }
  function step(now: number): void {
    const share = Math.min(0.05, Math.max(0, (now - before) / 1000))
    before = now
    for (const key of held) act(key, share)
    frame = held.size > 0 ? requestAnimationFrame(step) : 0
  }
  function letGo(): void {
    held.clear()
    cancelAnimationFrame(frame)
    frame = 0
  }

  function onDown(event: KeyboardEvent): void {
    const key = heldKeys.find((one) => one === event.key.toLowerCase())
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey
    if (!key || !isPlain || event.defaultPrevented || isTextField(event.target)) return
    // Menus and lists find their items by letters.
    const isList = event.target instanceof Element && event.target.closest(lists)
    if (isList || !takesKeys()) return
    event.preventDefault()
    if (held.has(key)) return
    act(key, 'tap')
    held.add(key)
    if (frame !== 0) return
    before = performance.now()
    frame = requestAnimationFrame(step)
  }
  // Before the shortcuts: those of the same letters are for who looks them up.
  useEventListener(document, 'keydown', onDown, { capture: true })
  useEventListener(document, 'keyup', (event: KeyboardEvent) => {
    held.delete(event.key.toLowerCase() as HeldKey)
  })
  useEventListener(window, 'blur', letGo)
  onScopeDispose(letGo)
}
