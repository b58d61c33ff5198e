/** A chart that leaves the app: with its own legend, and what it is of, so that it stands alone in a paper or a ticket. */
import type { Run } from '../contract/run'
import { optionsOf, runName, shapeOf } from '../measurement/runName'

/** An option of ECharts. */
export type ChartOption = Record<string, unknown>

/** In pixels. */
export interface PictureSize {
  width: number
  height: number
}

export interface PictureCaption {
  title: string
  /** Device, cache, date. */
  facts: string
  command: string
}

/** `note`: what else must be known to read it. */
export function captionOf(run: Run, what: string, note = ''): PictureCaption {
  const name = runName({
    ...run,
    formats: run.spec.formats,
    shape: shapeOf(run),
    options: optionsOf(run.spec)
  })
  const { device, spec, createdAt } = run
  return {
    title: `${what}: ${name}`,
    facts: [
      device ? `${device.name} (${device.architecture})` : 'no device',
      // A label may have taken the place of the shape.
      shapeOf(run),
      spec.kind === 'sweep' && `${spec.mode} L2`,
      `${spec.output} out`,
      createdAt.slice(0, 16).replace('T', ' ') + ' UTC',
      note
    ]
      .filter(Boolean)
      .join(' · '),
    command: run.command
  }
}

interface Grid {
  top?: number
  bottom?: number
  height?: number
}

const legendRowHeight = 20
const sides = { left: 64, right: 18 }
const header = 46
const commandLine = 15
/** Of a letter at 10 pixels, monospaced. */
const commandLetter = 6.1

/** The option with legend, title and command, and the size that it then needs. Without a legend names stand at the marks. */
export function asPicture(
  option: ChartOption,
  size: PictureSize,
  { caption, legend: withLegend = true }: { caption?: PictureCaption; legend?: boolean } = {}
): { option: ChartOption; size: PictureSize } {
  const { series = [], grid = {} } = option as {
    series?: { name?: string }[]
    grid?: Grid | Grid[]
  }
  const names = [...new Set(series.flatMap(({ name }) => (name ? [name] : [])))]
  const legend =
    withLegend && names.length > 0
      ? legendRows(names, size.width - sides.left - sides.right) * legendRowHeight + 6
      : 0
  const above = (caption ? header : 0) + legend
  const commandLines = caption ? wrapped(caption.command, (size.width - 48) / commandLetter) : []
  const below = caption ? commandLines.length * commandLine + 16 : 0
  const moved = (one: Grid): Grid => ({
    ...one,
    top: (one.top ?? 0) + above,
    ...(one.height === undefined && { bottom: (one.bottom ?? 0) + below })
  })
  return {
    option: {
      ...option,
      ...(legend > 0 && {
        legend: {
          data: names,
          top: (caption ? header : 0) + 6,
          ...sides,
          textStyle: { fontSize: 11 },
          itemGap: 16
        }
      }),
      ...(caption && { title: titles(caption, commandLines) }),
      grid: Array.isArray(grid) ? grid.map(moved) : moved(grid)
    },
    size: { width: size.width, height: size.height + above + below }
  }
}

const titles = ({ title, facts }: PictureCaption, command: readonly string[]) => [
  {
    text: title,
    subtext: facts,
    left: 18,
    top: 10,
    itemGap: 4,
    textStyle: { fontSize: 14, fontWeight: 600, color: '#15181e' },
    subtextStyle: { fontSize: 11, color: '#4b5563' }
  },
  {
    text: command.join('\n'),
    left: 18,
    bottom: 4,
    textStyle: {
      fontSize: 10,
      fontWeight: 400,
      lineHeight: commandLine,
      color: '#4b5563',
      fontFamily: 'JetBrains Mono, ui-monospace, monospace'
    }
  }
]

/** The symbol of an entry with the gaps around it, and a generous width of a letter at 11 pixels. */
const entryWidth = (name: string): number => 42 + 6.6 * name.length

function legendRows(names: readonly string[], width: number): number {
  let rows = 1
  let used = 0
  for (const name of names) {
    const wanted = entryWidth(name)
    if (used > 0 && used + wanted > width) {
      rows++
      used = 0
    }
    used += wanted
  }
  return rows
}

/** Lines of a shell: each but the last ends in a backslash, words stay whole. */
export function wrapped(command: string, letters: number): string[] {
  const lines: string[] = []
  let line = '$'
  for (const word of command.split(' ')) {
    if (line.length > 2 && line.length + word.length + 3 > letters) {
      lines.push(`${line} \\`)
      line = '   '
    }
    line += ` ${word}`
  }
  return [...lines, line]
}
