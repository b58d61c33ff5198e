// wgmma, whose large products widen what later tiles need beside their own (common/widenBeside.cuh): every format, products whose
// later rows are A's, B's and both, and what is not as usual in those rows alone. `node test/gpu/beside.mjs`; FORMATS limits them.
import { fileURLToPath } from 'node:url'
import { Checks, cudaDevice, isRight, open, validated } from './addon.mjs'
import { able } from './formats.mjs'

const kernel = 'wgmma'
const formats = [
  ...['mxfp8', 'mxfp4', 'nvfp4', 'mxfp8_e5m2', 'mixed', 'mxfp6_e2m3', 'w4a16_mxfp4', 'w4a16_nvfp4'],
  ...['e2m3xe4m3', 'e5m2xe3m2']
].filter((one) => process.env.FORMATS?.split(',').includes(one) ?? true)

/** More rows of A than are widened inside the product (4096 of 4-bit B); tiles for more than one turn of 66 to 72 clusters. */
const shapes = [
  { what: 'rows of both', m: 4360, n: 2600, k: 2080, output: 'f16' },
  { what: 'rows of both, by threads', m: 4360, n: 2603, k: 2080, output: 'f32' },
  { what: 'rows of A', m: 20000, n: 264, k: 2048, output: 'bf16' },
  // An accumulator's product is never one of codes.
  { what: 'rows of B', m: 200, n: 19000, k: 2176, output: 'f16', accumulate: true }
]
const tolerances = { f16: {}, bf16: { atol: 8e-3, rtol: 8e-3 }, f32: { rtol: 1e-4 } }

async function check(checks, name, session, tolerance) {
  const [report, again] = [
    await validated(session, kernel, tolerance),
    await validated(session, kernel, tolerance)
  ]
  checks.check(
    name,
    isRight(report, true),
    `${report.status} normwise ${report.normwise} ${report.reason}`
  )
  checks.check(`${name}: twice the same bits`, report.outputDigest === again.outputDigest)
}

async function checkShapes(checks, format) {
  for (const { what, m, n, k, output, accumulate = false } of shapes) {
    const name = `${kernel} ${format} ${m}x${n}x${k} ${output} (${what})`
    await checks.attempt(name, async () => {
      const session = await open(format, m, n, k, { output, operation: { accumulate } })
      await check(checks, name, session, tolerances[output])
      await session.close()
    })
  }
}

/** In the last row alone: a scale beyond bf16's range, for which C is made again in float64, and codes and scales that are NaN. */
const oddities = [
  { what: 'a scale of A beyond bf16', of: 'mxfp8', change: ({ aScales }) => aScales.fill(250, -1) },
  { what: 'a scale of B beyond bf16', of: 'mxfp8', change: ({ bScales }) => bScales.fill(3, -1) },
  { what: 'NaN in A', of: 'mxfp8', change: ({ aCodes }) => aCodes.fill(0x7f, -9, -8) },
  { what: 'NaN in B', of: 'mxfp8', change: ({ bCodes }) => bCodes.fill(0xff, -700, -699) },
  { what: 'infinity in B', of: 'mxfp8_e5m2', change: ({ bCodes }) => bCodes.fill(0x7c, -1) },
  { what: 'a scale of A that is NaN', of: 'nvfp4', change: ({ aScales }) => aScales.fill(0x7f, -1) }
]

async function checkOddities(checks, format) {
  for (const { what, of, change } of oddities) {
    if (of !== format) continue
    const name = `${kernel} ${format}: ${what}`
    await checks.attempt(name, async () => {
      const [m, n, k] = [4360, 2600, 2080]
      const generated = await open(format, m, n, k, { output: 'f32' })
      const operands = await generated.operands()
      await generated.close()
      change(operands)
      const session = await open(format, m, n, k, { output: 'f32', operands })
      await check(checks, name, session, tolerances.f32)
      await session.close()
    })
  }
}

/** The checks of a format are a process of their own: most of their time is compilation. */
export const checkBeside = (checks) =>
  checks.inProcesses(
    fileURLToPath(import.meta.url),
    formats.map((format) => [format])
  )

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [format] = process.argv.slice(2)
  const checks = new Checks()
  const device = await cudaDevice([])
  const row = device.kernels.find(({ id }) => id === kernel)
  if (!format) await checkBeside(checks)
  else if (able(row, format)) {
    await checkShapes(checks, format)
    await checkOddities(checks, format)
  }
  checks.end()
}
