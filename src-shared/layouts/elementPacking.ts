/**
 * Codes of fp4 and fp6 elements in memory and in registers: which bits of which byte. A packing repeats one group of codes
 * along K; byte and bit follow from the group's table alone. Twin of native/core/elementPacking.h.
 */
import { UserError } from '../errors'
import { knownName } from '../knownName'

export interface ElementPacking {
  name: string
  title: string
  /** Where the order is laid down, or who uses it. */
  source: string
  /** Bits of a code. */
  storageBits: 4 | 6
  /** Bytes of a group. */
  groupBytes: number
  /** Of each code of a group its lowest bit, counted from bit 0 of the group's first byte, little-endian. */
  bits: readonly number[]
}

const table = (count: number, bitOf: (index: number) => number) =>
  Array.from({ length: count }, (_, index) => bitOf(index))
/** The first half of a block in the low nibbles, the second in the high ones. */
const halves = (count: number) =>
  table(count, (i) => (i < count / 2 ? 8 * i : 8 * (i - count / 2) + 4))

export const elementPackings: readonly ElementPacking[] = [
  {
    name: 'fp4_low_first',
    title: 'two in a byte, even index in the low nibble',
    source: 'PTX ISA e2m1x2; gpt-oss, ModelOpt and compressed-tensors checkpoints',
    storageBits: 4,
    groupBytes: 1,
    bits: [0, 4]
  },
  {
    name: 'fp4_high_first',
    title: 'two in a byte, even index in the high nibble',
    source: 'bitsandbytes quantize_4bit',
    storageBits: 4,
    groupBytes: 1,
    bits: [4, 0]
  },
  {
    name: 'fp4_halves_32',
    title: 'blocks of 32: elements 0 to 15 in the low nibbles, 16 to 31 in the high ones',
    source: 'ggml block_mxfp4 (GGUF), without the scale byte before it',
    storageBits: 4,
    groupBytes: 16,
    bits: halves(32)
  },
  {
    name: 'fp4_halves_16',
    title: 'blocks of 16: elements 0 to 7 in the low nibbles, 8 to 15 in the high ones',
    source: 'ggml block_nvfp4 (GGUF), without the scale bytes before it',
    storageBits: 4,
    groupBytes: 8,
    bits: halves(16)
  },
  {
    name: 'fp4_align16',
    title: '16 in 8 bytes, then 8 bytes of padding',
    source: 'PTX ISA b4x16_p64; CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B',
    storageBits: 4,
    groupBytes: 16,
    bits: table(16, (i) => 4 * i)
  },
  {
    name: 'fp4_byte',
    title: 'one in the low bits of a byte',
    source: 'PTX ISA ldmatrix b8x16.b4x16_p64',
    storageBits: 4,
    groupBytes: 1,
    bits: [0]
  },
  {
    name: 'fp4_byte_middle',
    title: 'one in bits 2 to 5 of a byte',
    source: 'mma.sync kind::f8f6f4; CUTLASS fp4_shift_A and fp4_shift_B',
    storageBits: 4,
    groupBytes: 1,
    bits: [2]
  },
  {
    name: 'fp6_dense',
    title: 'four in three bytes',
    source: 'OCP MX, storage without gaps',
    storageBits: 6,
    groupBytes: 3,
    bits: table(4, (i) => 6 * i)
  },
  {
    name: 'fp6_align16',
    title: '16 in 12 bytes, then 4 bytes of padding',
    source: 'PTX ISA b6x16_p32; CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B',
    storageBits: 6,
    groupBytes: 16,
    bits: table(16, (i) => 6 * i)
  },
  {
    name: 'fp6_byte',
    title: 'one in the low bits of a byte',
    source: 'mma.sync kind::f8f6f4; PTX ISA ldmatrix b8x16.b6x16_p32',
    storageBits: 6,
    groupBytes: 1,
    bits: [0]
  }
]

/** Throws a UserError that lists the known names. */
export function findElementPacking(name: string): ElementPacking {
  const names = elementPackings.map((packing) => packing.name)
  const found = knownName(name, names, 'element packing', 'Packings')
  return elementPackings.find((packing) => packing.name === found)!
}

/** What codes of that width are packed in where nothing else is said: low nibble first, fp6 without gaps. Undefined for bytes. */
export const usualPacking = (storageBits: number): ElementPacking | undefined =>
  elementPackings.find((packing) => packing.storageBits === storageBits)

/** The lowest bit of the code at an index along K, from bit 0 of the first byte. */
export function elementBit({ bits, groupBytes }: ElementPacking, index: number): number {
  return Math.floor(index / bits.length) * groupBytes * 8 + bits[index % bits.length]!
}

/** The inverse: the index of the code that uses a bit; undefined where there is padding. */
export function elementAtBit(packing: ElementPacking, bit: number): number | undefined {
  const { bits, groupBytes, storageBits } = packing
  const inGroup = bit % (groupBytes * 8)
  const at = bits.findIndex((first) => first <= inGroup && inGroup < first + storageBits)
  return at < 0 ? undefined : Math.floor(bit / (groupBytes * 8)) * bits.length + at
}

/** 'bits 6 to 7 and 0 to 3 of the next': the bits of a code of so many bits, from its lowest in its first byte. */
export function bitsText(first: number, count: number): string {
  const last = first + count - 1
  return last < 8
    ? `bits ${first} to ${last}`
    : `bits ${first} to 7 and 0 to ${last - 8} of the next`
}

/** The codes in each byte of a group, from its high bits to its low ones: '1 0 | 3 2'; a dot is padding. */
export function groupText(packing: ElementPacking): string {
  const bytes = Array.from({ length: packing.groupBytes }, (_, byte) => {
    const users = Array.from({ length: 8 }, (_, bit) => elementAtBit(packing, 8 * byte + bit))
    const runs = users.filter((user, bit) => bit === 0 || user !== users[bit - 1])
    return runs
      .map((user) => user ?? '.')
      .reverse()
      .join(' ')
  })
  return bytes.join(' | ')
}

/** Bytes that so many codes take. Throws a UserError when they do not fill whole groups. */
export function packedElementBytes(packing: ElementPacking, count: number): number {
  return wholeGroups(count, packing.bits.length, `${packing.name} codes`) * packing.groupBytes
}

/** One code a byte to the packing; padding is 0. Throws a UserError when the codes do not fill whole groups. */
export function packElements(packing: ElementPacking, codes: Uint8Array): Uint8Array {
  const packed = new Uint8Array(packedElementBytes(packing, codes.length))
  const mask = (1 << packing.storageBits) - 1
  for (let i = 0; i < codes.length; i++) {
    const bit = elementBit(packing, i)
    const word = (codes[i]! & mask) << (bit & 7)
    packed[bit >>> 3]! |= word
    // A code of 6 bits may reach into the next byte, never past the group.
    if (word > 255) packed[(bit >>> 3) + 1]! |= word >> 8
  }
  return packed
}

/** The reverse of packElements. */
export function unpackElements(packing: ElementPacking, packed: Uint8Array): Uint8Array {
  const { bits, groupBytes, storageBits, name } = packing
  const codes = new Uint8Array(
    wholeGroups(packed.length, groupBytes, `bytes of ${name}`) * bits.length
  )
  const mask = (1 << storageBits) - 1
  // Group by group: operands have codes by the hundred million.
  for (let at = 0, i = 0; at < packed.length; at += groupBytes) {
    for (const bit of bits) {
      const byte = at + (bit >>> 3)
      const word = packed[byte]! | ((packed[byte + 1] ?? 0) << 8)
      codes[i++] = (word >> (bit & 7)) & mask
    }
  }
  return codes
}

/** Codes from one order into another of the same width, without a byte for each between. Padding is 0. */
export function repackElements(
  from: ElementPacking,
  to: ElementPacking,
  packed: Uint8Array
): Uint8Array {
  if (from === to) return packed
  const count = wholeGroups(packed.length, from.groupBytes, `bytes of ${from.name}`)
  const codes = count * from.bits.length
  const repacked = new Uint8Array(packedElementBytes(to, codes))
  // Codes after which both orders begin a group.
  const period = leastCommonMultiple(from.bits.length, to.bits.length)
  const [fromBytes, toBytes] = [from, to].map(
    ({ bits, groupBytes }) => (period / bits.length) * groupBytes
  )
  const bitsOf = (packing: ElementPacking) =>
    Int32Array.from({ length: period }, (_, i) => elementBit(packing, i))
  const [source, target] = [bitsOf(from), bitsOf(to)]
  const mask = (1 << from.storageBits) - 1
  for (let done = 0, at = 0, out = 0; done < codes; done += period) {
    const some = Math.min(period, codes - done)
    for (let i = 0; i < some; i++) {
      const bit = source[i]!
      const byte = at + (bit >>> 3)
      const code = ((packed[byte]! | ((packed[byte + 1] ?? 0) << 8)) >> (bit & 7)) & mask
      const place = target[i]!
      const word = code << (place & 7)
      repacked[out + (place >>> 3)]! |= word
      if (word > 255) repacked[out + (place >>> 3) + 1]! |= word >> 8
    }
    at += fromBytes!
    out += toBytes!
  }
  return repacked
}

function leastCommonMultiple(a: number, b: number): number {
  let [x, y] = [a, b]
  while (y > 0) [x, y] = [y, x % y]
  return (a / x) * b
}

function wholeGroups(count: number, size: number, what: string): number {
  if (count % size !== 0) {
    throw new UserError('usage', `${count} ${what} do not divide into groups of ${size}.`)
  }
  return count / size
}
