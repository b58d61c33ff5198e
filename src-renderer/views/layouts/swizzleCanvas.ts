/** Draws the scene of a swizzle on a canvas: cells, names, and the way of one scale through all frames. */
import { fitText } from '../../canvas/textFit'
import type { Swizzle, TileCell } from './swizzle'
import type { SwizzleColour } from './swizzleColours'
import { cellRect, copyOffsets, wayOf, type Frame, type LineMark } from './swizzleScene'

export interface SwizzleDrawing {
  swizzle: Swizzle
  frames: readonly Frame[]
  marks: readonly LineMark[]
  /** The scale at hand. */
  cell: TileCell | undefined
  ramp: readonly (readonly SwizzleColour[])[]
  width: number
  height: number
}

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
  const fitted = (text: string, { area }: Frame) =>
    fitText(text, area.width - 20, (one) => context.measureText(one).width)
  for (const frame of frames) {
    context.textAlign = 'left'
    context.fillStyle = ink
    context.font = `600 13px ${font}`
    const left = frame.area.x + 14
    context.fillText(fitted(frame.titles.title, frame), left, frame.area.y + 16)
    context.fillStyle = note
    context.font = `11px ${font}`
    context.fillText(fitted(frame.titles.about, frame), left, frame.area.y + 31)
    for (const offset of copyOffsets(swizzle, frame)) {
      for (const cell of swizzle.cells) {
        const rect = cellRect(swizzle, frame, cell)
        context.fillStyle = ramp[cell.hue]![cell.shade]!.fill
        // A hair of surface between cells, where they are large enough for one.
        const [gapX, gapY] = [rect.width > 5 ? 1 : 0, rect.height > 5 ? 1 : 0]
        context.fillRect(rect.x, rect.y + offset, rect.width - gapX, rect.height - gapY)
      }
    }
  }
  context.textAlign = 'right'
  context.fillStyle = note
  context.font = `11px ${font}`
  for (const { text, x, y } of drawing.marks) context.fillText(text, x, y)
  if (drawing.cell) drawWay(context, drawing, drawing.cell, [ink, surface])
}

function drawWay(
  context: CanvasRenderingContext2D,
  { swizzle, frames }: SwizzleDrawing,
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
      if (!before) return context.moveTo(x, y)
      const middle = (before.x + x) / 2
      context.bezierCurveTo(middle, before.y, middle, y, x, y)
    })
    context.stroke()
  }
  frames.forEach((frame) => {
    const rect = cellRect(swizzle, frame, cell)
    for (const offset of copyOffsets(swizzle, frame)) {
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
