// The emulated kernels of sm_100 on a GPU from sm_90 on: every pair of formats in three distributions and odd shapes, bit for
// bit as the emulated kernel of sm_120 has it, whose instruction sums in the same way; and mistakes, which must be seen.
//   node tcgen05.mjs [formats] [mistakes] [FORMAT ...]      both, and all formats, where none is named
// Most of the time is compilation on the CPU: several processes side by side.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addon, Checks, configure, isRight, open, validated } from './addon.mjs'
import { able } from './formats.mjs'
import { checkMistake } from './mistaken.mjs'
import { mistakes } from './tcgen05Mistakes.mjs'

const kernels = ['tcgen05-emulated', 'tcgen05-pair-emulated']
const other = 'mma-block-scale-emulated'

/** Tails of K, halves of 128 columns, several tiles a CTA, a ring that turns, a second CTA without rows. @type {[number, number, number, string, string][]} */
const shapes = [
  [257, 200, 640, 'normal', 'f16'],
  [131, 421, 384, 'wide-scales', 'f32'],
  [40, 21, 2432, 'uniform-codes', 'f32'],
  // TMA pads 128 codes at a time: of formats that are padded only a refusal.
  [5, 40, 96, 'normal', 'bf16']
]

const cache = mkdtempSync(join(tmpdir(), 'blockscope-tcgen05-'))
const run = (session, kernel) => validated(session, kernel, { rtol: 8e-3 })

const findDevice = async () => (await addon.detect()).devices.find(({ kind }) => kind === 'cuda')

async function checkFormat(checks, format) {
  configure(cache, [])
  const device = await findDevice()
  const ofId = (id) => device?.kernels.find((kernel) => kernel.id === id)
  if (!able(ofId(kernels[0]), format)) return
  for (const [m, n, k, distribution, output] of shapes)
    await checks.attempt(`${format} ${m}x${n}x${k}`, async () => {
      const session = await open(format, m, n, k, { distribution, output })
      const expected = able(ofId(other), format) && (await run(session, other)).outputDigest
      let first
      for (const kernel of kernels) {
        const name = `${kernel} ${format} ${m}x${n}x${k} ${distribution} ${output}`
        await checks.attempt(name, async () => {
          const started = Date.now()
          let report
          try {
            report = await run(session, kernel)
          } catch (error) {
            if (k % 128 > 0 && /must be a multiple of 128/.test(error.message)) return
            throw error
          }
          const { status, normwise, reason, outputDigest } = report
          // The instruction cuts off.
          checks.check(name, isRight(report, false), `${status} normwise ${normwise} ${reason}`)
          first ??= outputDigest
          checks.check(`${name}: the same bits`, outputDigest === (expected || first))
          console.log(
            name,
            status,
            `normwise ${normwise.toExponential(1)}`,
            `${Date.now() - started} ms`
          )
        })
      }
      await session.close()
    })
}

/** On one CTA or pair, so that it has several tiles. */
const ofMistakes = {
  kernels,
  formats: ['nvfp4', 'mxfp8'],
  cache,
  limit: (row) => {
    row.launches[0].grid = ['CTAS']
  }
}

const file = fileURLToPath(import.meta.url)

const checks = new Checks()
const words = process.argv.slice(2)
if (words[0] === 'one') {
  if (words[1] === 'formats') await checkFormat(checks, words[2])
  else await checkMistake(checks, mistakes[Number(words[2])], ofMistakes)
} else {
  configure(cache, [])
  const device = await findDevice()
  if (!device) console.log('No CUDA device: nothing to test.')
  else {
    const parts = ['formats', 'mistakes'].filter((part) => words.includes(part))
    const named = words.filter((word) => !parts.includes(word))
    const all = device.kernels.find(({ id }) => id === kernels[0])?.capabilities
    const formats = named.length > 0 ? named : all?.map(({ format }) => format)
    const has = (part) => parts.length === 0 || parts.includes(part)
    const tasks = [
      ...(has('formats') ? (formats ?? []).map((format) => ['formats', format]) : []),
      ...(has('mistakes') ? mistakes.map((_, index) => ['mistakes', String(index)]) : [])
    ]
    await checks.inProcesses(
      file,
      tasks.map((task) => ['one', ...task])
    )
  }
}
rmSync(cache, { recursive: true, force: true })
checks.end()
