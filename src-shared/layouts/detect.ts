/**
 * Which layout a buffer of packed scales is in, judged by the linear scales it was made from: every known layout, and
 * every known layout with one of the usual mistakes, says which scale each byte should be; the buffer says who is right.
 */
import { UserError } from '../errors'
import {
  candidatesOf,
  nameOf,
  paddedCandidates,
  sayingMost,
  type Candidate,
  type AnyDefect,
  type NamedCandidate
} from './detectCandidates'
import { golden } from './detectSample'
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
  /**
   * layout: every byte agrees. defect: every byte agrees with one mistake made. length: every byte that is there agrees, and
   * there are more or fewer than the layout takes. nearest: none agrees in full.
   */
  verdict: 'layout' | 'defect' | 'length' | 'nearest'
  layout: string
  defect?: AnyDefect
  /** Extents that the matrix was padded to, where they are not the layout's own. */
  padded?: ScaleShape
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
  const plain = layouts.map((layout) => candidatesOf(layout, shape, false))
  const exact = agreeing(plain, packed, linear)
  if (exact.length > 0) return named('layout', exact, packed, linear, shape)
  const morePadded = layouts.map((layout) => paddedCandidates(layout, shape, packed.length))
  const repadded = agreeing(morePadded, packed, linear)
  if (repadded.length > 0) return named('layout', repadded, packed, linear, shape)
  const defective = layouts.map((layout) => candidatesOf(layout, shape, true))
  const mistaken = sayingMost(agreeing(defective, packed, linear), (one) => one)
  if (mistaken.length > 0) return named('defect', mistaken, packed, linear, shape)
  const cut = plain.flat().filter((candidate) => agreesAsFar(candidate, packed, linear))
  if (cut.length > 0) return lengthWrong(cut, packed, linear, shape)
  const all = plain.flatMap((candidates, i) => [...candidates, ...morePadded[i]!, ...defective[i]!])
  return nearest(all, shape, packed, linear)
}

/** `candidates` are lists of them, one a layout. */
function agreeing(
  candidates: readonly Candidate[][],
  packed: Uint8Array,
  linear: Uint8Array
): Candidate[] {
  return candidates
    .flat()
    .filter((candidate) => candidate.size === packed.length && agrees(candidate, packed, linear))
}

/**
 * Positions that are looked at before all are: one wrong candidate among sixty is found out by a few of them, and of a buffer
 * of millions the whole map of each need not be made.
 */
const sampledPositions = 2 ** 16
/** Of the candidates that a sample finds nearest, so many are counted in full. */
const countedInFull = 4

/** Every so many-th position up to `count`, without a period that tiles could share. */
function* sample(count: number): Generator<number> {
  if (count <= sampledPositions) {
    for (let position = 0; position < count; position++) yield position
    return
  }
  for (let i = 0; i < sampledPositions; i++) yield Math.floor(((i * golden) % 1) * count)
}

function agrees(candidate: Candidate, packed: Uint8Array, linear: Uint8Array): boolean {
  for (const position of sample(candidate.size)) {
    const index = candidate.indexAt(position)
    if (index >= 0 && packed[position] !== linear[index]) return false
  }
  if (candidate.size <= sampledPositions) return true
  const { map } = candidate
  for (let i = 0; i < map.length; i++) {
    if (map[i]! >= 0 && packed[i] !== linear[map[i]!]) return false
  }
  return true
}

/** Least share of the scales that must be there for an order to be told from a part of them. */
const leastShare = 0.5

/** Whether the bytes that both have agree, be the buffer longer or cut off. */
function agreesAsFar(candidate: Candidate, packed: Uint8Array, linear: Uint8Array): boolean {
  const common = Math.min(candidate.size, packed.length)
  for (const position of sample(common)) {
    const index = candidate.indexAt(position)
    if (index >= 0 && packed[position] !== linear[index]) return false
  }
  const { map } = candidate
  let there = 0
  for (let i = 0; i < common; i++) {
    if (map[i]! < 0) continue
    if (packed[i] !== linear[map[i]!]) return false
    there++
  }
  return there >= leastShare * candidate.scales
}

/** Of several orders the one whose length is nearest. */
function lengthWrong(
  candidates: Candidate[],
  packed: Uint8Array,
  linear: Uint8Array,
  shape: ScaleShape
): Detection {
  const off = ({ size }: Candidate) => Math.abs(size - packed.length)
  const least = Math.min(...candidates.map(off))
  const nearestLength = candidates.filter((candidate) => off(candidate) === least)
  const found = named('length', nearestLength, packed, linear, shape)
  const { map, scales } = nearestLength[0]!
  const there = map.subarray(0, packed.length).reduce((sum, index) => sum + (index < 0 ? 0 : 1), 0)
  return { ...found, agreement: there / scales }
}

/** Share of the scales found where they should be; what lies beyond the shorter of both counts as wrong. */
function agreementOf({ map, scales }: Candidate, packed: Uint8Array, linear: Uint8Array): number {
  let right = 0
  for (let i = 0; i < map.length; i++) {
    if (map[i]! >= 0 && packed[i] === linear[map[i]!]) right++
  }
  return shareOf(right, map.length, scales, packed)
}

/** The same from a sample. */
function sampledAgreement(candidate: Candidate, packed: Uint8Array, linear: Uint8Array): number {
  const compared = Math.min(candidate.size, packed.length)
  let right = 0
  let looked = 0
  for (const position of sample(compared)) {
    const index = candidate.indexAt(position)
    looked++
    if (index >= 0 && packed[position] === linear[index]) right++
  }
  const expected = looked === 0 ? 0 : (right / looked) * compared
  return shareOf(expected, candidate.size, candidate.scales, packed)
}

function shareOf(right: number, size: number, scales: number, packed: Uint8Array): number {
  return (right / scales) * (Math.min(size, packed.length) / Math.max(size, packed.length))
}

function nearest(
  all: readonly Candidate[],
  shape: ScaleShape,
  packed: Uint8Array,
  linear: Uint8Array
): Detection {
  const inFull = all.every(({ size }) => size <= sampledPositions)
  const likely = inFull ? all : likeliest(all, packed, linear)
  const scored = likely.map((candidate) => ({
    candidate,
    agreement: agreementOf(candidate, packed, linear)
  }))
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

/** In the order of the list, so that of equals the same one is named as by counting all. */
function likeliest(
  all: readonly Candidate[],
  packed: Uint8Array,
  linear: Uint8Array
): readonly Candidate[] {
  const sampled = all.map((candidate) => sampledAgreement(candidate, packed, linear))
  const least = sampled.toSorted((a, b) => b - a)[countedInFull - 1] ?? 0
  return all.filter((_, i) => sampled[i]! >= least).slice(0, 2 * countedInFull)
}

function named(
  verdict: Detection['verdict'],
  [first, ...rest]: Candidate[],
  packed: Uint8Array,
  linear: Uint8Array,
  shape: ScaleShape
): Detection {
  const plain = verdict === 'defect' ? packedMap(first!.placed, shape) : first!.map
  const firstDifference = differenceOf(plain, packed, linear, shape)
  return {
    verdict,
    ...nameOf(first!),
    agreement: 1,
    expectedBytes: first!.size,
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
