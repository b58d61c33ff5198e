/** A fragment of an MMA as a grid: one cell for neighbours along the inner axis that lie in one lane. */
import {
  axisNames,
  elementsPerLane,
  fragmentPlace,
  fragments,
  registersPerLane,
  runLength,
  type Fragment
} from '@shared/layouts/fragments'
import type { Position } from './inspect'
import type { GridCell } from './ScaleGrid.vue'

/** The fragment of an address; what is no instruction falls back to the first. */
export function fragmentFrom(shape: string, operand: string, bits: string): Fragment {
  const ofShape = fragments.filter((one) => one.shape === shape)
  const known = ofShape.length > 0 ? ofShape : fragments.filter((one) => one.shape === 'm16n8k64')
  const ofOperand = known.filter((one) => one.operand === operand)
  const found = ofOperand.length > 0 ? ofOperand : known.filter((one) => one.operand === 'A')
  return found.find((one) => String(one.bits) === bits) ?? found[0]!
}

/** Angles that keep neighbouring lanes apart: the golden angle. */
const hueOf = (lane: number) => Math.round((lane * 137.508) % 360)

/** '0', or '0 to 3' when a cell's elements fill several registers. */
function registersOf(fragment: Fragment, outer: number, inner: number): string {
  const first = fragmentPlace(fragment, outer, inner)
  const last = fragmentPlace(fragment, outer, inner + runLength(fragment) - 1)
  const end = Math.floor((last.element * fragment.bits + fragment.bits - 1) / 32)
  return end === first.register ? String(end) : `${first.register}–${end}`
}

/** Cells of the grid; those of the selected lane are marked. */
export function fragmentCells(fragment: Fragment, selectedLane: number) {
  const run = runLength(fragment)
  return (outer: number, column: number): GridCell => {
    const inner = column * run
    const { lane } = fragmentPlace(fragment, outer, inner)
    const text = `T${lane} r${registersOf(fragment, outer, inner)}`
    return {
      text,
      words: `${text}: ${spoken(fragment, outer, inner)}`,
      padding: false,
      shaded: false,
      hue: hueOf(lane),
      mark: lane === selectedLane ? 'step' : undefined
    }
  }
}

function spoken(fragment: Fragment, outer: number, inner: number): string {
  const [outerName, innerName] = axisNames(fragment.operand)
  const last = inner + runLength(fragment) - 1
  return `${outerName} ${outer}, ${innerName} ${inner}${last > inner ? ` to ${last}` : ''}`
}

/** Extents of the grid. */
export function fragmentGrid(fragment: Fragment): { rows: number; columns: number } {
  return { rows: fragment.outerExtent, columns: fragment.innerExtent / runLength(fragment) }
}

/** A position of the fragment from an address, within its extents. */
export function clampElement(fragment: Fragment, { row, column }: Position): Position {
  return {
    row: Math.min(row, fragment.outerExtent - 1),
    column: Math.min(column, fragment.innerExtent - 1)
  }
}

/** '32 elements of 4 bits a lane, in 4 registers'. */
export function fragmentSummary(fragment: Fragment): string {
  const registers = registersPerLane(fragment)
  const elements = elementsPerLane(fragment)
  return `${elements} elements of ${fragment.bits} bits a lane, in ${registers} register${registers === 1 ? '' : 's'}`
}
