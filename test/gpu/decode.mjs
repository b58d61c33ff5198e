// Few rows of A: the kernels for them beside a plain read of as many bytes and cuBLASLt in the same run, cold.
//   node decode.mjs [NxK,...] [result.json]
// FORMATS=mxfp4,nvfp4 limits the formats, ROWS=128,256 are other rows of A, KERNELS=wgmma further kernels, OUTPUT=bf16 another type of C (which may hold
// sums that float16 has as zero), OWN=folder,... kernels of one's own as --kernel-dir takes them, for KERNELS: those of before a change, by another id. The last
// column is the plain read's share of the time: of the packed operands, scales and C, each once, whatever the kernel reads.
import { writeFileSync } from 'node:fs'
import { briefly, cudaDevice, open, timed } from './addon.mjs'
import { able } from './formats.mjs'
import { readMemory, readNsOf } from './reads.mjs'

const shapes = (process.argv[2] ?? '8192x8192,57344x8192,8192x28672,4096x7168,7168x2048,2880x2880')
  .split(',')
  .map((shape) => shape.split('x').map(Number))
const resultFile = process.argv[3]
const formats = process.env.FORMATS?.split(',') ?? [
  ...['mxfp4', 'mixed', 'nvfp4', 'mxfp8'],
  ...['w4a16_mxfp4', 'w4a16_nvfp4']
]
const device = await cudaDevice(process.env.OWN?.split(',') ?? [])
const memory = await readMemory(device)
const output = process.env.OUTPUT ?? 'f16'
const allRows = (process.env.ROWS ?? '1,8,16,32,64').split(',').map(Number)
const wanted = [
  ...['decode-fp8', 'decode', 'decode-mma', 'cublaslt-fp8', 'cublaslt-bf16'],
  ...(process.env.KERNELS?.split(',') ?? [])
]
const canDo = (id, format) =>
  device.kernels.some((kernel) => kernel.id === id && able(kernel, format))
const rows = []
for (const format of formats) {
  for (const [n, k] of shapes) {
    for (const m of allRows) {
      const session = await open(format, m, n, k, { output })
      const read = readNsOf(memory, format, m, n, k, output) / 1e3
      const told = (kernel, us) =>
        console.log(
          format.padEnd(11),
          `${m}x${n}x${k}`.padEnd(14),
          kernel.padEnd(14),
          `${us.toFixed(2)} us`.padStart(11),
          `${((100 * read) / us).toFixed(0)} %`.padStart(6)
        )
      told('a plain read', read)
      for (const kernel of wanted.filter((id) => canDo(id, format))) {
        const { ns, badges } = await timed(session, kernel, { recordLaunches: false })
        const us = ns / 1e3
        rows.push({ format, m, n, k, kernel, us, share: read / us, badges })
        told(kernel, us)
      }
      await session.close()
      if (resultFile)
        writeFileSync(
          resultFile,
          JSON.stringify({ device: briefly(device), memory, rows }, null, 1)
        )
    }
  }
}
