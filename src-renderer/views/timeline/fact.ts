export interface Fact {
  title: string
  value: string
  /** Time in which nothing runs. */
  isIdle?: boolean
}
