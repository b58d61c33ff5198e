/** Every judged cell and every reference as one mark on a logarithmic line of error over tolerance. */
import type { Run, Step } from '@shared/contract/run'
import { groupedBy } from '@shared/groupedBy'
import { formatSymbol, familyOf, providerColours, type Mark } from '@shared/measurement/marks'
import { standingStep } from '@shared/measurement/validationSummary'
import { toleranceShareOf } from '@shared/measurement/validationFigures'

export interface StripMark {
  /** 'wgmma~mxfp4', as the address names the cell. */
  cell: string
  kernel: string
  format: string
  share: number
  mark: Mark
  /** Pixels. */
  x: number
  y: number
}

export interface LimitStrip {
  marks: StripMark[]
  /** Powers of ten, and where they stand. */
  ticks: { value: number; x: number }[]
  /** Where the tolerance stands. */
  limit: number
  height: number
}

const size = 14
const side = 24
const axis = 38
/** Of a number below the axis, with the gap after it. */
const labelWidth = 52

/** Pixels of `width`; marks that stand at one place stand beside one another, on their side of the tolerance. */
export function limitStrip({ steps }: Pick<Run, 'steps'>, width: number): LimitStrip {
  const found = cellsOf(steps).sort((a, b) => a.share - b.share)
  const logs = found.map(({ share }) => Math.log10(share))
  const from = Math.floor(Math.min(-1, ...logs))
  const to = Math.ceil(Math.max(1, ...logs))
  const room = Math.max(1, width - 2 * side)
  const xOf = (log: number) => side + (room * (log - from)) / (to - from)
  const limit = xOf(0)
  const taken = new Map<number, number>()
  const last = Math.floor(room / size)
  const limitColumn = (limit - side) / size
  const inside = found.filter(({ share }) => share <= 1).length
  const rows = Math.max(
    Math.min(6, Math.max(3, Math.ceil(Math.sqrt(found.length / 2)))),
    Math.ceil(inside / Math.max(1, Math.floor(limitColumn))),
    Math.ceil((found.length - inside) / Math.max(1, last - Math.ceil(limitColumn)))
  )
  const marks = found.map((cell) => {
    const wanted = (xOf(Math.log10(cell.share)) - side) / size
    const free = (column: number) =>
      (taken.get(column) ?? 0) < rows &&
      column >= 0 &&
      column <= last &&
      (cell.share <= 1 ? column + 1 <= limitColumn : column >= limitColumn)
    const start = Math.round(wanted - 0.5)
    const column =
      Array.from({ length: 2 * last + 1 }, (_, i) => start + (i % 2 ? (i + 1) / 2 : -i / 2)).find(
        free
      ) ?? start
    const row = taken.get(column) ?? 0
    taken.set(column, row + 1)
    return { ...cell, x: side + (column + 0.5) * size, y: axisTop(rows) - (row + 0.5) * size }
  })
  const every = Math.ceil(labelWidth / (room / (to - from)))
  const ticks = Array.from({ length: to - from + 1 }, (_, i) => from + i)
    .filter((power) => power % every === 0)
    .map((power) => ({ value: 10 ** power, x: xOf(power) }))
  return { marks, ticks, limit, height: axisTop(rows) + axis }
}

const axisTop = (rows: number) => 22 + rows * size

function cellsOf(steps: readonly Step[]): Omit<StripMark, 'x' | 'y'>[] {
  const groups = groupedBy(steps, ({ kernel, format }) => `${kernel}~${format}`)
  return [...groups].flatMap(([cell, of]) => {
    const { kernel, format, provider, baseline, validation } = standingStep(of)!
    const share = validation && toleranceShareOf(validation)
    // Exact to the last bit, or not finite: no place on a logarithmic line.
    if (share === undefined || !(share > 0) || !Number.isFinite(share)) return []
    const colour = providerColours[familyOf({ kernel, provider })]
    return [
      { cell, kernel, format, share, mark: { colour, ...formatSymbol(format), hollow: baseline } }
    ]
  })
}
