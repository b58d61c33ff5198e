/**
 * Which lane and register holds an element of A, B or C in an MMA: the block-scaled ones of sm_120 and gfx950, and those that
 * software scaling runs on, mma.sync of 16-bit elements and wgmma.
 *
 * Confirmed, each read in its own file: CUTLASS f5c7903 include/cute/atom/mma_traits_sm120.hpp (m16n8k64: ALayout
 * ((4,8),(8,2,2)):((128,1),(16,8,512)), BLayout ((4,8),(8,2)):((64,1),(8,256))) and mma_traits_sm80.hpp (m16n8k32 with
 * 8-bit containers; C is SM80_16x8_Row); PTX ISA, "Matrix Fragments for mma.m16n8k32" and "mma.m16n8k64"; for gfx950
 * Composable Kernel e55b154 test/mx_mfma_op/mx_mfma_op.hpp, register maps of load_A_row_major (8-bit elements come as two
 * runs of 16 along K, 6- and 4-bit ones as one run of 32), load_B_col_major and store_C_row_major. wgmma, whose lanes are the
 * 128 threads of a warpgroup: PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16" and "k32"; CUTLASS
 * include/cute/atom/mma_traits_sm90_gmma.hpp, ALayout_64x16 (4,8,4),(2,2,2):(128,1,16),(64,8,512), ALayout_64x32
 * (4,8,4),(4,2,2):(256,1,16),(64,8,1024), CLayout_64xN (4,8,4),(2,2,N/8):(128,1,16),(64,8,512).
 */
import { UserError } from '../errors'
import { knownName } from '../knownName'

/** One digit of a lane or register index: its extent and what a step is worth on each axis of the matrix. */
interface Step {
  extent: number
  outer: number
  inner: number
}

export const operands = ['A', 'B', 'C'] as const
export type Operand = (typeof operands)[number]

/** Operand of an MMA. `outer` is M for A and C, N for B; `inner` is K for A and B, N for C. */
export interface Fragment {
  shape: string
  operand: Operand
  /** Bits that an element takes in a register. */
  bits: number
  outerExtent: number
  innerExtent: number
  /** Digits of the lane, least significant first. */
  lane: Step[]
  /** Digits of the element within the lane, least significant first. */
  element: Step[]
}

export interface FragmentPlace {
  lane: number
  /** Which of the lane's elements, counted through its registers. */
  element: number
  /** 32-bit register of the operand, from 0. */
  register: number
  /** Lowest bit of the element in that register; a 6-bit element may go on in the next one. */
  bit: number
}

const step = (extent: number, outer: number, inner: number): Step => ({ extent, outer, inner })
const quadLane = (inner: number) => [step(4, 0, inner), step(8, 1, 0)]

const sm120Fragments: Fragment[] = [
  fragment('m16n8k64', 'A', 4, [16, 64], quadLane(8), [
    step(8, 0, 1),
    step(2, 8, 0),
    step(2, 0, 32)
  ]),
  fragment('m16n8k64', 'B', 4, [8, 64], quadLane(8), [step(8, 0, 1), step(2, 0, 32)]),
  fragment('m16n8k64', 'C', 32, [16, 8], quadLane(2), [step(2, 0, 1), step(2, 8, 0)]),
  fragment('m16n8k32', 'A', 8, [16, 32], quadLane(4), [
    step(4, 0, 1),
    step(2, 8, 0),
    step(2, 0, 16)
  ]),
  fragment('m16n8k32', 'B', 8, [8, 32], quadLane(4), [step(4, 0, 1), step(2, 0, 16)]),
  fragment('m16n8k32', 'C', 32, [16, 8], quadLane(2), [step(2, 0, 1), step(2, 8, 0)])
]

/** m16n8k16 of f16 and bf16, into which block-scaled operands are widened. */
const sm80Fragments: Fragment[] = [
  fragment('m16n8k16', 'A', 16, [16, 16], quadLane(2), [
    step(2, 0, 1),
    step(2, 8, 0),
    step(2, 0, 8)
  ]),
  fragment('m16n8k16', 'B', 16, [8, 16], quadLane(2), [step(2, 0, 1), step(2, 0, 8)]),
  fragment('m16n8k16', 'C', 32, [16, 8], quadLane(2), [step(2, 0, 1), step(2, 8, 0)])
]

/** wgmma over a warpgroup: each warp has 16 rows. B, and A where it is not in registers, lie in shared memory. */
function wgmmaFragments(n: number): Fragment[] {
  const lane = (inner: number) => [...quadLane(inner), step(4, 16, 0)]
  return ([16, 8] as const).flatMap((bits) => {
    const k = 256 / bits
    const shape = `m64n${n}k${k}`
    const run = 32 / bits
    const ofA = [step(run, 0, 1), step(2, 8, 0), step(2, 0, k / 2)]
    const ofC = [step(2, 0, 1), step(2, 8, 0), step(n / 8, 0, 8)]
    return [
      fragment(shape, 'A', bits, [64, k], lane(run), ofA),
      fragment(shape, 'C', 32, [64, n], lane(2), ofC)
    ]
  })
}

/** v_mfma_scale_f32 over a wavefront of 64: edge rows of A, edge columns of B. */
function mfmaFragments(edge: 16 | 32): Fragment[] {
  const groups = 64 / edge
  const k = groups * 32
  const shape = `${edge}x${edge}x${k}`
  const input = (operand: Operand, bits: number) => {
    const run = bits === 8 ? 16 : 32
    const runs = bits === 8 ? [step(2, 0, run * groups)] : []
    const lane = [step(edge, 1, 0), step(groups, 0, run)]
    return fragment(shape, operand, bits, [edge, k], lane, [step(run, 0, 1), ...runs])
  }
  const lane = [step(edge, 0, 1), step(groups, 4, 0)]
  const more = edge === 32 ? [step(4, 8, 0)] : []
  return [
    ...[8, 6, 4].flatMap((bits) => [input('A', bits), input('B', bits)]),
    fragment(shape, 'C', 32, [edge, edge], lane, [step(4, 1, 0), ...more])
  ]
}

export const fragments: readonly Fragment[] = [
  ...sm120Fragments,
  ...sm80Fragments,
  ...wgmmaFragments(64),
  ...wgmmaFragments(128),
  ...wgmmaFragments(256),
  ...mfmaFragments(16),
  ...mfmaFragments(32)
]

export const fragmentShapes = [...new Set(fragments.map(({ shape }) => shape))]

function fragment(
  shape: string,
  operand: Operand,
  bits: number,
  [outerExtent, innerExtent]: [number, number],
  lane: Step[],
  element: Step[]
): Fragment {
  return { shape, operand, bits, outerExtent, innerExtent, lane, element }
}

/** Throws a UserError for what is none. Without bits: the widest element that the instruction takes. */
export function findFragment(shape: string, operand: string, bits?: number): Fragment {
  const known = knownName(shape, fragmentShapes, 'MMA shape', 'Shapes')
  const ofShape = fragments.filter((one) => one.shape === known)
  const ofOperand = ofShape.filter((one) => one.operand === operand.toUpperCase())
  if (ofOperand.length === 0 && operand.toUpperCase() === 'B')
    throw new UserError('usage', `B of ${known} lies in shared memory, not in registers: A or C.`)
  if (ofOperand.length === 0) throw new UserError('usage', `"${operand}" is no operand: A, B or C.`)
  const found = ofOperand.find((one) => bits === undefined || one.bits === bits)
  if (found) return found
  const widths = ofOperand.map((one) => one.bits).join(', ')
  throw new UserError(
    'usage',
    `${operand.toUpperCase()} of ${shape} has no elements of ${bits} bits in its registers: ${widths}.`
  )
}

const extentOf = (steps: readonly Step[]) =>
  steps.reduce((product, { extent }) => product * extent, 1)

/** Operands of an MMA that lie in registers. */
export const operandsOf = (shape: string): Operand[] =>
  operands.filter((one) => fragments.some((of) => of.shape === shape && of.operand === one))

/** Lanes of the warp or wavefront; of wgmma the threads of the warpgroup. */
export const laneCount = ({ lane }: Fragment) => extentOf(lane)

/** Elements that each lane holds. */
export const elementsPerLane = ({ element }: Fragment) => extentOf(element)

/** 32-bit registers that each lane's elements take. */
export const registersPerLane = (fragment: Fragment) =>
  (elementsPerLane(fragment) * fragment.bits) / 32

/** Neighbours along the inner axis that lie in one lane. */
export const runLength = ({ element: [first] }: Fragment) =>
  first!.inner === 1 ? first!.extent : 1

function place(steps: readonly Step[], index: number): { outer: number; inner: number } {
  let outer = 0
  let inner = 0
  for (const { extent, outer: outerStep, inner: innerStep } of steps) {
    const digit = index % extent
    index = Math.floor(index / extent)
    outer += digit * outerStep
    inner += digit * innerStep
  }
  return { outer, inner }
}

/** Where element i of a lane's registers lies in the matrix. */
export function fragmentElement(
  { lane, element }: Fragment,
  laneId: number,
  index: number
): { outer: number; inner: number } {
  const byLane = place(lane, laneId)
  const byElement = place(element, index)
  return { outer: byLane.outer + byElement.outer, inner: byLane.inner + byElement.inner }
}

/** The index whose digits give this place; the reverse of `place` for one of the two indices. */
function indexOf(steps: readonly Step[], outer: number, inner: number): number {
  let index = 0
  let weight = 1
  for (const { extent, outer: outerStep, inner: innerStep } of steps) {
    const coordinate = outerStep > 0 ? outer / outerStep : inner / innerStep
    index += (Math.floor(coordinate) % extent) * weight
    weight *= extent
  }
  return index
}

/** The reverse of fragmentElement. Throws a UserError outside the matrix. */
export function fragmentPlace(fragment: Fragment, outer: number, inner: number): FragmentPlace {
  const { shape, operand, outerExtent, innerExtent, bits } = fragment
  if (outer < 0 || inner < 0 || outer >= outerExtent || inner >= innerExtent) {
    const [outerName, innerName] = axisNames(operand)
    throw new UserError(
      'usage',
      `${outerName} = ${outer}, ${innerName} = ${inner} lies outside ${operand} of ${shape}: ` +
        `${outerName} goes to ${outerExtent - 1}, ${innerName} to ${innerExtent - 1}.`
    )
  }
  const element = indexOf(fragment.element, outer, inner)
  return {
    lane: indexOf(fragment.lane, outer, inner),
    element,
    register: Math.floor((element * bits) / 32),
    bit: (element * bits) % 32
  }
}

/** Elements that begin in one register of a lane. Throws a UserError for a lane or register that is none. */
export function registerElements(
  fragment: Fragment,
  lane: number,
  register: number
): { outer: number; inner: number; bit: number }[] {
  const check = (name: string, value: number, count: number) => {
    if (value >= 0 && value < count) return
    throw new UserError(
      'usage',
      `${name} ${value}: ${fragment.operand} of ${fragment.shape} has ${name}s 0 to ${count - 1}.`
    )
  }
  check('lane', lane, laneCount(fragment))
  check('register', register, registersPerLane(fragment))
  return Array.from({ length: elementsPerLane(fragment) }, (_, i) => i)
    .filter((i) => Math.floor((i * fragment.bits) / 32) === register)
    .map((i) => ({ ...fragmentElement(fragment, lane, i), bit: (i * fragment.bits) % 32 }))
}

/** Names of the outer and the inner axis. */
export function axisNames(operand: Operand): ['m' | 'n', 'k' | 'n'] {
  return [operand === 'B' ? 'n' : 'm', operand === 'C' ? 'n' : 'k']
}
