/**
 * Which layout a buffer of packed scales is in, judged by the linear scales it was made from: every known layout, and
 * every known layout with one of the usual mistakes, says which scale each byte should be; the buffer says who is right.
 */
import { UserError } from '../errors'
import { packedMap, paddedShape, type ScaleLayout, type ScaleShape } from './layout'
import { layouts as knownLayouts } from './registry'

export const defects = {
  transposed: 'the transposed matrix was packed: scale columns took the place of rows',
  'major-mix-up': 'the linear scales were read K-major where they are MN-major, or the reverse',
  'row-order': 'the row digits within a tile were taken in the reverse order',
  unpadded: 'the padding was left out: the bytes follow one another without gaps',
  'vector-size-half': 'packed for half the scale block size: every scale appears twice along K',
  'vector-size-double': 'packed for twice the scale block size: every second scale along K is lost'
} as const
export type Defect = keyof typeof defects

export interface Difference {
  offset: number
  row: number
  column: number
  expected: number
  found: number
}

export interface Detection {
  /** layout: every byte agrees. defect: every byte agrees with one mistake made. nearest: none agrees in full. */
  verdict: 'layout' | 'defect' | 'nearest'
  layout: string
  defect?: Defect
  /** Share of the scales that lie where the layout, or its mistaken form, puts them: 0 to 1. */
  agreement: number
  /** Other candidates that explain the same bytes just as well. */
  alike: { layout: string; defect?: Defect }[]
  /** Where the buffer first differs from the layout named. */
  firstDifference?: Difference
}

interface Candidate {
  layout: ScaleLayout
  defect?: Defect
  /** Linear index at each position, -1 for padding. */
  map: Int32Array
}

/** Throws a UserError when `linear` does not hold rows x columns scales. */
export function detectLayout(
  packed: Uint8Array,
  linear: Uint8Array,
  shape: ScaleShape,
  layouts: readonly ScaleLayout[] = knownLayouts
): Detection {
  const count = shape.rows * shape.columns
  if (linear.length !== count) {
    throw new UserError(
      'usage',
      `The linear scales have ${linear.length} bytes; ${shape.rows} x ${shape.columns} needs ${count}.`
    )
  }
  const exact = agreeing(layouts, shape, packed, linear, false)
  if (exact.length > 0) return named('layout', exact, packed, linear, shape)
  const mistaken = agreeing(layouts, shape, packed, linear, true)
  if (mistaken.length > 0) return named('defect', mistaken, packed, linear, shape)
  return nearest(layouts, shape, packed, linear)
}

function agreeing(
  layouts: readonly ScaleLayout[],
  shape: ScaleShape,
  packed: Uint8Array,
  linear: Uint8Array,
  withDefects: boolean
): Candidate[] {
  const found: Candidate[] = []
  for (const layout of layouts) {
    for (const candidate of candidatesOf(layout, shape, withDefects)) {
      if (candidate.map.length === packed.length && agrees(candidate.map, packed, linear)) {
        found.push(candidate)
      }
    }
  }
  return found
}

function candidatesOf(layout: ScaleLayout, shape: ScaleShape, withDefects: boolean): Candidate[] {
  if (!withDefects) return [{ layout, map: packedMap(layout, shape) }]
  return (Object.keys(defects) as Defect[]).flatMap((defect) => {
    const map = mistakenMap(layout, shape, defect)
    return map ? [{ layout, defect, map }] : []
  })
}

/** The map of the layout with one mistake made; undefined where the mistake changes nothing. */
export function mistakenMap(
  layout: ScaleLayout,
  shape: ScaleShape,
  defect: Defect
): Int32Array | undefined {
  const { rows, columns } = shape
  switch (defect) {
    case 'transposed': {
      const turned = { rows: columns, columns: rows }
      return remap(layout, turned, (row, column) => column * columns + row)
    }
    case 'major-mix-up':
      return remap(layout, shape, (row, column) => column * rows + row)
    case 'row-order': {
      const [outer, ...inner] = layout.rowDigits
      if (inner.length < 2) return undefined
      const rowDigits = [outer!, ...inner.toReversed()]
      return packedMap({ ...layout, rowDigits }, shape)
    }
    case 'unpadded': {
      const padded = paddedShape(layout, shape)
      if (padded.rows === rows && padded.columns === columns) return undefined
      return packedMap(layout, shape).filter((index) => index >= 0)
    }
    case 'vector-size-half': {
      const wide = { rows, columns: columns * 2 }
      return remap(layout, wide, (row, column) => row * columns + Math.floor(column / 2))
    }
    case 'vector-size-double': {
      if (columns < 2) return undefined
      const narrow = { rows, columns: Math.floor(columns / 2) }
      return remap(layout, narrow, (row, column) => row * columns + column * 2)
    }
  }
}

function remap(
  layout: ScaleLayout,
  shape: ScaleShape,
  linearIndex: (row: number, column: number) => number
): Int32Array {
  return packedMap(layout, shape).map((index) =>
    index < 0 ? -1 : linearIndex(Math.floor(index / shape.columns), index % shape.columns)
  )
}

function agrees(map: Int32Array, packed: Uint8Array, linear: Uint8Array): boolean {
  for (let i = 0; i < map.length; i++) {
    if (map[i]! >= 0 && packed[i] !== linear[map[i]!]) return false
  }
  return true
}

/** Share of the scales found where they should be; what lies beyond the shorter of both counts as wrong. */
function agreementOf(map: Int32Array, packed: Uint8Array, linear: Uint8Array): number {
  let right = 0
  let scales = 0
  for (let i = 0; i < map.length; i++) {
    if (map[i]! < 0) continue
    scales++
    if (packed[i] === linear[map[i]!]) right++
  }
  const sizes = Math.min(map.length, packed.length) / Math.max(map.length, packed.length)
  return (right / scales) * sizes
}

function nearest(
  layouts: readonly ScaleLayout[],
  shape: ScaleShape,
  packed: Uint8Array,
  linear: Uint8Array
): Detection {
  const scored = layouts
    .flatMap((layout) => [
      ...candidatesOf(layout, shape, false),
      ...candidatesOf(layout, shape, true)
    ])
    .map((candidate) => ({ candidate, agreement: agreementOf(candidate.map, packed, linear) }))
  const best = Math.max(...scored.map(({ agreement }) => agreement))
  const candidates = scored.filter(({ agreement }) => agreement === best)
  const found = named(
    'nearest',
    candidates.map(({ candidate }) => candidate),
    packed,
    linear,
    shape
  )
  return { ...found, agreement: best }
}

function named(
  verdict: Detection['verdict'],
  [first, ...rest]: Candidate[],
  packed: Uint8Array,
  linear: Uint8Array,
  shape: ScaleShape
): Detection {
  const name = ({ layout, defect }: Candidate) => ({
    layout: layout.name,
    ...(defect ? { defect } : {})
  })
  const plain = verdict === 'nearest' ? first!.map : packedMap(first!.layout, shape)
  const firstDifference = differenceOf(plain, packed, linear, shape)
  return {
    verdict,
    ...name(first!),
    agreement: 1,
    alike: rest.map(name),
    ...(firstDifference ? { firstDifference } : {})
  }
}

function differenceOf(
  map: Int32Array,
  packed: Uint8Array,
  linear: Uint8Array,
  { columns }: ScaleShape
): Difference | undefined {
  for (let offset = 0; offset < Math.min(map.length, packed.length); offset++) {
    const index = map[offset]!
    if (index < 0 || packed[offset] === linear[index]) continue
    return {
      offset,
      row: Math.floor(index / columns),
      column: index % columns,
      expected: linear[index]!,
      found: packed[offset]!
    }
  }
  return undefined
}
