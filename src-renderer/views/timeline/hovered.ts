/** What lies under the pointer. */
export type Hovered = { x: number; y: number; startNs: number; lengthNs: number } & (
  | { kind: 'gap' }
  /** One slice, or several that are drawn together. */
  | { kind: 'slices'; slice: number; several: number; group: number }
)
