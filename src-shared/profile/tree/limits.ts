/**
 * How large a profile may be before it is refused with a sentence. Generous: a million nodes with all twenty
 * PC-sampling columns uses a tenth of `cells`, and Proton's own viewer ends at about 500 levels.
 */
export const profileLimits = {
  /** Levels below the root. Nothing here recurses, so this bounds memory only. */
  depth: 1_000_000,
  nodes: 20_000_000,
  /** Metric columns times the nodes they reach: 8 bytes each, 2 GiB in all. */
  cells: 2 ** 28,
  /** Distinct metric names. */
  columns: 4096,
  /** Bytes of one name or string property. */
  stringBytes: 1 << 20
} as const
