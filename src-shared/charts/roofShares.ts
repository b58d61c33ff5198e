/** Shares of the roofs that bind: the list beside a roofline. */
import type { Roof } from '../contract/roofs'
import { instructionWords } from '../measurement/instructions'
import { quantity, text } from '../units'
import { roofsAt, shareOfStep, type Roofs } from './limits'
import { ratedRoofOf } from './ratedRoofs'
import type { SweepLine } from './sweepSeries'

export interface RoofShare {
  line: SweepLine
  point: SweepLine['points'][number]
  share: number
}

export interface RoofGroup {
  /** 'fp8, 1,947 TFLOP/s', 'dram, 4.81 TB/s' */
  title: string
  rows: readonly RoofShare[]
}

/** The last point of each line under the roof that binds it, best first: what the list beside the chart shows. */
export function roofShares(lines: readonly SweepLine[], roofs: Roofs): RoofGroup[] {
  const groups = new Map<string, { title: string; rate: number; rows: RoofShare[] }>()
  for (const line of lines) {
    const point = line.points.at(-1)
    if (!point) continue
    const found = shareOfStep(point.step, roofs)
    if (!('share' in found)) continue
    // Named as it is drawn; a share is of the roof at the clock that was measured.
    const roof = { ...roofsAt(point.step, roofs), compute: ratedRoofOf(point.step, roofs) }[
      found.limit.by
    ]!
    const key = `${roof.kind} ${roof.of}`
    const group = groups.get(key) ?? { title: '', rate: 0, rows: [] }
    groups.set(key, group)
    if (roof.rate > group.rate) {
      group.rate = roof.rate
      group.title = roofTitle(roof)
    }
    group.rows.push({ line, point, share: found.share })
  }
  return [...groups.values()].map(({ title, rows }) => ({
    title,
    rows: rows.sort(
      (a, b) => Number(a.line.mark.hollow) - Number(b.line.mark.hollow) || b.share - a.share
    )
  }))
}

function roofTitle(roof: Roof): string {
  const name = roof.of === 'entered' ? 'entered limit' : instructionWords(roof.of)
  const rate =
    roof.kind === 'compute'
      ? quantity('rate', roof.rate / 1e12)
      : quantity('bandwidth', roof.rate / 1e9)
  return `${name}, ${text(rate)}`
}
