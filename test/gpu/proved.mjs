// wgmma-fp8-proved: what its proofs allow, that it is exact there, and what it gains.
//   node proved.mjs [sizes of the rates, 8192,4096; 0 for none] [result.json]
import { writeFileSync } from 'node:fs'
import { briefly, Checks, cudaDevice, listed, open, timed, validated } from './addon.mjs'
import { able } from './formats.mjs'

const sizes = (process.argv[2] ?? '8192,4096').split(',').map(Number).filter(Boolean)
const resultFile = process.argv[3]
const kernel = 'wgmma-fp8-proved'
const intervals = [256, 128, 64, 32]
const checks = new Checks()
const device = await cudaDevice([])
if (!device.kernels.some((one) => one.id === kernel && able(one, 'mxfp4'))) {
  console.log(`No device that runs ${kernel}: nothing to test.`)
  process.exit(0)
}
console.log(device.name)
const about = briefly(device)

const tilesOf = (m, n, k) => Math.ceil(m / 128) * Math.ceil(n / 192) * Math.ceil(k / 256)
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)

await checkBorders()
await checkBits()
await measureRates()
checks.end()

/**
 * Rows whose sums of squares are 4096, 2^14 of the smallest: 15 elements 4 x 4 and, `apart` blocks on, 16 elements 4; where `past`,
 * one row of each has one of 0.5 more in the second 256 of K. An interval that holds both blocks is at its border or one past it.
 */
function operandsOf(m, n, k, apart, past) {
  const side = (rows, pastRow) => {
    const codes = new Uint8Array(rows * k)
    const scales = new Uint8Array((rows * k) / 32).fill(90)
    for (let row = 0; row < rows; row++)
      for (let from = 0; from < k; from += 256) {
        const at = row * k + from
        codes.fill(6, at, at + 15)
        codes.fill(6, at + 32 * apart, at + 32 * apart + 16)
        scales[at / 32] = 129
        scales[at / 32 + apart] = 127
        if (past && row === pastRow && from === 256) codes[at + 32 * apart + 16] = 1
      }
    return [codes, scales]
  }
  const [aCodes, aScales] = side(m, 5)
  const [bCodes, bScales] = side(n, 3)
  const given = { aCodes, bCodes, aScales, bScales, accumulator: new Float32Array() }
  return { ...given, tensorScaleA: 1, tensorScaleB: 1 }
}

async function checkBorders() {
  const [m, n, k] = [300, 200, 768]
  /** @type {Parameters<typeof validated>[2]} */
  const exactly = { atol: 0, rtol: 0, rule: 'assert-close' }
  const all = tilesOf(m, n, k)
  for (const [at, apart] of [4, 2, 1].entries())
    for (const past of [false, true]) {
      const name = `P = ${intervals[at]}, ${past ? 'one past the border' : 'at the border'}`
      await checks.attempt(name, async () => {
        const operands = operandsOf(m, n, k, apart, past)
        const session = await open('mxfp4', m, n, k, { output: 'f32', operands })
        const proved = await validated(session, kernel, exactly)
        const fixed = await validated(session, `wgmma-fp8-p${intervals[at]}`, exactly)
        await session.close()
        const expected = [all, 0, 0, 0]
        // Of that stretch, every tile with the row or the column.
        const tiles = Math.ceil(m / 128) + Math.ceil(n / 192) - 1
        if (past) {
          expected[0] -= tiles
          expected[at + 1] += tiles
        }
        const { counts } = proved.counted
        checks.check(`${name}: intervals`, same(counts, expected), `${counts} for ${expected}`)
        checks.check(`${name}: exact`, proved.elementsOutside === 0, `${proved.elementsOutside}`)
        // The tensor core does lose the quarter that is past the border.
        const lost = past ? 1 : 0
        const { elementsOutside } = fixed
        checks.check(`${name}: lost`, elementsOutside === lost, `${elementsOutside}`)
      })
    }
}

async function checkBits() {
  const shapes = [
    [300, 388, 544],
    [1, 8, 32],
    [513, 200, 4128],
    [1025, 777, 1024],
    [128, 192, 16416]
  ]
  const distributions = [
    ...['normal', 'positive', 'wide-scales', 'tutorial', 'uniform-codes'],
    ...['adversarial', 'zeros']
  ]
  for (const distribution of distributions)
    for (const [m, n, k] of shapes)
      for (const output of ['f32', 'f16']) {
        const name = `${distribution} ${m}x${n}x${k} ${output}`
        await checks.attempt(name, async () => {
          const session = await open('mxfp4', m, n, k, { output, distribution })
          const proved = await validated(session, kernel)
          const p32 = await validated(session, 'wgmma-fp8-p32')
          await session.close()
          const { counts } = proved.counted
          const all = counts.reduce((sum, one) => sum + one, 0)
          // A row outside the window: another product, which proves nothing.
          const expected =
            distribution === 'adversarial' ? [0, tilesOf(m, n, k)] : [tilesOf(m, n, k)]
          checks.check(`${name}: counted`, expected.includes(all), `${counts}`)
          checks.check(`${name}: status`, proved.status === p32.status, proved.reason)
          // Where float32 holds every sum; else totals of longer partial sums may round otherwise.
          const isHeld = ['normal', 'positive', 'zeros'].includes(distribution)
          const near = !isHeld && proved.normwise <= Math.max(2 * p32.normwise, 1e-6)
          const isSame = proved.outputDigest === p32.outputDigest
          checks.check(`${name}: bits`, isSame || near, `${proved.normwise} ${p32.normwise}`)
          if (output === 'f32') console.log(name.padEnd(34), `${counts}`, proved.normwise)
        })
      }
}

async function measureRates() {
  const rows = []
  const wanted = ['cublaslt-fp8', ...[32, 64, 128, 256].map((p) => `wgmma-fp8-p${p}`), kernel]
  for (const size of sizes)
    for (const distribution of ['normal', 'positive', 'wide-scales'])
      await checks.attempt(`${distribution} ${size}`, async () => {
        const session = await open('mxfp4', size, size, size, { distribution })
        const { counts } = (await validated(session, kernel)).counted
        const all = counts.reduce((sum, one) => sum + one, 0)
        const shares = counts.map(
          (one, at) => `P = ${intervals[at]} ${((100 * one) / all).toFixed(1)} %`
        )
        console.log(`${distribution} ${size}^3: ${shares.join(', ')}`)
        for (const id of wanted) {
          const { ns, mhz, launches } = await timed(session, id)
          const us = ns / 1e3
          const tflops = (2 * size ** 3) / us / 1e6
          rows.push({ distribution, size, kernel: id, us, tflops, mhz, launches, counts })
          console.log(
            `  ${id.padEnd(17)}${us.toFixed(1).padStart(8)} us ${tflops.toFixed(0).padStart(6)} TFLOP/s`,
            `${mhz?.toFixed(0)} MHz `,
            listed(launches).join(', ')
          )
        }
        await session.close()
        if (resultFile) writeFileSync(resultFile, JSON.stringify({ device: about, rows }, null, 1))
      })
}
