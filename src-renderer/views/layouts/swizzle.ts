/**
 * A layout as a morph of one tile: from the matrix to the lines of memory, one digit moved in each step. All of it follows
 * from the layout's description, so that every layout has it, also one of one's own. Positions are in cells.
 */
import {
  digitValue,
  packedOffset,
  placeDigits,
  tileExtent,
  type PlacedDigit,
  type ScaleLayout,
  type ScaleShape
} from '@shared/layouts/layout'
import { isCopiedToTensorMemory } from '@shared/layouts/tileLoad'

/** A line of memory has so many bytes at most; a lane's word is four. */
const mostLineBytes = 16
/** A tile that is larger is not drawn. */
const mostCells = 2048

export interface SwizzleStep {
  title: string
  /** What the step does, in words. */
  about: string
  /** Digits down and across, slowest first. */
  down: readonly PlacedDigit[]
  across: readonly PlacedDigit[]
  /** Slabs of the slowest digits stand apart. */
  cut: boolean
  /** How often all of it stands below itself: four times in tensor memory, once for each warp. */
  copies: number
}

export interface TileCell {
  /** Within the tile. */
  row: number
  column: number
  /** 0 to 3 each. */
  hue: number
  shade: number
}

export interface Swizzle {
  tile: ScaleShape
  lineBytes: number
  steps: SwizzleStep[]
  cells: TileCell[]
  /** What hue and shade stand for. */
  hueOf: string
  shadeOf: string
  /** 'g' of 'row group': with the number of a hue its name in the picture. */
  hueLetter: string
}

/** Undefined for a layout without tiles, whose memory is the matrix, and for tiles too large to draw. */
export function swizzleOf(layout: ScaleLayout): Swizzle | undefined {
  const tile = { rows: tileExtent(layout.rowDigits), columns: tileExtent(layout.columnDigits) }
  const cellCount = tile.rows * tile.columns
  if (cellCount === 1 || cellCount > mostCells) return undefined
  const order = placeDigits(layout, tile).filter(({ extent }) => extent > 1)
  const side = (axis: PlacedDigit['axis']) =>
    order.filter((digit) => digit.axis === axis).sort((one, other) => other.weight - one.weight)
  const split = lineStart(order)
  const [endDown, endAcross] = [order.slice(0, split), order.slice(split)]
  const lineBytes = product(endAcross)
  const colours = coloursOf(lineBytes, cellCount, endDown, endAcross)
  const cells = Array.from({ length: cellCount }, (_, i): TileCell => {
    const [row, column] = [Math.floor(i / tile.columns), i % tile.columns]
    return { row, column, ...colours.of(packedOffset(layout, tile, row, column)) }
  })
  const steps = stepsOf([side('row'), side('column')], [endDown, endAcross])
  if (isCopiedToTensorMemory(layout)) {
    const about = 'tcgen05.cp 32x128b.warpx4: 32 lanes of 16 bytes, once for each of four warps'
    steps.push({ ...steps.at(-1)!, title: 'Tensor memory', about, copies: 4 })
  }
  const { hueOf, shadeOf, hueLetter } = colours
  return { tile, lineBytes, steps, cells, hueOf, shadeOf, hueLetter }
}

/** 'row group' of a digit that is called rowGroup. */
const wordsOf = ({ name }: PlacedDigit) =>
  name.replaceAll(
    /([a-z\d])([A-Z])/g,
    (_, end: string, start: string) => `${end} ${start.toLowerCase()}`
  )

const product = (digits: readonly PlacedDigit[]) =>
  digits.reduce((all, { count }) => all * count, 1)

/** Where the digits of a line begin: the fastest ones, of 16 bytes together at most, and at least one. */
function lineStart(order: readonly PlacedDigit[]): number {
  let at = order.length
  let bytes = 1
  while (at > 0 && bytes * order[at - 1]!.count <= mostLineBytes) bytes *= order[--at]!.count
  return Math.min(at, order.length - 1)
}

/**
 * Hue and shade of a byte of the tile. Lines of words: the word and the byte in it, which in nvidia_32_4_4 are row group and
 * column. A line that is one word: the byte of the word, and a quarter of the lines.
 */
function coloursOf(
  lineBytes: number,
  bytes: number,
  down: readonly PlacedDigit[],
  across: readonly PlacedDigit[]
) {
  const names = (digits: readonly PlacedDigit[]) => digits.map(wordsOf).join(', ')
  if (lineBytes <= 4) {
    return {
      hueOf: `byte of a word (${names(across)})`,
      shadeOf: `quarter of the lines (${names(down.slice(0, 1))})`,
      hueLetter: 'b',
      of: (byte: number) => ({ hue: byte % lineBytes, shade: Math.floor((4 * byte) / bytes) })
    }
  }
  const wordBytes = Math.max(4, lineBytes / 4)
  const exact = across.length === 2 && across[1]!.count === wordBytes
  return {
    hueOf: exact ? wordsOf(across[0]!) : 'word of a line',
    shadeOf: exact ? wordsOf(across[1]!) : 'byte of the word',
    hueLetter: exact ? wordsOf(across[0]!).split(' ').at(-1)![0]! : 'w',
    of: (byte: number) => ({
      hue: Math.floor((byte % lineBytes) / wordBytes) % 4,
      shade: Math.floor(((byte % wordBytes) / wordBytes) * 4)
    })
  }
}

type Sides = readonly [down: readonly PlacedDigit[], across: readonly PlacedDigit[]]

/** One step for each digit that is not in its place: those that stay in order stay, the others move one by one. */
function stepsOf(start: Sides, end: Sides): SwizzleStep[] {
  const step = (title: string, about: string, [down, across]: Sides, cut: boolean) => ({
    title,
    about,
    down,
    across,
    cut,
    copies: 1
  })
  const kept = keptDigits(start, end)
  const moved = end.flat().filter((digit) => !kept.includes(digit))
  const steps = [step('Matrix', 'rows down, scale columns across', start, false)]
  const extents = start.map((digits) => digits.map((digit) => `${wordsOf(digit)} ${digit.count}`))
  if (moved.length > 0) {
    const about = extents.map((texts) => texts.join(' × ')).join(' down, ') + ' across'
    steps.push(step('Reshape', about, start, true))
  }
  let at = start
  for (const digit of moved) {
    const [from, to] = [at, end].map((sides) => (sides[0].includes(digit) ? 0 : 1))
    at = inserted(at, end, digit, to === 0 ? 0 : 1)
    const names = ['rows', 'columns']
    const about =
      from === to
        ? `${wordsOf(digit)} changes its place among the ${names[to!]}`
        : `${wordsOf(digit)} goes from the ${names[from!]} to the ${names[to!]}`
    steps.push(step('Permute', about, at, true))
  }
  steps.push(step('Flatten', `lines of ${product(end[1])} bytes, read one by one`, end, false))
  return steps
}

/** The sides with a digit taken out and put behind those that end before it. */
function inserted(sides: Sides, end: Sides, digit: PlacedDigit, side: 0 | 1): Sides {
  const without = sides.map((digits) => digits.filter((one) => one !== digit))
  const before = end[side].slice(0, end[side].indexOf(digit))
  const target = without[side]!
  const at = 1 + Math.max(-1, ...before.map((one) => target.indexOf(one)))
  without[side] = [...target.slice(0, at), digit, ...target.slice(at)]
  return [without[0]!, without[1]!]
}

/** The most digits that stay on their side and in their order; of equals those of the fastest. */
function keptDigits(start: Sides, end: Sides): PlacedDigit[] {
  return ([0, 1] as const).flatMap((side) => {
    const stays = start[side].filter((digit) => end[side].includes(digit))
    let best: PlacedDigit[] = []
    for (let mask = 1; mask < 2 ** stays.length; mask++) {
      const chosen = stays.filter((_, i) => mask & (1 << i))
      const ordered = end[side].filter((digit) => chosen.includes(digit))
      if (chosen.length >= best.length && chosen.every((one, i) => one === ordered[i]))
        best = chosen
    }
    return best
  })
}

/** Where a cell stands in a step, in cells and in gaps between slabs, and how large the step is. */
export function placeIn(step: SwizzleStep, { row, column }: { row: number; column: number }) {
  const along = (digits: readonly PlacedDigit[]) => {
    let index = 0
    for (const digit of digits) {
      index = index * digit.count + digitValue(digit, digit.axis === 'row' ? row : column)
    }
    const [slowest] = digits
    const slab =
      step.cut && slowest && digits.length > 1
        ? digitValue(slowest, slowest.axis === 'row' ? row : column)
        : 0
    return { index, slab }
  }
  return { x: along(step.across), y: along(step.down) }
}

export function extentOf(step: SwizzleStep) {
  const along = (digits: readonly PlacedDigit[]) => ({
    cells: product(digits),
    gaps: step.cut && digits.length > 1 ? digits[0]!.count - 1 : 0
  })
  return { x: along(step.across), y: along(step.down) }
}
