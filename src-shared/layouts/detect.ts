/**
 * Which layout a buffer of packed scales is in, judged by the linear scales it was made from: every known layout, and
 * every known layout with one of the usual mistakes, says which scale each byte should be; the buffer says who is right.
 */
import { UserError } from '../errors'
import {
  candidatesOf,
  nameOf,
  type Candidate,
  type Defect,
  type NamedCandidate
} from './detectCandidates'
import { packedMap, type ScaleLayout, type ScaleShape } from './layout'
import { layouts as knownLayouts } from './registry'

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
  alike: NamedCandidate[]
  /** Bytes that the layout, or its mistaken form, takes for this matrix. */
  expectedBytes: number
  /** Where the buffer first differs from the layout named. */
  firstDifference?: Difference
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
  const plain = verdict === 'nearest' ? first!.map : packedMap(first!.layout, shape)
  const firstDifference = differenceOf(plain, packed, linear, shape)
  return {
    verdict,
    ...nameOf(first!),
    agreement: 1,
    expectedBytes: first!.map.length,
    alike: rest.map(nameOf),
    ...(firstDifference ? { firstDifference } : {})
  }
}

/** The first byte that is not the scale its place is for; scales below 0 are not known and not compared. */
export function differenceOf(
  map: Int32Array,
  packed: Uint8Array,
  linear: Uint8Array | Int16Array,
  { columns }: ScaleShape
): Difference | undefined {
  for (let offset = 0; offset < Math.min(map.length, packed.length); offset++) {
    const index = map[offset]!
    if (index < 0 || linear[index]! < 0 || packed[offset] === linear[index]) continue
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
