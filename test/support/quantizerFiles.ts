/**
 * Weights as each quantiser writes them, from one code a byte and linear scales. Loops over the axes that the projects'
 * own reshapes and permutes name; nothing of src-shared/checkpoints is used.
 */
import type { TensorBytes } from './writeCheckpoint'

export interface PlainWeight {
  leading: number[]
  rows: number
  k: number
  /** One code a byte, (matrices, rows, k). */
  codes: Uint8Array
  /** (matrices, rows, k / V). */
  scales: Uint8Array
  /** One for each matrix, or one. */
  tensorScales: number[]
}

const float32 = (values: readonly number[]) =>
  new Uint8Array(Float32Array.from(values).buffer.slice(0))

/** Upper halves of float32. */
const bfloat16 = (values: readonly number[]) =>
  new Uint8Array(
    Uint16Array.from(new Uint32Array(Float32Array.from(values).buffer), (bits) => bits >>> 16)
      .buffer
  )

/** Two a byte, the first in the low nibble. */
export function nibbles(codes: Uint8Array): Uint8Array {
  return Uint8Array.from(
    { length: codes.length / 2 },
    (_, i) => codes[2 * i]! | (codes[2 * i + 1]! << 4)
  )
}

/** Four in three bytes, from the low bits up. */
function sixes(codes: Uint8Array): Uint8Array {
  const bytes: number[] = []
  for (let i = 0; i < codes.length; i += 4) {
    const word = codes[i]! | (codes[i + 1]! << 6) | (codes[i + 2]! << 12) | (codes[i + 3]! << 18)
    bytes.push(word & 255, (word >> 8) & 255, word >> 16)
  }
  return Uint8Array.from(bytes)
}

/** Pack_mxfp6: of four codes a byte of their upper two bits, then two bytes of their lower four, the first code uppermost. */
function sixesInParts(codes: Uint8Array): Uint8Array {
  const bytes: number[] = []
  for (let i = 0; i < codes.length; i += 4) {
    const four = [...codes.subarray(i, i + 4)]
    const [a, b, c, d] = four.map((code) => code & 15)
    bytes.push(
      four.reduce((byte, code) => (byte << 2) | (code >> 4), 0),
      (a! << 4) | b!,
      (c! << 4) | d!
    )
  }
  return Uint8Array.from(bytes)
}

/** Of each block log2 of its scale as a signed byte, then its codes. */
function quarkMxBlocks({ scales }: PlainWeight, codes: Uint8Array): Uint8Array {
  const size = codes.length / scales.length
  const bytes = new Uint8Array(codes.length + scales.length)
  scales.forEach((scale, block) => {
    new DataView(bytes.buffer).setInt8(block * (size + 1), scale - 127)
    bytes.set(codes.subarray(block * size, (block + 1) * size), block * (size + 1) + 1)
  })
  return bytes
}

function transposed(bytes: Uint8Array, rows: number): Uint8Array {
  const columns = bytes.length / rows
  return Uint8Array.from(
    { length: bytes.length },
    (_, i) => bytes[(i % rows) * columns + Math.floor(i / rows)]!
  )
}

function eachMatrix(
  bytes: Uint8Array,
  { leading }: PlainWeight,
  change: (matrix: Uint8Array) => Uint8Array
): Uint8Array {
  const count = leading.reduce((product, extent) => product * extent, 1)
  const size = bytes.length / count
  return Buffer.concat(
    Array.from({ length: count }, (_, i) => change(bytes.subarray(i * size, (i + 1) * size)))
  )
}

/** Zeros behind rows and columns, up to multiples of 128 and 4. */
function padded128x4(scales: Uint8Array, rows: number): Uint8Array {
  const columns = scales.length / rows
  const [R, C] = [Math.ceil(rows / 128) * 128, Math.ceil(columns / 4) * 4]
  const all = new Uint8Array(R * C)
  for (let row = 0; row < rows; row++) {
    all.set(scales.subarray(row * columns, (row + 1) * columns), row * C)
  }
  return all
}

/** torchao to_blocked: 128 x 4 tiles, in each rows r, r + 32, r + 64, r + 96 side by side. */
function blocked(scales: Uint8Array, rows: number): Uint8Array {
  const all = padded128x4(scales, rows)
  const C = all.length / (Math.ceil(rows / 128) * 128)
  const bytes: number[] = []
  for (let tile = 0; tile < all.length / C / 128; tile++) {
    for (let columns = 0; columns < C; columns += 4) {
      for (let row = 0; row < 32; row++) {
        for (let group = 0; group < 4; group++) {
          const start = (tile * 128 + group * 32 + row) * C + columns
          bytes.push(...all.subarray(start, start + 4))
        }
      }
    }
  }
  return Uint8Array.from(bytes)
}

/** NunchakuWeightPacker(bits=4, warp_n=128).pack_weight. */
function nunchakuWeight(codes: Uint8Array, rows: number): Uint8Array {
  const k = codes.length / rows
  const bytes: number[] = []
  for (let nTile = 0; nTile < rows / 128; nTile++) {
    for (let kTile = 0; kTile < k / 64; kTile++) {
      for (let nPack = 0; nPack < 8; nPack++) {
        for (let nLane = 0; nLane < 8; nLane++) {
          for (let kLane = 0; kLane < 4; kLane++) {
            for (let nInPack = 0; nInPack < 2; nInPack++) {
              for (let kInPack = 0; kInPack < 2; kInPack++) {
                const row = nTile * 128 + nPack * 16 + nInPack * 8 + nLane
                const column = kTile * 64 + kInPack * 32 + kLane * 8
                bytes.push(...nibbles(codes.subarray(row * k + column, row * k + column + 8)))
              }
            }
          }
        }
      }
    }
  }
  return Uint8Array.from(bytes)
}

/** NunchakuWeightPacker.pack_micro_scale: what lane after lane loads. */
function nunchakuScales(scales: Uint8Array, rows: number): Uint8Array {
  const columns = scales.length / rows
  const bytes: number[] = []
  for (let nTile = 0; nTile < rows / 128; nTile++) {
    for (let kTile = 0; kTile < columns / 4; kTile++) {
      for (let eighth = 0; eighth < 8; eighth++) {
        for (let quad = 0; quad < 4; quad++) {
          for (let pack = 0; pack < 4; pack++) {
            const row = nTile * 128 + pack * 32 + quad * 8 + eighth
            const start = row * columns + kTile * 4
            bytes.push(...scales.subarray(start, start + 4))
          }
        }
      }
    }
  }
  return Uint8Array.from(bytes)
}

/** ggml blocks: scales, then bytes of code j in the low and code j + half in the high nibble. */
export function ggmlBlocks(
  { codes, scales }: PlainWeight,
  scaleBlock: number,
  scalesTogether: number
): Uint8Array {
  const bytes: number[] = []
  for (let scale = 0; scale < scales.length; scale += scalesTogether) {
    bytes.push(...scales.subarray(scale, scale + scalesTogether))
    for (let i = scale; i < scale + scalesTogether; i++) {
      const half = scaleBlock / 2
      for (let j = 0; j < half; j++) {
        bytes.push(codes[i * scaleBlock + j]! | (codes[i * scaleBlock + j + half]! << 4))
      }
    }
  }
  return Uint8Array.from(bytes)
}

/** Tensors of the weight "layer" of a safetensors file. */
export function tensorsOf(convention: string, weight: PlainWeight): TensorBytes[] {
  const { leading, rows, k, codes, scales, tensorScales } = weight
  const V = codes.length / scales.length
  const blocks = k / V
  const tensor = (
    name: string,
    dtype: string,
    shape: number[],
    bytes: Uint8Array
  ): TensorBytes => ({
    name: `layer${name}`,
    dtype,
    shape,
    bytes
  })
  const perMatrix = (change: (matrix: Uint8Array) => Uint8Array, bytes: Uint8Array) =>
    eachMatrix(bytes, weight, change)
  const halfK = [...leading, rows, k / 2]
  const scaleShape = [...leading, rows, blocks]
  const fp4 = nibbles(codes)
  const one = (name: string) => tensor(name, 'F32', [], float32(tensorScales))
  const wordsPerRow = (bits: number) => [...leading, rows, (k * bits) / 32]
  switch (convention) {
    case 'gpt-oss-original':
      return [
        tensor('.blocks', 'U8', [...leading, rows, blocks, 16], fp4),
        tensor('.scales', 'U8', scaleShape, scales)
      ]
    case 'modelopt-experts-nvfp4':
      return [
        tensor('', 'U8', halfK, fp4),
        tensor('_weight_scale', 'F8_E4M3', scaleShape, scales),
        tensor('_weight_scale_2', 'F32', leading, float32(tensorScales))
      ]
    case 'modelopt-bmm-nvfp4':
      return [
        tensor(
          '',
          'U8',
          [...leading, k / 2, rows],
          perMatrix((m) => transposed(m, rows), fp4)
        ),
        tensor(
          '_weight_scale',
          'F8_E4M3',
          [...leading, blocks, rows],
          perMatrix((m) => transposed(m, rows), scales)
        ),
        tensor('_weight_scale_2', 'F32', [], float32(tensorScales))
      ]
    case 'quark-mxfp4':
      return [
        tensor('.weight', 'U8', halfK, fp4),
        tensor('.weight_scale', 'U8', scaleShape, scales)
      ]
    case 'quark-mxfp6-e2m3':
    case 'quark-mxfp6-e3m2':
      return [
        tensor('.weight', 'U8', [...leading, rows, (k * 3) / 4], sixes(codes)),
        tensor('.weight_scale', 'U8', scaleShape, scales)
      ]
    case 'quark-mx-mxfp4':
      return [tensor('.weight', 'U8', [...leading, rows, blocks * 17], quarkMxBlocks(weight, fp4))]
    case 'quark-mx-mxfp6-e2m3':
    case 'quark-mx-mxfp6-e3m2': {
      const bytes = quarkMxBlocks(weight, sixesInParts(codes))
      return [tensor('.weight', 'U8', [...leading, rows, blocks * 25], bytes)]
    }
    case 'deepseek-mxfp4':
      return [tensor('.weight', 'I8', halfK, fp4), tensor('.scale', 'F8_E8M0', scaleShape, scales)]
    case 'mlx-mxfp4':
    case 'mlx-nvfp4':
      return [
        tensor('.weight', 'U32', wordsPerRow(4), fp4),
        tensor('.scales', 'U8', scaleShape, scales)
      ]
    case 'mlx-mxfp8':
      return [
        tensor('.weight', 'U32', wordsPerRow(8), codes),
        tensor('.scales', 'U8', scaleShape, scales)
      ]
    case 'torchao-mxfp4':
      return [
        tensor('._weight_qdata', 'U8', halfK, fp4),
        tensor('._weight_scale', 'F8_E8M0', scaleShape, scales)
      ]
    case 'torchao-mxfp8':
    case 'torchao-mxfp8-e5m2':
      return [
        tensor(
          '._weight_qdata',
          convention.endsWith('e5m2') ? 'F8_E5M2' : 'F8_E4M3',
          [...leading, rows, k],
          codes
        ),
        tensor('._weight_scale', 'F8_E8M0', scaleShape, scales)
      ]
    case 'torchao-mxfp6-e2m3':
    case 'torchao-mxfp6-e3m2':
      return [
        tensor('._weight_qdata', 'U8', [...leading, rows, k], codes),
        tensor('._weight_scale', 'F8_E8M0', scaleShape, scales)
      ]
    case 'torchao-nvfp4':
      return [
        tensor('._weight_qdata', 'U8', halfK, fp4),
        tensor(
          '._weight_scale',
          'F8_E4M3',
          [...leading, Math.ceil(rows / 128) * 32, Math.ceil(blocks / 4) * 16],
          perMatrix((m) => blocked(m, rows), scales)
        ),
        tensor('._weight_per_tensor_scale', 'F32', [...leading, 1, 1], float32(tensorScales))
      ]
    case 'fp-quant-mxfp4':
    case 'fp-quant-nvfp4':
      return [
        tensor('.qweight', 'U8', halfK, fp4),
        tensor('.scales', 'U8', scaleShape, scales),
        tensor(
          '.weight_global_scale',
          'BF16',
          [1],
          bfloat16(tensorScales.map((scale) => 1 / scale))
        )
      ]
    case 'nunchaku-nvfp4':
      return [
        tensor('.qweight', 'I8', halfK, nunchakuWeight(codes, rows)),
        tensor('.wscales', 'F8_E4M3', [blocks, rows], nunchakuScales(scales, rows)),
        tensor('.wtscale', 'F32', [1], float32(tensorScales))
      ]
    case 'te-mxfp8':
      return [
        tensor('.weight._rowwise_data', 'U8', [...leading, rows, k], codes),
        tensor(
          '.weight._rowwise_scale_inv',
          'U8',
          [Math.ceil(rows / 128) * 128, Math.ceil(blocks / 4) * 4],
          padded128x4(scales, rows)
        )
      ]
    case 'te-nvfp4':
      return [
        tensor('.weight._rowwise_data', 'U8', halfK, fp4),
        tensor(
          '.weight._rowwise_scale_inv',
          'U8',
          [Math.ceil(rows / 128) * 128, Math.ceil(blocks / 4) * 4],
          padded128x4(scales, rows)
        ),
        tensor('.weight._amax_rowwise', 'F32', [1], float32(tensorScales.map((t) => t * 6 * 448)))
      ]
    default:
      return [one('')]
  }
}
