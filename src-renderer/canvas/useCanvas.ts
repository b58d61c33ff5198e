/** A canvas in device pixels, drawn at most once a frame and only when something it shows has changed. */
import { useElementSize } from '@vueuse/core'
import { effect, onScopeDispose, ref, stop, type Ref } from 'vue'
import { CanvasPainter, type Painter } from './painter'

export interface CanvasSize {
  width: number
  height: number
}

/**
 * @param draw reads reactive state: what it reads is what redraws it. The canvas is empty when it is called.
 * @returns the canvas's size in CSS pixels.
 */
export function useCanvas(
  canvas: Ref<HTMLCanvasElement | null>,
  draw: (painter: Painter, size: CanvasSize) => void
): { width: Ref<number>; height: Ref<number> } {
  const { width, height } = useElementSize(canvas)
  const scale = useDeviceScale()
  let frame = 0
  let painter: CanvasPainter | undefined

  function paint(): void {
    const context = canvas.value?.getContext('2d')
    const size = { width: width.value, height: height.value }
    if (!context || size.width === 0 || size.height === 0) return
    const { canvas: element } = context
    const wide = Math.round(size.width * scale.value)
    const high = Math.round(size.height * scale.value)
    // Setting a size empties a canvas, and takes longer than wiping it.
    if (element.width !== wide) element.width = wide
    if (element.height !== high) element.height = high
    if (painter?.context !== context || painter.scale !== scale.value)
      painter = new CanvasPainter(context, scale.value)
    painter.begin(size)
    draw(painter, size)
  }

  // What led to it may change several times before the frame in which it is painted.
  const runner = effect(paint, { scheduler: schedule })
  function schedule(): void {
    if (frame !== 0) return
    frame = requestAnimationFrame(() => {
      frame = 0
      runner()
    })
  }
  onScopeDispose(() => {
    stop(runner)
    cancelAnimationFrame(frame)
  })
  return { width, height }
}

/** Device pixels to a CSS pixel; it changes when a window goes to another screen or the page is zoomed. */
function useDeviceScale(): Ref<number> {
  const scale = ref(globalThis.devicePixelRatio || 1)
  let query: MediaQueryList | undefined
  const follow = () => {
    scale.value = devicePixelRatio || 1
    query?.removeEventListener('change', follow)
    query = globalThis.matchMedia?.(`(resolution: ${devicePixelRatio}dppx)`)
    query?.addEventListener('change', follow)
  }
  follow()
  onScopeDispose(() => query?.removeEventListener('change', follow))
  return scale
}
