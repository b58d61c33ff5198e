// wgmma-fp8-folded: where its guard lets operands through and where not, its error beside the exact path's, its time by stage.
// `node test/gpu/folded.mjs [check|error|rate|all] [result file]`. FORMATS=mxfp8,mixed limits the formats, SIZE=4096 what is timed.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  briefly,
  Checks,
  cudaDevice,
  keepsToItsError,
  listed,
  open,
  timed,
  validated
} from './addon.mjs'
import { able } from './formats.mjs'

const kernel = 'wgmma-fp8-folded'
const formats = process.env.FORMATS?.split(',') ?? [
  ...['mxfp8', 'mixed', 'mxfp8_e5m2', 'mxfp8_e4m3_e5m2'],
  ...['e5m2xe4m3', 'e5m2xe2m1', 'e2m1xe4m3', 'e2m1xe5m2']
]
/** Elements by the format's name. */
const named = {
  mxfp8: ['e4m3', 'e4m3'],
  mixed: ['e4m3', 'e2m1'],
  mxfp8_e5m2: ['e5m2', 'e5m2'],
  mxfp8_e4m3_e5m2: ['e4m3', 'e5m2']
}
const elementsOf = (format) => named[format] ?? format.split('x')
/** Binades that blocks' largest elements may lie apart (resources/kernels/cuda/common/fold.cuh). */
const spread = { e4m3: 8, e5m2: 22, e2m1: 28 }

/** Sums of the tensor core show, those of float32 do not. */
const throughFp8 = (normwise) => normwise > 3e-6 && normwise < 2e-3
const exactly = (normwise) => normwise < 2e-6

/** Operands whose blocks all have their largest element in its type's highest binade and the scale 1, then changed. */
async function openChanged(format, m, n, k, change, output = 'f32') {
  const generated = await open(format, m, n, k, { output })
  const operands = await generated.operands()
  await generated.close()
  operands.aScales.fill(127)
  operands.bScales.fill(127)
  for (const [side, element] of elementsOf(format).entries()) {
    const codes = side === 0 ? operands.aCodes : operands.bCodes
    const largest = { e4m3: 0x7e, e5m2: 0x7b, e2m1: 7 }[element]
    for (let at = 0; at < codes.length; at += 32) codes[at] = largest
  }
  change(operands, k / 32)
  return open(format, m, n, k, { output, operands })
}

/** Every chunk of A far from the one before it. */
const chunksApart = ({ aScales }, blocks) => {
  for (let at = 0; at < aScales.length; at++)
    aScales[at] = 127 + (((Math.floor((at % blocks) / 4) + Math.floor(at / blocks)) * 37) % 60) - 30
}

/** Name, whether fp8 takes it, what is changed. Row 5 of A and column 7 of B. */
function borders(format) {
  const [ofA, ofB] = elementsOf(format).map((element) => spread[element])
  return [
    ['all scales alike', true, () => {}],
    ['a block of a chunk of A at the border', true, (o, s) => (o.aScales[5 * s + 2] -= ofA)],
    ['one past it', false, (o, s) => (o.aScales[5 * s + 2] -= ofA + 1)],
    ['one past it in the last, short chunk', false, (o, s) => (o.aScales[6 * s - 1] -= ofA + 1)],
    [
      'chunks of A far apart',
      true,
      ({ aScales }, s) =>
        aScales.fill(127 - 40, 5 * s, 5 * s + 4).fill(127 + 30, 5 * s + 4, 5 * s + 8)
    ],
    ['a block of a row of B at the border', true, (o, s) => (o.bScales[8 * s - 3] -= ofB)],
    ['one past it in B', false, (o, s) => (o.bScales[8 * s - 3] -= ofB + 1)],
    [
      'a block of zeros with any scale',
      true,
      (o, s) => {
        o.aCodes.fill(0, 5 * s * 32, 5 * s * 32 + 32)
        o.bCodes.fill(0, 7 * s * 32, 7 * s * 32 + 32)
        o.aScales[5 * s] = 1
        o.bScales[7 * s] = 254
      }
    ],
    ['a whole row far from 1', false, ({ aScales }, s) => aScales.fill(127 + 90, 5 * s, 6 * s)]
  ]
}

async function check(checks, format) {
  for (const [what, isThrough, change] of borders(format)) {
    const name = `${format}: ${what}`
    await checks.attempt(name, async () => {
      const session = await openChanged(format, 96, 208, 864, change)
      const [report, again] = [await validated(session, kernel), await validated(session, kernel)]
      await session.close()
      const good = isThrough ? throughFp8(report.normwise) : exactly(report.normwise)
      checks.check(name, good, `normwise ${report.normwise} ${report.status} ${report.reason}`)
      checks.check(`${name}: twice the same bits`, report.outputDigest === again.outputDigest)
    })
  }
  // Powers of chunks, stored by the copy engine and by threads; what bf16 rounds is 1.1e-3 of C.
  /** @type {[number, number, number, string][]} */
  const apart = [
    [300, 520, 1056, 'bf16'],
    [300, 520, 1056, 'f32'],
    [513, 33, 4128, 'bf16']
  ]
  for (const [m, n, k, output] of apart) {
    const name = `${format}: all chunks of A far apart, ${m}x${n}x${k} ${output}`
    await checks.attempt(name, async () => {
      const session = await openChanged(format, m, n, k, chunksApart, output)
      const { normwise, status, reason } = await validated(session, kernel)
      await session.close()
      const good = output === 'f32' ? throughFp8(normwise) : normwise < 2e-3
      checks.check(name, good, `normwise ${normwise} ${status} ${reason}`)
    })
  }
  // By the copy engine and by threads, several tiles and parts of them, K beyond what a thread holds.
  for (const [m, n, k, output, distribution, accumulate] of [
    [300, 500, 416, 'f32', 'normal', false],
    [512, 768, 1024, 'f16', 'positive', true],
    [257, 1000, 160, 'bf16', 'normal', true],
    [130, 200, 17440, 'f32', 'positive', false],
    [384, 640, 2016, 'e4m3', 'normal', true],
    [1, 8, 32, 'f16', 'normal', false],
    [200, 264, 512, 'f32', 'adversarial', false],
    [200, 264, 512, 'f32', 'wide-scales', false]
  ]) {
    const name = `${format} ${m}x${n}x${k} ${output} ${distribution}`
    await checks.attempt(name, async () => {
      const outputScale = output === 'e4m3' ? 0.3 : 1
      const more = { output, distribution, operation: { accumulate, outputScale } }
      const session = await open(format, m, n, k, more)
      const report = await validated(session, kernel)
      await session.close()
      const share = report.elementsOutside / report.elements
      const near = output === 'e4m3' ? share < 0.01 : report.normwise < 2e-3
      checks.check(
        name,
        report.status === 'passed' || near,
        `${report.status} normwise ${report.normwise} outside ${report.elementsOutside} ${report.reason}`
      )
    })
  }
}

/** M = N = 2048, K = 8192, float32: what is lost, beside the exact path. */
async function errors(checks, rows) {
  console.log(
    'format           data          kernel            norm-wise  max |d|/|A||B|  outside 1e-3'
  )
  for (const format of formats)
    for (const distribution of ['normal', 'positive', 'wide-scales'])
      await checks.attempt(`error of ${format} ${distribution}`, async () => {
        const session = await open(format, 2048, 2048, 8192, { output: 'f32', distribution })
        for (const id of ['wgmma', kernel]) {
          const { normwise, maxScaled, elementsOutside, elements } = await validated(session, id)
          const outside = elementsOutside / elements
          rows.push({ format, distribution, kernel: id, normwise, maxScaled, outside })
          await keepsToItsError(checks, session, id, format, distribution)
          console.log(
            `${format.padEnd(16)} ${distribution.padEnd(13)} ${id.padEnd(17)} ${normwise.toExponential(3)} ` +
              `${maxScaled.toExponential(2).padStart(12)} ${(100 * outside).toFixed(4).padStart(12)} %`
          )
        }
        await session.close()
      })
}

async function rates(checks, rows, kernels) {
  const sizes = process.env.SIZE?.split(',').map(Number) ?? [8192, 4096]
  for (const size of sizes)
    for (const format of formats.slice(0, 4)) {
      const session = await open(format, size, size, size)
      for (const id of ['cublaslt-fp8', kernel, 'wgmma', kernel]) {
        const found = kernels.find((one) => one.id === id)
        if (!found || !able(found, format)) continue
        await checks.attempt(`rate of ${id} ${format} ${size}`, async () => {
          const { ns, mhz, ...measured } = await timed(session, id)
          const launches = listed(measured.launches)
          const tflops = (2 * size ** 3) / ns / 1e3
          rows.push({ format, size, kernel: id, ns, tflops, mhz, launches })
          console.log(
            `${format} ${size}^3 ${id}: ${(ns / 1e3).toFixed(1)} us, ${tflops.toFixed(0)} TFLOP/s, ${mhz?.toFixed(0)} MHz; ` +
              launches.join(', ')
          )
        })
      }
      await session.close()
    }
}

// The checks of a format are a process of their own ('one FORMAT'): most of their time is compilation.
const [what = 'all', file] = process.argv.slice(2)
const checks = new Checks()
const device = await cudaDevice([])
const result = { device: briefly(device), errors: [], rates: [] }
const asked = (part) => what === 'all' || what === part
if (what === 'one') await check(checks, file)
if (asked('check'))
  await checks.inProcesses(
    fileURLToPath(import.meta.url),
    formats.map((format) => ['one', format])
  )
if (asked('check')) console.log(`${checks.passed} checks passed, ${checks.failed} failed`)
if (asked('rate')) await rates(checks, result.rates, device.kernels)
if (asked('error')) await errors(checks, result.errors)
if (file && what !== 'one') writeFileSync(file, JSON.stringify(result, null, 1))
checks.end()
