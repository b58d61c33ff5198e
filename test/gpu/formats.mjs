// Every kernel of the GPU on one format, against the reference. `node formats.mjs FORMAT [PART PARTS]` prints what failed, then
// 'N passed, N failed'; PART of PARTS are some of the kernels, every PARTS-th from PART on.
// Most of the time is compilation on the CPU, so that checkFormats starts several of these side by side.
import { fileURLToPath } from 'node:url'
import { Checks, cudaDevice, isRight, open, validated } from './addon.mjs'

/** The formats with names of their own; the others are pairs of elements, called by both. */
export const named = (format) => !/^e\dm\dxe\dm\d$/.test(format)

export const able = (kernel, format) =>
  kernel.capabilities.some((c) => c.format === format && c.level !== 'unavailable')

/** Without those of test/gpu/kernels that are wrong on purpose; KERNELS=mma,simt limits them. */
export function testedKernels(device) {
  const faulty = new Set(['overruns', 'faults', 'hangs', 'mistyped', 'short', 'wrong'])
  const wanted = process.env.KERNELS?.split(',')
  return device.kernels.filter(({ id }) => !faulty.has(id) && (wanted?.includes(id) ?? true))
}

/** Rows of A for which K is split among blocks, and their sums meet: the order must not be that of arrival. */
const sharedByTiles = 64

/** Whole tiles, odd shapes, few rows, K of one block, in each distribution. */
const shapes = [
  [256, 384, 512, 'normal', 'f16'],
  [512, 256, 1024, 'tutorial', 'f16'],
  // Codes at random overflow float16; every kernel but approximate ones sums in float32.
  [256, 256, 256, 'uniform-codes', 'f32'],
  [129, 264, 32, 'positive', 'f32'],
  [65, 33, 96, 'normal', 'f16'],
  [64, 1000, 4096, 'normal', 'bf16'],
  [17, 72, 2880, 'wide-scales', 'f32'],
  [32, 2880, 544, 'tutorial', 'f32'],
  [8, 520, 1056, 'adversarial', 'f32'],
  [257, 1000, 640, 'adversarial', 'f32'],
  [1, 8, 32, 'normal', 'f16']
]
/** K of an odd number of blocks of 16, whose rows of fp4 are no whole 16 bytes. */
const shapesOfSixteen = [[33, 40, 48, 'normal', 'f32']]
const hasBlocksOf16 = (format) => /nvfp4|_b16/.test(format)
/** A pair without a name differs from the named ones in how it is decoded alone. */
const pairShapes = [
  [129, 264, 544, 'uniform-codes', 'f32'],
  [65, 33, 96, 'normal', 'f16']
]
const tolerances = { f16: {}, bf16: { atol: 8e-3, rtol: 8e-3 }, f32: { rtol: 1e-4 } }
/** Scales beyond a kernel's range are computed another way by those that say so. */
const guarded = (kernel) => /^(wgmma|decode)/.test(kernel.id)

/** Has one scale per tensor: told by its error, and only where scales lie together. */
const ofOneScale = 'cublaslt-fp8'

/** Whether `kernel` computes what `session` holds. A shape that it says it does not take is no check. */
async function validate(checks, session, kernel, name, format, more) {
  return checks.attempt(name, async () => {
    let report
    try {
      report = await validated(session, kernel.id, more)
    } catch (error) {
      if (/does not take this shape/.test(error.message)) return
      throw error
    }
    // Approximate kernels are told by their error, not by every element; so is sm_120's instruction, which cuts off.
    const level = kernel.capabilities.find((c) => c.format === format)?.level
    const approximate = level === 'approximate' || level === 'native' || level === 'emulated'
    const good =
      kernel.id === ofOneScale
        ? report.normwise < 0.06
        : isRight(report, !approximate && !kernel.baseline)
    checks.check(name, good, `${report.status} normwise ${report.normwise} ${report.reason}`)
    return report.outputDigest
  })
}

async function checkShapes(checks, kernels, format) {
  const all = [
    ...(named(format) ? shapes : pairShapes),
    ...(hasBlocksOf16(format) ? shapesOfSixteen : [])
  ]
  for (const [m, n, k, distribution, output] of all) {
    await checks.attempt(`open ${format} ${distribution}`, async () => {
      const session = await open(format, m, n, k, { distribution, output })
      for (const kernel of kernels) {
        if (kernel.id === ofOneScale) continue
        if (distribution === 'adversarial' && !guarded(kernel)) continue
        const name = `${kernel.id} ${format} ${m}x${n}x${k} ${distribution}`
        const work = () => validate(checks, session, kernel, name, format, tolerances[output])
        const digest = await work()
        if (digest && m === sharedByTiles)
          checks.check(`${name}: twice the same bits`, digest === (await work()))
      }
      await session.close()
    })
  }
}

/** The whole operation: B in both orders, accumulated, to 8 bits with a scale, over a batch that broadcasts. */
async function checkOperation(checks, kernels, format) {
  for (const bOrder of ['nk', 'kn']) {
    for (const output of ['f32', 'e4m3', 'e5m2']) {
      const outputScale = output === 'f32' ? 1 : 0.3
      const batches = { batchA: [2, 1], batchB: [3] }
      const operation = { bOrder, accumulate: true, outputScale, ...batches }
      await checks.attempt(`operation ${format} ${bOrder} ${output}`, async () => {
        const session = await open(format, 48, 72, 256, { output, operation })
        for (const kernel of kernels) {
          const takes = (id) => kernel.features.find((f) => f.id === id)?.level !== 'none'
          if (!kernel.outputs.includes(output)) continue
          if (!['b-kn', 'accumulator', 'batch'].every(takes)) continue
          const name = `${kernel.id} ${format} operation ${bOrder} ${output}`
          await validate(checks, session, kernel, name, format, {})
        }
        await session.close()
      })
    }
  }
}

const file = fileURLToPath(import.meta.url)

/** More kernels do a format with a name, in more shapes. */
const partsOf = (format) => (named(format) ? 4 : 1)

/** Adds what the processes of each format counted to `checks`. */
export const checkFormats = (checks, formats) =>
  checks.inProcesses(
    file,
    [...formats]
      .sort((a, b) => partsOf(b) - partsOf(a))
      .flatMap((format) =>
        Array.from({ length: partsOf(format) }, (_, part) => [format, part, partsOf(format)])
      )
  )

if (process.argv[1] === file) {
  const checks = new Checks()
  const [format, part = 0, parts = 1] = process.argv.slice(2)
  const kernels = testedKernels(await cudaDevice())
    .filter((kernel) => able(kernel, format))
    .filter((_, i) => i % Number(parts) === Number(part))
  await checkShapes(checks, kernels, format)
  await checkOperation(checks, kernels, format)
  checks.end()
}
