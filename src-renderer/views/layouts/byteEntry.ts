/** Bytes that a person gave, pasted or as a file, and what is wrong with them. */
export interface ByteEntry {
  readonly text: string
  /** Of the file they came from; '' when they were pasted. */
  readonly fileName: string
  readonly bytes?: Uint8Array
  readonly problem?: string
}

export const noBytes: ByteEntry = { text: '', fileName: '' }
