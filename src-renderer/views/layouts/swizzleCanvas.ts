/** Draws the scene of a swizzle on a canvas: cells, names, and the way of one scale through all frames. */
import { fitText } from '../../canvas/textFit'
import type { Swizzle, TileCell } from './swizzle'
import type { SwizzleColour } from './swizzleColours'
import {
  cellRect,
  copyOffsets,
  hueNames,
  wayOf,
  type CellText,
  type Frame,
  type LineMark,
  type Rect
} from './swizzleScene'

export interface SwizzleDrawing {
  swizzle: Swizzle
  frames: readonly Frame[]
  marks: readonly LineMark[]
  /** In cells that have room for them. */
  texts: readonly CellText[]
  /** The scale at hand. */
  cell: TileCell | undefined
  /** What its lane reads with it. */
  word: readonly TileCell[]
  /** What a load brings; the rest is pale. */
  loaded: ReadonlySet<TileCell> | undefined
  ramp: readonly (readonly SwizzleColour[])[]
  width: number
  height: number
}

/** Of what a load leaves where it is. */
const paleAlpha = 0.38

export function drawSwizzle(canvas: HTMLCanvasElement, drawing: SwizzleDrawing): void {
  const context = canvas.getContext('2d')
  if (!context) return
  const { width, height, frames, swizzle, ramp } = drawing
  const scale = window.devicePixelRatio || 1
  canvas.width = Math.round(width * scale)
  canvas.height = Math.round(height * scale)
  context.setTransform(scale, 0, 0, scale, 0, 0)
  const style = getComputedStyle(canvas)
  const token = (name: string) => style.getPropertyValue(name).trim()
  const [ink, note, surface] = ['--text-1', '--text-3', '--surface-1'].map(token) as [
    string,
    string,
    string
  ]
  const font = token('--font-sans')
  const measure = (text: string) => context.measureText(text).width
  const fitted = (text: string, { area }: Frame) => fitText(text, area.width - 20, measure)
  for (const frame of frames) {
    context.textAlign = 'left'
    context.fillStyle = ink
    context.font = `600 13px ${font}`
    const left = frame.area.x + 14
    context.fillText(fitted(frame.titles.title, frame), left, frame.area.y + 16)
    context.fillStyle = note
    context.font = `11px ${font}`
    const [first, ...others] = wrapped(frame.titles.about, frame.area.width - 20, measure)
    context.fillText(first!, left, frame.area.y + 31)
    context.fillText(fitted(others.join(' '), frame), left, frame.area.y + 44)
    for (const offset of copyOffsets(swizzle, frame)) {
      for (const cell of swizzle.cells) {
        const rect = cellRect(swizzle, frame, cell)
        context.fillStyle = ramp[cell.hue]![cell.shade]!.fill
        context.globalAlpha = drawing.loaded?.has(cell) === false ? paleAlpha : 1
        // A hair of surface between cells, where they are large enough for one.
        const [gapX, gapY] = [rect.width > 5 ? 1 : 0, rect.height > 5 ? 1 : 0]
        context.fillRect(rect.x, rect.y + offset, rect.width - gapX, rect.height - gapY)
      }
    }
  }
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  context.font = `11px ${token('--font-mono')}`
  for (const { cell, text, x, y } of drawing.texts) {
    context.fillStyle = ramp[cell.hue]![cell.shade]!.ink
    context.globalAlpha = drawing.loaded?.has(cell) === false ? paleAlpha : 1
    context.fillText(text, x, y)
  }
  context.globalAlpha = 1
  context.textBaseline = 'alphabetic'
  context.textAlign = 'left'
  context.font = `600 11px ${font}`
  if (drawing.texts.length === 0)
    for (const { text, cell, x, y } of frames.flatMap((frame) => hueNames(swizzle, frame))) {
      context.fillStyle = ramp[cell.hue]![cell.shade]!.ink
      context.fillText(text, x, y)
    }
  for (const cell of drawing.word)
    if (cell !== drawing.cell) drawRing(context, drawing, cell, [ink, surface])
  if (drawing.cell) drawWay(context, drawing, drawing.cell, [ink, surface])
  // Last, and with a halo: the way passes over names of lines.
  context.textAlign = 'right'
  context.font = `11px ${font}`
  context.lineJoin = 'round'
  context.lineWidth = 4
  context.strokeStyle = surface
  context.fillStyle = note
  for (const { text, x, y } of drawing.marks) {
    context.strokeText(text, x, y)
    context.fillText(text, x, y)
  }
}

/** Words in lines that are no wider than there is room for; one longer word is a line. */
function wrapped(text: string, room: number, measure: (text: string) => number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word
    if (lines.length === 0 || measure(longer) > room) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}

/** Around a cell in every frame and copy, dashed: it comes along. */
function drawRing(
  context: CanvasRenderingContext2D,
  { swizzle, frames, texts }: SwizzleDrawing,
  cell: TileCell,
  colours: readonly string[]
): void {
  for (const frame of frames) {
    const rect = cellRect(swizzle, frame, cell)
    const { x, y, width, height } = rect
    for (const offset of copyOffsets(swizzle, frame)) {
      if (texts.length > 0) {
        outline(context, { ...rect, y: y + offset }, colours, [2, 2])
        continue
      }
      const middle = { x: x + width / 2, y: y + offset + height / 2 }
      const radius = Math.max(3, Math.min(4.5, width / 2))
      // The surface below, so that the dashes stand on any hue.
      for (const [at, colour] of [...colours].reverse().entries()) {
        context.setLineDash(at === 0 ? [] : [2, 2])
        context.strokeStyle = colour
        context.lineWidth = at === 0 ? 3 : 1.5
        context.beginPath()
        context.arc(middle.x, middle.y, radius, 0, 2 * Math.PI)
        context.stroke()
      }
    }
  }
  context.setLineDash([])
}

/** Around a cell whose text stays to be read: the surface below, so that the line stands on any hue. */
function outline(
  context: CanvasRenderingContext2D,
  { x, y, width, height }: Rect,
  colours: readonly string[],
  dash: number[]
): void {
  for (const [at, colour] of [...colours].reverse().entries()) {
    context.setLineDash(at === 0 ? [] : dash)
    context.strokeStyle = colour
    context.lineWidth = at === 0 ? 4 : 2
    context.strokeRect(x, y, width - 1, height - 1)
  }
  context.setLineDash([])
}

function drawWay(
  context: CanvasRenderingContext2D,
  { swizzle, frames, texts }: SwizzleDrawing,
  cell: TileCell,
  [ink, surface]: [string, string]
): void {
  const way = wayOf(swizzle, frames, cell)
  // The halo first, so that the line stands on any hue.
  for (const [colour, lineWidth] of [
    [surface, 5],
    [ink, 2]
  ] as const) {
    context.strokeStyle = colour
    context.lineWidth = lineWidth
    context.beginPath()
    way.forEach(({ x, y }, i) => {
      const before = way[i - 1]
      // From one row of frames to the next it would cross all of them.
      if (!before || frames[i]!.area.y !== frames[i - 1]!.area.y) return context.moveTo(x, y)
      const middle = (before.x + x) / 2
      context.bezierCurveTo(middle, before.y, middle, y, x, y)
    })
    context.stroke()
  }
  frames.forEach((frame) => {
    const rect = cellRect(swizzle, frame, cell)
    for (const offset of copyOffsets(swizzle, frame)) {
      if (texts.length > 0) {
        outline(context, { ...rect, y: rect.y + offset }, [ink, surface], [])
        continue
      }
      context.beginPath()
      context.arc(rect.x + rect.width / 2, rect.y + offset + rect.height / 2, 4.5, 0, 2 * Math.PI)
      context.fillStyle = surface
      context.fill()
      context.strokeStyle = ink
      context.lineWidth = 2
      context.stroke()
    }
  })
}
