/** A scene as SVG text: for papers and tickets. */
import { type BoxStyle, type LineStyle, type Painter, type TextStyle } from './painter'

export class SvgPainter implements Painter {
  private readonly parts: string[] = []
  private readonly hatches = new Map<string, string>()

  constructor(
    private readonly width: number,
    private readonly height: number,
    private readonly background: string
  ) {}

  box(x: number, y: number, width: number, height: number, style: BoxStyle): void {
    const { fill = 'none', stroke, lineWidth = 1, dash = [], radius = 0, hatch, opacity } = style
    const half = stroke ? lineWidth / 2 : 0
    const place = attributes({
      x: x + half,
      y: y + half,
      width: Math.max(0, width - 2 * half),
      height: Math.max(0, height - 2 * half),
      rx: radius || undefined
    })
    const look = attributes({
      fill,
      stroke,
      'stroke-width': stroke ? lineWidth : undefined,
      'stroke-dasharray': dash.join(' ') || undefined,
      opacity
    })
    this.parts.push(`<rect ${place} ${look}/>`)
    if (hatch) this.parts.push(`<rect ${place} fill="url(#${this.hatchOf(hatch)})"/>`)
  }

  text(text: string, x: number, y: number, { fill, font, align = 'left' }: TextStyle): void {
    const look = attributes({
      x,
      y,
      fill,
      'font-family': font.family,
      'font-size': font.size,
      'font-weight': font.weight,
      'text-anchor': { left: undefined, right: 'end', center: 'middle' }[align],
      'dominant-baseline': 'central',
      'xml:space': 'preserve'
    })
    this.parts.push(`<text ${look}>${escaped(text)}</text>`)
  }

  line(x1: number, y1: number, x2: number, y2: number, style: LineStyle): void {
    this.path(`M${short(x1)} ${short(y1)}L${short(x2)} ${short(y2)}`, style)
  }

  curve(x1: number, y1: number, x2: number, y2: number, style: LineStyle): void {
    const middle = short((y1 + y2) / 2)
    const [from, to] = [short(x1), short(x2)]
    this.path(`M${from} ${short(y1)}C${from} ${middle} ${to} ${middle} ${to} ${short(y2)}`, style)
  }

  finish(): string {
    const { width, height } = this
    const size = attributes({ width, height, viewBox: `0 0 ${width} ${height}` })
    const patterns = [...this.hatches].map(
      ([colour, id]) =>
        `<pattern id="${id}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V6" ${attributes({ stroke: colour, 'stroke-width': 1.5 })}/></pattern>`
    )
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" ${size}>`,
      patterns.length > 0 ? `<defs>${patterns.join('')}</defs>` : '',
      `<rect ${attributes({ width, height, fill: this.background })}/>`,
      ...this.parts,
      '</svg>\n'
    ]
      .filter(Boolean)
      .join('\n')
  }

  private path(d: string, { stroke, lineWidth = 1, dash = [] }: LineStyle): void {
    const look = attributes({
      d,
      fill: 'none',
      stroke,
      'stroke-width': lineWidth,
      'stroke-dasharray': dash.join(' ') || undefined
    })
    this.parts.push(`<path ${look}/>`)
  }

  private hatchOf(colour: string): string {
    let id = this.hatches.get(colour)
    if (!id) this.hatches.set(colour, (id = `hatch${this.hatches.size}`))
    return id
  }
}

const short = (value: number) => Math.round(value * 100) / 100

function attributes(of: Record<string, string | number | undefined>): string {
  return Object.entries(of)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = typeof value === 'number' ? String(short(value)) : escaped(value!)
      return `${name}="${text}"`
    })
    .join(' ')
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
// Control characters are not allowed in XML, not even escaped.
const escaped = (text: string) =>
  text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, ' ')
    .replace(/[&<>"]/g, (c) => entities[c]!)
