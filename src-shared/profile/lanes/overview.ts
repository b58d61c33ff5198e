import { workRows } from './lanes'
import type { AllRowSums } from './rowSums'

/**
 * How busy the work lanes are over the whole trace, by group.
 * @param among lanes, by index
 * @returns [width x groups], share of each bin's time per lane that has work, so that full lanes sum to 1
 */
export function overviewOf(
  sums: AllRowSums,
  among: readonly number[],
  width: number
): Float32Array<ArrayBuffer> {
  const { lanes, groups } = sums
  const groupCount = groups.titles.length
  const shares = new Float32Array(width * groupCount)
  const binNs = lanes.lengthNs / width
  if (!(binNs > 0)) return shares
  const bin = new Float64Array(groupCount)
  for (let at = 0; at < width; at++) {
    bin.fill(0)
    for (const lane of among) {
      // Of calls the outermost say how long: those within are part of them.
      const rows = workRows(lanes, lanes.lanes[lane]!)
      const counted = lanes.lanes[lane]!.kind === 'thread' ? rows.slice(0, 1) : rows
      for (const row of counted) sums.of(row).addGroupsIn(at * binNs, (at + 1) * binNs, bin)
    }
    for (let group = 0; group < groupCount; group++)
      shares[at * groupCount + group] = bin[group]! / binNs / Math.max(1, among.length)
  }
  return shares
}
