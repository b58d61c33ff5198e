/** Tensor maps as the tutorial's kernel has them, and what TMA refuses. */
import { expect, it } from 'vitest'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { tmaBoxes, type TmaTile } from '@shared/layouts/tmaBoxes'

const size = { m: 8192, n: 4096, k: 2048 }
const boxesOf = (format: string, tile: TmaTile, more: object = {}) =>
  tmaBoxes({ format: findBlockFormat(format), output: 'f16', ...size, ...more }, tile)

it('mxfp4 with the tile of the tutorial: 128 bytes a row, scales in blocks of 512 bytes', () => {
  const [a, b, ofA, ofB, c] = boxesOf('mxfp4', { m: 128, n: 256, k: 256 })
  expect(a).toEqual({
    ...{ tensor: 'A', element: 'uint8', shape: [8192, 1024], strides: [1024], box: [128, 128] },
    ...{ swizzle: '128B', loads: 1, problem: undefined }
  })
  expect(b).toMatchObject({ shape: [4096, 1024], box: [256, 128], loads: 1 })
  // BLOCK_M / 128, BLOCK_K / 32 / 4: shape (1, 64, 16, 2, 256).
  expect(ofA).toMatchObject({
    ...{ shape: [1, 64, 16, 2, 256], strides: [524_288, 8192, 512, 256], box: [1, 1, 2, 2, 256] },
    ...{ swizzle: 'none', loads: 1, problem: undefined }
  })
  expect(ofB).toMatchObject({ shape: [1, 32, 16, 2, 256], box: [1, 2, 2, 2, 256] })
  // 256 float16 are four boxes of 128 bytes.
  expect(c).toMatchObject({ element: 'float16', box: [128, 64], loads: 4, strides: [8192] })
})

it('fp4 beside fp8 is spread to bytes, 128 codes a row', () => {
  const [a, b] = boxesOf('mixed', { m: 128, n: 256, k: 128 })
  expect(a).toMatchObject({ element: 'uint8', box: [128, 128], strides: [2048] })
  expect(b).toMatchObject({
    ...{ element: '16U4_ALIGN16B', shape: [4096, 2048], strides: [1024], box: [256, 128] },
    problem: undefined
  })
})

it('fp6 is spread too; nvfp4 has twice the scales', () => {
  expect(boxesOf('mxfp6_e2m3', { m: 128, n: 128, k: 128 })[0]).toMatchObject({
    ...{ element: '16U6_ALIGN16B', strides: [1536], box: [128, 128] }
  })
  expect(boxesOf('nvfp4', { m: 128, n: 128, k: 256 })[2]).toMatchObject({
    ...{ shape: [1, 64, 32, 2, 256], box: [1, 1, 4, 2, 256] }
  })
})

it.each([
  ['mxfp8', { m: 64, n: 128, k: 128 }, {}, 2, /a tile of 64 rows; scales lie in tiles of 128/],
  ['mxfp8', { m: 128, n: 128, k: 64 }, {}, 2, /a tile of 2 scales along K; scales lie in tiles/],
  ['mxfp8', { m: 128, n: 128, k: 128 }, { n: 100 }, 4, /a row of 200 bytes; strides are multiples/],
  ['mixed', { m: 128, n: 128, k: 64 }, {}, 1, /a box of 64 codes; 16U4_ALIGN16B takes 128/]
] as const)('says what TMA refuses: %s %j %j', (format, tile, more, at, words) => {
  expect(boxesOf(format, tile, more)[at]!.problem).toMatch(words)
})
