/** Which layout the packed scales of groups are in, and whether each group is padded on its own or all of them once. */
import { UserError } from '../errors'
import { differenceOf, type Detection } from './detect'
import { defects, mistakenMap, sayingMost, type Defect, type AnyDefect } from './detectCandidates'
import { groupedLayoutMap, groupedMap } from './groups'
import { packedMap, type ScaleLayout } from './layout'
import { layouts as knownLayouts } from './registry'

interface Candidate {
  layout: ScaleLayout
  defect?: AnyDefect
  map: Int32Array
}

/** `linear`: (rows of all groups, columns) without padding. Throws a UserError when it is not. */
export function detectGroups(
  packed: Uint8Array,
  linear: Uint8Array,
  groups: readonly number[],
  columns: number,
  layouts: readonly ScaleLayout[] = knownLayouts
): Detection {
  const rows = groups.reduce((sum, count) => sum + count, 0)
  if (linear.length !== rows * columns)
    throw new UserError(
      'usage',
      `The linear scales have ${linear.length} bytes; groups of ${rows} rows x ${columns} need ${rows * columns}.`
    )
  const plain = layouts.map((layout) => ({
    layout,
    map: groupedLayoutMap(layout, groups, columns)
  }))
  const shape = { rows, columns }
  const judged = (verdict: Detection['verdict'], [first, ...rest]: Candidate[]): Detection => {
    const right = plain.find(({ layout }) => layout === first!.layout)!
    const firstDifference = differenceOf(right.map, packed, linear, shape)
    return {
      verdict,
      ...named(first!),
      agreement: agreement(first!, packed, linear, rows * columns),
      expectedBytes: first!.map.length,
      alike: rest.map(named),
      ...(firstDifference && { firstDifference })
    }
  }
  const isRight = ({ map }: Candidate) =>
    map.length === packed.length &&
    map.every((index, at) => index < 0 || packed[at] === linear[index])
  const exact = plain.filter(isRight)
  if (exact.length > 0) return judged('layout', exact)
  const once = layouts.map((layout): Candidate => ({
    ...{ layout, defect: 'group-padding' },
    map: packedMap(layout, shape)
  }))
  const onceRight = once.filter(isRight)
  if (onceRight.length > 0) return judged('defect', onceRight)
  const mistaken = layouts.flatMap((layout) =>
    (Object.keys(defects) as Defect[]).flatMap((defect): Candidate[] => {
      const map = groupedMap(groups, columns, (group) => mistakenMap(layout, group, defect))
      return map ? [{ layout, defect, map }] : []
    })
  )
  const mistakenRight = sayingMost(mistaken.filter(isRight), (one) => one)
  if (mistakenRight.length > 0) return judged('defect', mistakenRight)
  const shares = [...plain, ...once, ...mistaken].map((candidate) => ({
    candidate,
    share: agreement(candidate, packed, linear, rows * columns)
  }))
  const best = Math.max(...shares.map(({ share }) => share))
  return judged(
    'nearest',
    shares.filter(({ share }) => share === best).map(({ candidate }) => candidate)
  )
}

const named = ({ layout, defect }: Candidate) => ({
  layout: layout.name,
  ...(defect && { defect })
})

/** Share of the scales that lie where the candidate has them; bytes that one of both lacks count as wrong. */
function agreement(
  { map }: Candidate,
  packed: Uint8Array,
  linear: Uint8Array,
  scales: number
): number {
  let right = 0
  for (let at = 0; at < map.length; at++)
    if (map[at]! >= 0 && packed[at] === linear[map[at]!]) right++
  const [less, more] = [map.length, packed.length].sort((a, b) => a - b) as [number, number]
  return more === 0 ? 0 : (right / scales) * (less / more)
}
