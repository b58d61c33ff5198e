/** Element codes as a file holds them: one a byte, or packed in one of the orders of `layout elements`. */
import { UserError } from '../errors'
import type { NamedArray } from '../formats/npy'
import { codeCount, type NumberFormat, type NumberFormatName } from '../formats/numberFormat'
import {
  findElementPacking,
  unpackElements,
  usualPacking,
  type ElementPacking
} from '../layouts/elementPacking'

/** Dtypes that say which element they hold; those of less than a byte are packed along their last axis. */
const elementOfDtype: Record<string, NumberFormatName> = {
  F8_E4M3: 'e4m3',
  F8_E5M2: 'e5m2',
  F6_E2M3: 'e2m3',
  F6_E3M2: 'e3m2',
  F4: 'e2m1',
  BF16: 'bf16',
  // numpy, which has no bfloat16.
  U16: 'bf16'
}

/** Bytes that may be any element. */
const isBytes = (dtype: string) => dtype === 'U8' || dtype === 'I8'

/** The element that a dtype holds; undefined for plain bytes. Throws a UserError for values that are no codes. */
export function elementOf({ name, dtype }: NamedArray, path: string): NumberFormatName | undefined {
  if (isBytes(dtype)) return undefined
  if (Object.hasOwn(elementOfDtype, dtype)) return elementOfDtype[dtype]
  const known = Object.keys(elementOfDtype).join(', ')
  throw new UserError(
    'usage',
    `${path}: tensor "${name}" is ${dtype}, which holds no codes; U8, or one of ${known}, is needed.`
  )
}

export interface CodesForm {
  /** Leading axes. */
  batch: number[]
  /** Codes: rows, and how many lie along the last axis. */
  shape: [number, number]
  /** Undefined: one a byte. */
  packing: ElementPacking | undefined
}

/**
 * The ways in which an array can hold codes of an element, likeliest first: one a byte where no byte is above the highest
 * code, packed in the order named for codes of that width, or in the usual one. Throws a UserError when there is none.
 */
export function codesForms(
  array: NamedArray,
  element: NumberFormat,
  packings: readonly string[],
  path: string
): CodesForm[] {
  const { name, dtype, shape, bytes } = array
  const refused = (why: string) => new UserError('usage', `${path}: tensor "${name}" ${why}.`)
  if (shape.length < 2)
    throw refused(`has ${shape.length} axes; 2 are needed, and any before them for a batch`)
  const own = elementOf(array, path)
  if ((own !== undefined || element.name === 'bf16') && own !== element.name)
    throw refused(`is ${dtype}, not ${element.name}`)
  const batch = shape.slice(0, -2)
  const [rows, last] = shape.slice(-2) as [number, number]
  const plain: CodesForm = { batch, shape: [rows, last], packing: undefined }
  const named = packings
    .map(findElementPacking)
    .find(({ storageBits }) => storageBits === element.storageBits)
  const packing = named ?? usualPacking(element.storageBits)
  if (!packing) return [plain]
  if (own !== undefined) {
    // Its extents count codes, whatever a byte holds.
    if (last % packing.bits.length !== 0)
      throw refused(`has rows of ${last} codes, which fill no whole groups of ${packing.name}`)
    return [{ ...plain, packing }]
  }
  const forms: CodesForm[] = []
  const limit = codeCount(element)
  const highest = bytes.findIndex((byte) => byte >= limit)
  if (!named && highest < 0) forms.push(plain)
  if (last % packing.groupBytes === 0) {
    const codes = (last / packing.groupBytes) * packing.bits.length
    forms.push({ batch, shape: [rows, codes], packing })
  }
  if (forms.length > 0) return forms
  throw refused(
    `has rows of ${last} bytes, which fill no whole groups of ${packing.name}` +
      (named
        ? ''
        : `, and byte ${highest} is ${bytes[highest]}, which is no code of ${element.name}`)
  )
}

/** One code a byte, or in two where they have 16 bits. */
export function plainCodes({ bytes }: NamedArray, { packing }: CodesForm): Uint8Array {
  return packing ? unpackElements(packing, bytes) : bytes
}
