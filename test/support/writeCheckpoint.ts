import { writeFileSync } from 'node:fs'
import { planFile } from '../../src-shared/formats/safetensors'

export interface TensorBytes {
  name: string
  dtype: string
  shape: number[]
  bytes: Uint8Array
}

/** A .safetensors file of these tensors. */
export function writeCheckpoint(
  path: string,
  tensors: readonly TensorBytes[],
  metadata: Record<string, string> = {}
): void {
  const planned = tensors.map(({ bytes, ...rest }) => ({ ...rest, byteLength: bytes.length }))
  const { head } = planFile(path, planned, metadata)
  writeFileSync(path, Buffer.concat([head, ...tensors.map(({ bytes }) => bytes)]))
}
