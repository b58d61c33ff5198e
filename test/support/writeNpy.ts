/** numpy's .npy and .npz, as numpy.save and numpy.savez write them. */
import { zipSync } from 'fflate'

export interface Npy {
  /** '<f2', '|u1' */
  descr: string
  shape: readonly number[]
  bytes: Uint8Array
}

export function npyBytes({ descr, shape, bytes }: Npy): Uint8Array {
  const extents = shape.length === 1 ? `${shape[0]},` : shape.join(', ')
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${extents}), }`
  // The values begin at a multiple of 64.
  const header = text.padEnd(Math.ceil((11 + text.length) / 64) * 64 - 11) + '\n'
  const head = new Uint8Array(10 + header.length)
  head.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0])
  new DataView(head.buffer).setUint16(8, header.length, true)
  head.set(new TextEncoder().encode(header), 10)
  return Buffer.concat([head, bytes])
}

export function npzBytes(arrays: Record<string, Npy>): Uint8Array {
  const files = Object.entries(arrays).map(([name, array]) => [`${name}.npy`, npyBytes(array)])
  return zipSync(Object.fromEntries(files) as Record<string, Uint8Array>)
}
