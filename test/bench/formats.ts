/**
 * Throughput of the format code, output bytes a second, median of the repetitions: TypeScript on one core, and the addon's
 * quantising on all of them. test/bench/checkpoint.ts measures the way from file to file.
 */
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { decodeFp4Blocks } from '@shared/formats/decode'
import { numberFormats } from '@shared/formats/numberFormat'
import { packFp4, unpackFp4 } from '@shared/formats/pack'
import { quantizeMx } from '@shared/formats/quantize'
import { packScales, unpackScales } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import type { NativeBinding } from '../../src-main/engine/nativeBinding'

const repetitions = 15
const elements = 2 ** 22

async function report(name: string, outputBytes: number, work: () => unknown): Promise<void> {
  for (let i = 0; i < 3; i++) await work()
  const seconds: number[] = []
  for (let i = 0; i < repetitions; i++) {
    const started = performance.now()
    await work()
    seconds.push((performance.now() - started) / 1000)
  }
  seconds.sort((a, b) => a - b)
  const rate = outputBytes / seconds[Math.floor(repetitions / 2)]! / 1e9
  console.log(`${name.padEnd(44)}${rate.toFixed(3).padStart(8)} GB/s`)
}

const packed = Uint8Array.from({ length: elements / 2 }, (_, i) => (i * 37) & 255)
const codes = unpackFp4(packed)
const values = Float32Array.from({ length: elements / 16 }, (_, i) => Math.sin(i))
const decoded = new Float32Array(elements)
const mxScales = new Uint8Array(elements / 32).map((_, i) => 110 + (i % 30))
const nvScales = new Uint8Array(elements / 16).map((_, i) => i % 127)
const layout = findLayout('nvidia_32_4_4')
const shape = { rows: 4096, columns: 256 }
const linear = new Uint8Array(shape.rows * shape.columns).map((_, i) => i & 127)
const swizzled = packScales(layout, shape, linear)

await report('mxfp4 to float32', elements * 4, () =>
  decodeFp4Blocks(packed, mxScales, numberFormats.e8m0, 32, decoded)
)
await report('nvfp4 to float32', elements * 4, () =>
  decodeFp4Blocks(packed, nvScales, numberFormats.ue4m3, 16, decoded)
)
await report('unpack fp4 to codes', elements, () => unpackFp4(packed))
await report('pack fp4', elements / 2, () => packFp4(codes))
await report('quantise float32 to mxfp4 (codes out)', values.length, () =>
  quantizeMx(values, numberFormats.e2m1, 32)
)
const addon = createRequire(import.meta.url)(
  resolve('native/build/Release/blockscope.node')
) as NativeBinding
const cancel = addon.createCancelFlag()
const wide = Float64Array.from({ length: elements }, (_, i) => Math.sin(i))
for (const rule of ['floor', 'mse'] as const) {
  const form = { element: 'e2m1', scale: 'e8m0', scaleBlockSize: 32, rule }
  await report(`quantise float64 to mxfp4, ${rule}, in the addon`, elements, () =>
    addon.quantizeValues(wide, form, cancel)
  )
}
await report('pack scales nvidia_32_4_4', linear.length, () => packScales(layout, shape, linear))
await report('unpack scales nvidia_32_4_4', linear.length, () =>
  unpackScales(layout, shape, swizzled)
)
