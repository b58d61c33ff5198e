/** What every long call of the addon takes beside its arguments. */
export type NativeProgress = (fraction: number, phase: string) => void

export interface NativeCancelFlag {
  cancel(): void
}
