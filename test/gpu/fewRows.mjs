// Few rows of A: the kernels for them against the reference, each twice with the same bits, at every number of rows where something
// about them changes, in shapes whose K is divided and whose tiles are whole; then large matrices many times, where each must have
// the same bits: what is wrong now and then shows in nothing else. `node fewRows.mjs [FORMAT]` prints what failed, then
// 'N passed, N failed'; without a format all, side by side. ROWS=1,64 are other rows of A, KERNELS=decode some of the kernels,
// TIMES=1000 how often each large one is made.
import { fileURLToPath } from 'node:url'
import { Checks, cudaDevice, open, validated } from './addon.mjs'
import { able, testedKernels } from './formats.mjs'

const formats = [
  'mxfp4',
  'mxfp4_b16',
  'mixed',
  'nvfp4',
  'mxfp8',
  'mxfp8_e5m2',
  'w4a16_mxfp4',
  'w4a16_nvfp4'
]
/** Where A is made ready by each block or by a kernel before, and one instruction takes the place of another. */
const allRows = process.env.ROWS?.split(',').map(Number) ?? [
  ...[1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64],
  ...[65, 200]
]
/** N x K: layers of models, tails of both, scales whose rows are no whole 16 bytes, more tiles than three for each block, and some
 * more than whole turns of all blocks. */
const shapes = [
  [2880, 2880],
  [7168, 2048],
  [4096, 7168],
  [520, 1056],
  [10240, 2048],
  [28000, 544],
  [9216, 3072]
]
/** M, N, K of what is made many times: a block has several tiles, or parts of two, and the last ones find the memory free. */
const large = [
  [1, 57344, 8192],
  [8, 57344, 8192],
  [1, 10240, 8192],
  [16, 10240, 8192],
  [64, 10240, 8192],
  [64, 8192, 8192]
]
/** More rows than a kernel takes are refused, not computed. */
const mostRowsOf = (id, format) =>
  id === 'decode-mma' ? 64 : id === 'decode-fp8' && format === 'nvfp4' ? 4 : Infinity
const times = Number(process.env.TIMES ?? 60)
const ofBf16 = { atol: 8e-3, rtol: 8e-3 }
/** @type {[string, { atol?: number, rtol?: number }][]} */
const outputs = [
  ['f16', {}],
  ['bf16', ofBf16],
  ['f32', { rtol: 1e-4 }]
]
// Sums of zeros too: CTAs that give one another parts of tiles tell by the numbers that they are there.
const distributions = ['normal', 'wide-scales', 'tutorial', 'zeros']

async function checkLarge(checks, kernels, format) {
  for (const [m, n, k] of large) {
    const session = await open(format, m, n, k, { output: 'bf16' })
    for (const { id } of kernels.filter(({ id }) => m <= mostRowsOf(id, format))) {
      const name = `${id} ${format} ${m}x${n}x${k}: the same bits ${times} times`
      await checks.attempt(name, async () => {
        const found = new Map()
        for (let time = 0; time < times; time++) {
          const { outputDigest } = await validated(session, id, ofBf16)
          found.set(outputDigest, (found.get(outputDigest) ?? 0) + 1)
        }
        checks.check(name, found.size === 1, [...found.values()].join(' and '))
      })
    }
    await session.close()
  }
}

async function checkFormat(checks, device, format) {
  const kernels = testedKernels(device).filter(
    (kernel) => kernel.id.startsWith('decode') && able(kernel, format)
  )
  await checkLarge(checks, kernels, format)
  let turn = 0
  for (const [n, k] of shapes)
    for (const m of allRows) {
      const [output, tolerance] = outputs[turn % outputs.length]
      const distribution = distributions[Math.floor(turn / outputs.length) % distributions.length]
      turn++
      const session = await open(format, m, n, k, { output, distribution })
      for (const { id } of kernels) {
        const name = `${id} ${format} ${m}x${n}x${k} ${output} ${distribution}`
        if (m > mostRowsOf(id, format)) {
          await checks.refused(name, 'unavailable', /does not take this shape/, () =>
            validated(session, id, tolerance)
          )
          continue
        }
        await checks.attempt(name, async () => {
          const first = await validated(session, id, tolerance)
          const again = await validated(session, id, tolerance)
          const expected = distribution === 'zeros' ? 'proves-nothing' : 'passed'
          const isRight = first.status === expected && first.elementsOutside === 0
          checks.check(name, isRight, `${first.status} normwise ${first.normwise} ${first.reason}`)
          checks.check(`${name}: the same bits`, first.outputDigest === again.outputDigest)
        })
      }
      await session.close()
    }
}

const checks = new Checks()
const file = fileURLToPath(import.meta.url)
const format = process.argv[2]
if (format) await checkFormat(checks, await cudaDevice(), format)
else
  await checks.inProcesses(
    file,
    formats.map((one) => [one])
  )
checks.end()
