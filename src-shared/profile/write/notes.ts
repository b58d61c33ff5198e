import { findTime } from '../ask/amounts'
import { totalSampledMetric } from '../tree/operation'
import { metadataMask, numberColumn, type ProfileTree } from '../tree/profileTree'
import { ownValues } from '../tree/rollUp'
import { formatValue } from './printTree'

/** What the numbers of a profile are of, where it is not plain: sentences to show beside it. */
export function notesOn(tree: ProfileTree, query: { metadata?: boolean }): string[] {
  const notes = query.metadata ? [] : metadataNote(tree)
  if (numberColumn(tree, totalSampledMetric)) {
    notes.push(
      'Times and rates are of one operation, the median of its samples; "total sampled" is all of them together.'
    )
  }
  return notes
}

/** How much time the totals leave out because launch metadata held it. */
function metadataNote(tree: ProfileTree): string[] {
  const time = findTime(tree, 'time')
  const mask = metadataMask(tree)
  if (!time || !mask.includes(1)) return []
  const values = ownValues(tree, time.metric, { proton: false, metadata: true })
  let total = 0
  values.forEach((value, node) => (total += mask[node] && !Number.isNaN(value) ? value : 0))
  const us = formatValue(total * time.seconds * 1e6)
  return [`Launch metadata held ${us} us, not counted here; "Metadata" or --metadata counts it.`]
}
