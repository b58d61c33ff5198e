/** A stretch of time, ns from the first slice. */
export interface Window {
  startNs: number
  endNs: number
}
