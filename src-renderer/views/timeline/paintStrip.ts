/** The overview: how busy the lanes are over the whole trace, by group, stacked in each pixel. */
import type { Painter } from '../../canvas/painter'
import type { ShownOverview } from '../../workers/timelineProtocol'
import type { SliceFill } from './fills'

export function paintStrip(
  painter: Painter,
  { width, height }: { width: number; height: number },
  { shares, width: bins, groups }: ShownOverview,
  fills: readonly SliceFill[]
): void {
  const groupCount = groups.length
  const scale = 1 / Math.max(1e-9, fullest(shares, bins, groupCount))
  const wide = width / bins
  for (let bin = 0; bin < bins; bin++) {
    let y = height
    for (let group = 0; group < groupCount; group++) {
      const share = shares[bin * groupCount + group]!
      if (!(share > 0)) continue
      const high = share * scale * height
      y -= high
      painter.box(bin * wide, y, wide + 0.3, high, { fill: fills[group]!.fill })
    }
  }
}

function fullest(shares: Float32Array, bins: number, groupCount: number): number {
  let most = 0
  for (let bin = 0; bin < bins; bin++) {
    let sum = 0
    for (let group = 0; group < groupCount; group++) sum += shares[bin * groupCount + group]!
    most = Math.max(most, sum)
  }
  return most
}
