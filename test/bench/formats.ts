/** Throughput of the format code on one core; output bytes a second, median of the repetitions. */
import { decodeFp4Blocks } from '@shared/formats/decode'
import { numberFormats } from '@shared/formats/numberFormat'
import { packFp4, unpackFp4 } from '@shared/formats/pack'
import { quantizeMx } from '@shared/formats/quantize'
import { packScales, unpackScales } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'

const repetitions = 15
const elements = 2 ** 22

function report(name: string, outputBytes: number, work: () => void): void {
  for (let i = 0; i < 3; i++) work()
  const seconds = Array.from({ length: repetitions }, () => {
    const started = performance.now()
    work()
    return (performance.now() - started) / 1000
  }).sort((a, b) => a - b)
  const rate = outputBytes / seconds[Math.floor(repetitions / 2)]! / 1e9
  console.log(`${name.padEnd(44)}${rate.toFixed(2).padStart(8)} GB/s`)
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

report('mxfp4 to float32', elements * 4, () =>
  decodeFp4Blocks(packed, mxScales, numberFormats.e8m0, 32, decoded)
)
report('nvfp4 to float32', elements * 4, () =>
  decodeFp4Blocks(packed, nvScales, numberFormats.ue4m3, 16, decoded)
)
report('unpack fp4 to codes', elements, () => unpackFp4(packed))
report('pack fp4', elements / 2, () => packFp4(codes))
report('quantise float32 to mxfp4 (codes out)', values.length, () =>
  quantizeMx(values, numberFormats.e2m1, 32)
)
report('pack scales nvidia_32_4_4', linear.length, () => packScales(layout, shape, linear))
report('unpack scales nvidia_32_4_4', linear.length, () => unpackScales(layout, shape, swizzled))
