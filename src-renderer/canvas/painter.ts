/** The few drawing calls of a picture, so that one scene goes to the screen, a PNG and an SVG alike. Pixels, y downwards. */
export interface BoxStyle {
  fill?: string
  stroke?: string
  lineWidth?: number
  dash?: readonly number[]
  radius?: number
  /** Colour of slanted lines over the fill. */
  hatch?: string
  /** 0 to 1. */
  opacity?: number
}

export interface TextStyle {
  fill: string
  font: Font
  align?: 'left' | 'right' | 'center'
}

export interface Font {
  family: string
  size: number
  weight?: number
}

export interface LineStyle {
  stroke: string
  lineWidth?: number
  dash?: readonly number[]
}

export interface Painter {
  box: (x: number, y: number, width: number, height: number, style: BoxStyle) => void
  /** `y` is the middle of the line. */
  text: (text: string, x: number, y: number, style: TextStyle) => void
  line: (x1: number, y1: number, x2: number, y2: number, style: LineStyle) => void
  /** A curve from one point to another with level ends: launch to kernel. */
  curve: (x1: number, y1: number, x2: number, y2: number, style: LineStyle) => void
}

export const cssFont = ({ family, size, weight = 400 }: Font): string =>
  `${weight} ${size}px ${family}`

const hatchStep = 6

/** Draws into a canvas, in CSS pixels. */
export class CanvasPainter implements Painter {
  private font = ''
  private readonly hatches = new Map<string, CanvasPattern | null>()

  /** @param scale device pixels to a CSS pixel. */
  constructor(
    readonly context: CanvasRenderingContext2D,
    readonly scale = 1
  ) {}

  /** To be called before each painting: what was there is gone, and so is the state that resizing resets. */
  begin({ width, height }: { width: number; height: number }): void {
    const { context, scale } = this
    context.setTransform(scale, 0, 0, scale, 0, 0)
    context.clearRect(0, 0, width, height)
    context.textBaseline = 'middle'
    this.font = ''
  }

  box(x: number, y: number, width: number, height: number, style: BoxStyle): void {
    const { context } = this
    const { fill, stroke, lineWidth = 1, dash = [], radius = 0, hatch, opacity = 1 } = style
    if (opacity !== 1) context.globalAlpha = opacity
    const isRound = radius > 0 && width > 2 * radius
    if (isRound) {
      context.beginPath()
      context.roundRect(x, y, width, height, radius)
    }
    const paint = (colour: string | CanvasPattern) => {
      context.fillStyle = colour
      if (isRound) context.fill()
      else context.fillRect(x, y, width, height)
    }
    if (fill) paint(fill)
    const pattern = hatch ? this.hatchOf(hatch) : null
    if (pattern) paint(pattern)
    if (stroke) {
      // Inside the box, so that neighbours do not cover it.
      const half = lineWidth / 2
      context.strokeStyle = stroke
      context.lineWidth = lineWidth
      context.setLineDash(dash as number[])
      context.strokeRect(
        x + half,
        y + half,
        Math.max(0, width - lineWidth),
        Math.max(0, height - lineWidth)
      )
    }
    if (opacity !== 1) context.globalAlpha = 1
  }

  text(text: string, x: number, y: number, { fill, font, align = 'left' }: TextStyle): void {
    const { context } = this
    const css = cssFont(font)
    if (css !== this.font) context.font = this.font = css
    context.fillStyle = fill
    context.textAlign = align
    context.fillText(text, x, y)
  }

  line(x1: number, y1: number, x2: number, y2: number, style: LineStyle): void {
    const { context } = this
    this.stroked(style)
    context.moveTo(x1, y1)
    context.lineTo(x2, y2)
    context.stroke()
  }

  curve(x1: number, y1: number, x2: number, y2: number, style: LineStyle): void {
    const { context } = this
    this.stroked(style)
    const middle = (y1 + y2) / 2
    context.moveTo(x1, y1)
    context.bezierCurveTo(x1, middle, x2, middle, x2, y2)
    context.stroke()
  }

  private stroked({ stroke, lineWidth = 1, dash = [] }: LineStyle): void {
    const { context } = this
    context.strokeStyle = stroke
    context.lineWidth = lineWidth
    context.setLineDash(dash as number[])
    context.beginPath()
  }

  private hatchOf(colour: string): CanvasPattern | null {
    let pattern = this.hatches.get(colour)
    if (pattern !== undefined) return pattern
    const size = Math.round(hatchStep * this.scale)
    const tile = document.createElement('canvas')
    tile.width = tile.height = size
    const context = tile.getContext('2d')
    pattern = null
    if (context) {
      context.strokeStyle = colour
      context.lineWidth = 1.5 * this.scale
      context.beginPath()
      for (const shift of [-size, 0, size]) {
        context.moveTo(shift, size)
        context.lineTo(shift + size, 0)
      }
      context.stroke()
      pattern = this.context.createPattern(tile, 'repeat')
      // The tile is in device pixels, what is drawn in CSS pixels.
      pattern?.setTransform(new DOMMatrix().scale(1 / this.scale))
    }
    this.hatches.set(colour, pattern)
    return pattern
  }
}
