import type { BlockFormat } from '@shared/formats/blockFormat'
import type { ComparisonRow } from '@shared/formats/compare'
import type { ErrorProfile } from '@shared/formats/errorProfile'

/** A format's errors with the hue and the dash it has in all charts of them. */
export interface DrawnRow {
  /** Of the format. */
  id: string
  format: BlockFormat
  colour: string
  dash: string
  row: ComparisonRow
  profile: ErrorProfile
}
