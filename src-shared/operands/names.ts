/** What the arrays of a product are called in files. */
import { UserError } from '../errors'
import type { ArrayFile } from '../formats/arrayFiles'
import type { NamedArray } from '../formats/npy'

/** Names that are taken for each, in any case; the first is the one that docs use. */
const names = {
  aCodes: ['a_codes', 'a'],
  bCodes: ['b_codes', 'b'],
  aScales: ['a_scales', 'a_scale', 'scale_a'],
  bScales: ['b_scales', 'b_scale', 'scale_b'],
  aTensorScale: ['a_tensor_scale'],
  bTensorScale: ['b_tensor_scale'],
  accumulator: ['c_f32', 'accumulator'],
  reference: ['c_f64', 'reference'],
  /** C as a program made it. */
  product: ['c'],
  /** What the codes were quantised from. */
  aValues: ['a_values'],
  bValues: ['b_values'],
  /** Rows of each group of A; or where each group ends. */
  groupRows: ['group_rows'],
  groupEnds: ['group_ends', 'offs']
} as const
export type ArrayRole = keyof typeof names

/** The array of that role; undefined where the file has none. Throws a UserError when it has two. */
export function findArray({ arrays, path }: ArrayFile, role: ArrayRole): NamedArray | undefined {
  const found = arrays.filter(({ name }) => names[role].some((own) => own === name.toLowerCase()))
  if (found.length < 2) return found[0]
  const both = found.map(({ name }) => `"${name}"`).join(' and ')
  throw new UserError('usage', `${path} holds ${both}, which mean the same; keep one of them.`)
}

/** Throws a UserError where the file has none. */
export function takeArray(file: ArrayFile, role: ArrayRole): NamedArray {
  const found = findArray(file, role)
  if (found) return found
  const [first, ...others] = names[role]
  const also = others.length > 0 ? ` (or ${others.map((name) => `"${name}"`).join(', ')})` : ''
  const all = file.arrays.map(({ name }) => `"${name}"`)
  const has = all.length === 0 ? 'nothing' : all.slice(0, 12).join(', ')
  throw new UserError('usage', `${file.path} has no tensor "${first}"${also}; it has ${has}.`)
}

/** Whether a file holds operands, rather than a product. */
export const holdsOperands = ({ arrays }: ArrayFile): boolean =>
  arrays.some(({ name }) =>
    [...names.aCodes, ...names.bCodes, ...names.aScales, ...names.bScales].some(
      (own) => own === name.toLowerCase()
    )
  )
