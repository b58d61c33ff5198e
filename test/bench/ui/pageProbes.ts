/**
 * Scripts that run in the page under measurement, as text: the page's policy forbids eval in it, not the debugger's.
 * Each leaves its figures on `window.bench`.
 */

/**
 * From the start of every document: first frame that shows the heading and content of the first view; first frame in which
 * they can be used; slow interactions.
 */
export const startProbe = `
  const first = (isThere) => new Promise((resolve) => {
    const wait = () => {
      // The frame after the one in which it is laid out has been painted.
      if (isThere()) requestAnimationFrame(() => resolve(performance.now()))
      else requestAnimationFrame(wait)
    }
    requestAnimationFrame(wait)
  })
  const content = () => document.querySelector('main button, main table')
  const isShown = () =>
    document.querySelector('h1')?.textContent.trim() && content()?.getClientRects().length > 0
  window.bench = {
    useful: first(isShown),
    live: first(() => isShown() && !content().closest('[inert]')),
    events: []
  }
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (entry.interactionId) window.bench.events.push([entry.name, entry.duration])
  }).observe({ type: 'event', durationThreshold: 16, buffered: true })
`

/** Scrolls an element from top to bottom, a step per frame, noting the time between frames. */
export const scrollProbe = (selector: string, frames: number) => `
  new Promise((resolve) => {
    const element = document.querySelector('${selector}')
    const step = (element.scrollHeight - element.clientHeight) / ${frames}
    const gaps = []
    let left = ${frames}
    let blank = 0
    let before = performance.now()
    const frame = (now) => {
      gaps.push(now - before)
      before = now
      const top = element.getBoundingClientRect().top + 40
      const row = document.elementFromPoint(element.getBoundingClientRect().left + 20, top + 60)
      if (!row?.closest('[role=row]')) blank++
      if (left-- === 0) return resolve({ gaps: gaps.slice(1), blank })
      element.scrollTop += step
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })
`

/** Types into the field with this label and waits until the count of nodes has changed and is painted; ms. */
export const filterProbe = (label: string, text: string) => `
  new Promise((resolve) => {
    const name = [...document.querySelectorAll('label')].find((one) => one.textContent === '${label}')
    const input = document.getElementById(name.htmlFor)
    const count = document.querySelector('main [aria-live=polite]')
    const began = performance.now()
    const observer = new MutationObserver(() => {
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)))
    })
    observer.observe(count, { childList: true, characterData: true, subtree: true })
    input.value = '${text}'
    input.dispatchEvent(new Event('input', { bubbles: true }))
  })
`

export type Gesture = 'zoom in' | 'zoom out' | 'pan' | 'range select'

/** Turns the wheel over an element, or draws a range over it, an event in each frame, noting the time between frames. */
export const gestureProbe = (selector: string, gesture: Gesture, frames: number) => `
  new Promise((resolve) => {
    const element = document.querySelector('${selector}')
    const box = element.getBoundingClientRect()
    const turn = {
      clientX: box.left + box.width * 0.37,
      clientY: box.top + box.height / 2,
      deltaY: ${{ 'zoom in': -12, 'zoom out': 12, pan: 6, 'range select': 0 }[gesture]},
      shiftKey: ${gesture === 'pan'},
      bubbles: true,
      cancelable: true
    }
    const gaps = []
    let left = ${frames}
    let before = performance.now()
    const frame = (now) => {
      gaps.push(now - before)
      before = now
      if (left-- === 0) {
        if (isDrag) point('pointerup', 0)
        return resolve(gaps.slice(1))
      }
      if (isDrag) point('pointermove', 1)
      else element.dispatchEvent(new WheelEvent('wheel', turn))
      requestAnimationFrame(frame)
    }
    const isDrag = ${gesture === 'range select'}
    // Only a real pointer can be captured.
    element.setPointerCapture = () => undefined
    const point = (type, buttons) =>
      element.dispatchEvent(
        new PointerEvent(type, {
          clientX: box.left + box.width * (0.1 + (0.8 * (${frames} - left)) / ${frames}),
          clientY: turn.clientY,
          ...{ button: 0, buttons, pointerId: 1, bubbles: true, cancelable: true }
        })
      )
    if (isDrag) point('pointerdown', 1)
    requestAnimationFrame(frame)
  })
`

/** A page that never changes: so many boxes drawn anew in each frame. What it takes tells a slow machine from a slow page. */
export const referencePage = `<!doctype html><canvas width="1400" height="400"></canvas>`
export const referenceStartPage = `<!doctype html><title>Reference</title><h1>Reference</h1><main><button>Go</button></main>`
export const referenceProbe = (frames: number) => `
  new Promise((resolve) => {
    const context = document.querySelector('canvas').getContext('2d')
    const gaps = []
    let before = performance.now()
    const frame = (now) => {
      gaps.push(now - before)
      before = now
      if (gaps.length > ${frames}) return resolve(gaps.slice(1))
      context.clearRect(0, 0, 1400, 400)
      for (let box = 0; box < 4000; box++) {
        context.fillStyle = box % 2 === 0 ? '#85b7fd' : '#dc9d0c'
        context.fillRect((box * 7 + gaps.length) % 1400, (box * 13) % 400, 6, 20)
      }
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })
`
