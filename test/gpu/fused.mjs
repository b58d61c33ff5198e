// What the large kernels do of C themselves: accumulator, types of eight bits. `node test/gpu/fused.mjs [check|rate|all] [result
// file]`: each type against the reference, then the time of each beside that of plain float16.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { briefly, Checks, cudaDevice, isRight, listed, open, timed, validated } from './addon.mjs'
import { able, testedKernels } from './formats.mjs'

const tolerances = { f32: { rtol: 1e-4 }, bf16: { atol: 8e-3, rtol: 8e-3 } }
const isLarge = ({ id }) => id.startsWith('wgmma')
const scaleOf = (output) => (output.startsWith('e') ? 0.3 : 1)

/** By the copy engine in every type, in those of 16 bits alone, in none; tiles that end early in rows and columns. */
const shapes = [
  [200, 272, 256],
  [300, 1000, 96],
  [129, 33, 544]
]
const outputs = ['f16', 'bf16', 'f32', 'e4m3', 'e5m2']

/** What each 29th number of the accumulator is replaced by. */
const special = [NaN, Infinity, -Infinity, 3e38, -0, 1e-40]

/** A session whose accumulator has numbers in it that none is generated with. */
async function openSpecial(format, m, n, k, more) {
  const generated = await open(format, m, n, k, more)
  const operands = await generated.operands()
  await generated.close()
  const accumulator = operands.accumulator?.map((value, at) =>
    at % 29 === 0 ? special[(at / 29) % special.length] : value
  )
  return open(format, m, n, k, { ...more, operands: { ...operands, accumulator } })
}

async function checkOne(checks, kernels, format, [m, n, k], output, accumulate, distribution) {
  const name = `${format} ${m}x${n}x${k} ${output} ${accumulate ? 'accumulated' : ''} ${distribution}`
  await checks.attempt(name, async () => {
    const operation = { accumulate, outputScale: scaleOf(output) }
    const more = { output, operation, distribution: distribution.replace('special', 'normal') }
    const session = await (distribution === 'special' ? openSpecial : open)(format, m, n, k, more)
    for (const kernel of kernels.filter((one) => able(one, format)))
      await checks.attempt(`${kernel.id} ${name}`, async () => {
        const report = await validated(session, kernel.id, tolerances[output])
        const level = kernel.capabilities.find((one) => one.format === format)?.level
        const good = isRight(report, level !== 'approximate', scaleOf(output) !== 1)
        checks.check(
          `${kernel.id} ${name}`,
          good,
          `${report.status} normwise ${report.normwise} outside ${report.elementsOutside} ${report.reason}`
        )
      })
    await session.close()
  })
}

/** FORMATS and OUTPUTS limit what is checked, so that several processes share it. */
const limited = (name, all) => process.env[name]?.split(',') ?? all

/** MXFP4 is taken by every large kernel, NVFP4 has a scale of the tensor, W4A16 an operand that is not widened from codes. */
export async function checkFused(checks, kernels) {
  for (const format of limited('FORMATS', ['mxfp4', 'nvfp4', 'w4a16_mxfp4']))
    for (const output of limited('OUTPUTS', outputs)) {
      const large = kernels.filter((one) => isLarge(one) && one.outputs.includes(output))
      const check = (shape, accumulate, distribution) =>
        checkOne(checks, large, format, shape, output, accumulate, distribution)
      for (const shape of shapes) {
        await check(shape, true, 'normal')
        if (scaleOf(output) !== 1) await check(shape, false, 'normal')
      }
      await check(shapes[0], true, 'special')
      // Scales beyond bf16, and beyond the window of e5m2: the slower ways.
      if (format !== 'w4a16_mxfp4') await check(shapes[1], true, 'adversarial')
      await check(shapes[0], true, 'wide-scales')
    }
}

const sizes = [
  [8192, 8192, 8192],
  [8192, 8192, 2048],
  [4096, 4096, 4096]
]
const operations = [
  ['f16', false],
  ['f16', true],
  ['e4m3', false],
  ['e4m3', true],
  ['f32', false],
  ['f32', true]
]

async function rates(kernels, rows) {
  for (const [m, n, k] of sizes)
    for (const id of ['wgmma', 'wgmma-fp8-p32', 'wgmma-fp8-p128']) {
      if (!kernels.some((kernel) => kernel.id === id)) continue
      let plain = 0
      for (const [output, accumulate] of operations) {
        const operation = { accumulate, outputScale: scaleOf(output) }
        const session = await open('mxfp4', m, n, k, { output, operation })
        const { ns, mhz, ...measured } = await timed(session, id)
        await session.close()
        plain ||= ns
        const launches = listed(measured.launches)
        rows.push({ kernel: id, m, n, k, output, accumulate, ns, mhz, launches })
        console.log(
          `${id} ${m}x${n}x${k} ${output}${accumulate ? ' accumulated' : ''}: ${(ns / 1e3).toFixed(1)} us, ` +
            `${(ns / plain).toFixed(3)} of plain f16, ${mhz?.toFixed(0)} MHz; ${launches.join(', ')}`
        )
      }
    }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [what = 'all', file] = process.argv.slice(2)
  const checks = new Checks()
  const device = await cudaDevice([])
  const rows = []
  if (what !== 'rate') await checkFused(checks, testedKernels(device))
  if (what !== 'check') await rates(testedKernels(device), rows)
  if (file) writeFileSync(file, JSON.stringify({ device: briefly(device), rows }, null, 1))
  checks.end()
}
