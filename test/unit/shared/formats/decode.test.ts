import { expect, it } from 'vitest'
import { decodeFp4Blocks } from '@shared/formats/decode'
import { numberFormats } from '@shared/formats/numberFormat'
import { unpackFp4 } from '@shared/formats/pack'
import { dequantize } from '@shared/formats/quantize'

it.each([
  ['e8m0', 32],
  ['ue4m3', 16]
] as const)('decodes every byte as the plain decoder does, %s scales', (name, scaleBlockSize) => {
  const scale = numberFormats[name]
  const packed = Uint8Array.from({ length: 4096 }, (_, i) => (i * 41) & 255)
  const count = (packed.length * 2) / scaleBlockSize
  const scales = Uint8Array.from({ length: count }, (_, i) =>
    name === 'e8m0' ? 20 + (i % 200) : i % 128
  )
  const out = new Float32Array(packed.length * 2)
  decodeFp4Blocks(packed, scales, scale, scaleBlockSize, out)
  const quantized = { codes: unpackFp4(packed), scales, tensorScale: 1 }
  const plain = dequantize(quantized, numberFormats.e2m1, scale, scaleBlockSize)
  expect(out).toEqual(Float32Array.from(plain))
})

it('refuses sizes that do not fit together', () => {
  const run = () =>
    decodeFp4Blocks(
      new Uint8Array(16),
      new Uint8Array(2),
      numberFormats.e8m0,
      32,
      new Float32Array(32)
    )
  expect(run).toThrow('16 bytes of fp4, 2 scales per 32 and 32 values do not fit together.')
})
