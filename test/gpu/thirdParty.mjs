// Triton's kernels for sm_120 and sm_100 on a GPU from sm_90 on, their block-scaled instructions emulated as in
// mma-block-scale-emulated and tcgen05-emulated: right within what the instructions cut off, bit for bit as the project's own
// emulated kernel, and wrong under every mistake in the emulation.
//   node thirdParty.mjs [PART OF A KERNEL'S NAME ...]
//   node thirdParty.mjs write FOLDER       the kernels as npm run kernels:check takes them, which needs no GPU
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Checks, configure, cudaDevice, open, validated } from './addon.mjs'
import { change } from './change.mjs'
import { wrongProduct } from './mistaken.mjs'
import { kernels, writeKernels } from './thirdPartyKernels.mjs'
import { mistakesOf } from './thirdPartyMistakes.mjs'

const own = 'mma-block-scale-emulated'
const depth = 256
/** Tiles of C, and what their operands are. @type {[number, number, string][]} */
const problems = [
  [2, 2, 'positive'],
  [1, 3, 'normal'],
  [3, 1, 'wide-scales'],
  [2, 1, 'uniform-codes']
]

/** Of the sum of magnitudes: each instruction's sums are cut off to float32. @param {import('./thirdPartyKernels.mjs').Kernel} kernel */
const allowedOf = ({ format }) => (depth / (/fp4$/.test(format) ? 64 : 32)) * 2 ** -22

async function checkProducts(checks, kernel) {
  const { id, format, m, n } = kernel
  const allowed = allowedOf(kernel)
  for (const [rows, columns, distribution] of problems) {
    const name = `${id} ${rows * m}x${columns * n}x${depth} ${distribution}`
    await checks.attempt(name, async () => {
      const session = await open(format, rows * m, columns * n, depth, {
        distribution,
        output: 'f32'
      })
      const started = Date.now()
      // Where nothing cancels out, a sum is that of its magnitudes.
      const strict = distribution === 'positive'
      const report = await validated(session, id, {
        rule: strict ? 'assert-close' : 'allowances',
        ...(strict ? { atol: 0, rtol: allowed } : {})
      })
      const took = Date.now() - started
      const { maxScaled, elementsOutside, elements, outputDigest } = report
      const good = maxScaled <= allowed && !(strict && elementsOutside > 0)
      const figures = `error ${maxScaled.toExponential(2)} of ${allowed.toExponential(2)}, ${elementsOutside} of ${elements} outside`
      checks.check(name, good, figures)
      const expected = (await validated(session, own)).outputDigest
      checks.check(`${name}: the bits of ${own}`, outputDigest === expected)
      console.log(`${name}: ${figures}, ${took} ms`)
      await session.close()
    })
  }
}

/** A mistake in the emulation shows in most elements of a tile, or stops the kernel with a sentence. @param {import('./thirdPartyKernels.mjs').Kernel} kernel  @param {import('./thirdPartyMistakes.mjs').EmulationMistake} mistake */
async function checkMistake(checks, kernel, mistake) {
  const { id, format, m, n } = kernel
  const { name, says } = mistake
  const what = `${id}, ${name}`
  await checks.attempt(what, async () => {
    const session = await open(format, m, n, depth, { distribution: 'wide-scales', output: 'f32' })
    let said, share
    try {
      const report = await validated(session, id, { atol: 0, rule: 'assert-close' })
      share = report.elementsOutside / report.elements
      said = report.status === 'incorrect' ? wrongProduct : report.status
    } catch (error) {
      said = error.message
    }
    await session.close()
    const shown = share === undefined ? said : `${said}, ${(100 * share).toFixed(1)} % of it`
    checks.check(what, says ? says.test(said) : said === wrongProduct && share > 2 / 3, shown)
    console.log(`${what}: ${shown}`)
  })
}

const checks = new Checks()
const words = process.argv.slice(2)
if (words[0] === 'one') {
  const kernel = kernels.find(({ id }) => id === words[1])
  if (!kernel) throw new Error(`There is no kernel ${words[1]}`)
  const mistake = words[2] ? mistakesOf(kernel)[Number(words[2])] : undefined
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-third-party-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  writeKernels(folder, [kernel])
  if (mistake) change(folder, mistake.changes)
  configure(join(folder, 'cache'), [folder])
  if (mistake) await checkMistake(checks, kernel, mistake)
  else await checkProducts(checks, kernel)
} else if (words[0] === 'write') {
  writeKernels(words[1])
  process.exit(0)
} else {
  await cudaDevice([])
  const some = kernels.filter(({ id }) => !words.length || words.some((word) => id.includes(word)))
  const mistaken = some.flatMap((kernel) =>
    mistakesOf(kernel).map((_, index) => ['one', kernel.id, String(index)])
  )
  await checks.inProcesses(fileURLToPath(import.meta.url), [
    ...some.map(({ id }) => ['one', id]),
    ...mistaken
  ])
}
checks.end()
