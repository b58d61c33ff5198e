// Grouped products on a GPU: every kernel against the reference, then the rate of groups beside that of one product of the
// same rows. `node test/gpu/grouped.mjs [check|rate|all] [result file]`. FORMATS=mxfp4,nvfp4 limits the formats, KERNELS=wgmma the
// kernels, SEGMENTS='masked 6x1024' what is timed. What checks take is compiling: `grouped.mjs check-of FORMAT PART PARTS`, with every
// PARTS-th of the kernels from PART on, are several side by side.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { briefly, Checks, cudaDevice, isRight, listed, open, timed, validated } from './addon.mjs'
import { able, testedKernels } from './formats.mjs'

const of = (layout, rows, { alignment = 1, maxRows = 0 } = {}) => ({
  layout,
  rows,
  alignment,
  maxRows
})
const total = ({ layout, rows, alignment, maxRows }) =>
  rows.reduce(
    (sum, count) =>
      sum + (layout === 'masked' ? maxRows : Math.ceil(count / alignment) * alignment),
    0
  )
const ragged = [300, 0, 17, 256, 1, 129]

/** Whole tiles and parts of them, empty groups, one group, many. @type {[string, ReturnType<typeof of>, number, string][]} */
const cases = [
  ['contiguous in 128s', of('contiguous', ragged, { alignment: 128 }), 264, 'f16'],
  ['contiguous in 16s', of('contiguous', ragged, { alignment: 16 }), 520, 'bf16'],
  ['masked', of('masked', [0, 200, 33, 0, 256], { maxRows: 256 }), 256, 'f16'],
  ['offsets', of('offsets', [0, ...ragged, 0]), 264, 'f32'],
  ['offsets, odd N', of('offsets', ragged), 33, 'f16'],
  ['one group', of('contiguous', [130], { alignment: 128 }), 512, 'f16'],
  [
    'groups of at most 16 rows',
    of(
      'offsets',
      Array.from({ length: 40 }, (_, at) => (at * 5) % 17)
    ),
    264,
    'bf16'
  ],
  [
    '256 groups',
    of(
      'offsets',
      Array.from({ length: 256 }, (_, at) => (at * 7) % 23)
    ),
    64,
    'f16'
  ]
]
/** Those of a list that a variable of the environment leaves. */
const wanted = (variable, all) => {
  const named = process.env[variable]?.split(',')
  return all.filter((one) => named?.includes(one) ?? true)
}
const formats = wanted('FORMATS', ['mxfp4', 'mxfp8', 'nvfp4', 'mixed', 'mxfp6_e2m3', 'mxfp8_e5m2'])
const tolerances = { f16: {}, bf16: { atol: 8e-3, rtol: 8e-3 }, f32: { rtol: 1e-4 } }

const openGroups = (format, groups, n, k, more = {}) =>
  open(format, total(groups), n, k, { ...more, operation: { ...more.operation, groups } })

async function validateAll(checks, kernels, format, name, session, tolerance) {
  for (const kernel of kernels) {
    if (!able(kernel, format) || kernel.id === 'cublaslt-fp8') continue
    const level = kernel.features.find(({ id }) => id === 'grouped')?.level
    if (!level || level === 'none') continue
    if (wanted('KERNELS', [kernel.id]).length === 0) continue
    await checks.attempt(`${kernel.id} ${name}`, async () => {
      let report
      try {
        report = await validated(session, kernel.id, tolerance)
      } catch (error) {
        if (/does not take|does not write|is not written for/.test(error.message)) return
        throw error
      }
      const claimed = kernel.capabilities.find((one) => one.format === format)?.level
      const good = isRight(report, claimed === 'exact')
      checks.check(
        `${kernel.id} ${name}`,
        good,
        `${report.status} normwise ${report.normwise} ${report.reason} ${report.elements} elements`
      )
    })
  }
}

async function checkOperands(checks, format) {
  const groups = of('contiguous', ragged, { alignment: 128 })
  const [gpu, cpu] = await Promise.all(
    ['cuda:0', 'cpu'].map((device) => openGroups(format, groups, 64, 128, { device }))
  )
  const [ours, theirs] = await Promise.all([gpu.operands(), cpu.operands()])
  for (const name of ['aCodes', 'bCodes', 'aScales', 'bScales'])
    checks.check(
      `operands of ${format} ${name} are the CPU's`,
      Buffer.compare(ours[name], theirs[name]) === 0
    )
  await Promise.all([gpu.close(), cpu.close()])
}

/** One scale of one row is too far from the others for fp8: the product goes by bf16. */
async function checkBeyondWindow(checks, kernels, format) {
  const groups = of('offsets', ragged)
  const [n, k, output] = [264, 256, 'f32']
  const usual = await openGroups(format, groups, n, k, { output })
  for (const scales of ['aScales', 'bScales']) {
    const operands = await usual.operands()
    operands[scales] = operands[scales].slice()
    // Row 5 of the third group's B; of A, of its fourth group.
    operands[scales][(2 * n + 5) * (k / 32) + 3] += 60
    const session = await openGroups(format, groups, n, k, { output, operands })
    const name = `${format}, a scale of ${scales} beyond the window`
    await validateAll(checks, kernels, format, name, session, tolerances.f32)
    await session.close()
  }
  await usual.close()
}

/** What passes or the kernels themselves do, the fallback of scales beyond a range, several tiles of K. @type {[string, object, string, string, number][]} */
const operations = [
  ['B (K, N)', { bOrder: 'kn' }, 'f16', 'normal', 64],
  ['accumulated to e4m3', { accumulate: true, outputScale: 0.3 }, 'e4m3', 'normal', 72],
  ['accumulated to e5m2', { accumulate: true, outputScale: 0.3 }, 'e5m2', 'normal', 272],
  ['accumulated', { accumulate: true }, 'f16', 'normal', 264],
  ['accumulated, adversarial', { accumulate: true }, 'f32', 'adversarial', 264],
  ['adversarial', {}, 'f32', 'adversarial', 264],
  ['large K', {}, 'f16', 'normal', 520]
]

async function checkFormat(checks, kernels, format) {
  if (['mxfp4', 'mxfp8'].includes(format))
    await checks.attempt('beyond the window', () => checkBeyondWindow(checks, kernels, format))
  for (const [name, groups, n, output] of cases)
    await checks.attempt(`open ${format} ${name}`, async () => {
      const session = await openGroups(format, groups, n, 256, { output })
      await validateAll(checks, kernels, format, `${format} ${name}`, session, tolerances[output])
      await session.close()
    })
  if (!['mxfp4', 'mxfp8', 'nvfp4'].includes(format)) return
  for (const [name, operation, output, distribution, n] of operations)
    await checks.attempt(`open ${format} ${name}`, async () => {
      const k = name === 'large K' ? 2880 : 256
      const groups = of('contiguous', ragged, { alignment: 128 })
      const session = await openGroups(format, groups, n, k, { output, distribution, operation })
      const guarded = kernels.filter(({ id }) => /^(wgmma|decode)/.test(id))
      const those = distribution === 'adversarial' ? guarded : kernels
      const tolerance = tolerances[output] ?? {}
      await validateAll(checks, those, format, `${format} ${name}`, session, tolerance)
      await session.close()
    })
}

/** Every format and part of the kernels in a process of its own. */
async function checkAll(checks) {
  for (const format of formats) await checkOperands(checks, format)
  const parts = 4
  const tasks = formats.flatMap((format) =>
    Array.from({ length: parts }, (_, part) => ['check-of', format, String(part), String(parts)])
  )
  await checks.inProcesses(fileURLToPath(import.meta.url), tasks)
}

const weights = [
  [6144, 7168],
  [7168, 3072],
  [4096, 4096],
  [4096, 2048]
]
/** What is timed: those that do all groups in one launch. */
const kernelsOf = (format) => {
  if (format === 'mxfp4') return ['wgmma', 'wgmma-fp8-p32', 'wgmma-fp8-p128']
  return format === 'nvfp4' ? ['wgmma'] : ['wgmma', 'wgmma-fp8-folded']
}
const many = (count, rows) => Array.from({ length: count }, () => rows)
/** @type {[string, ReturnType<typeof of>][]} */
const timedGroups = [
  ['contiguous 4x8192', of('contiguous', many(4, 8192), { alignment: 128 })],
  ['contiguous 8x4096', of('contiguous', many(8, 4096), { alignment: 128 })],
  ['masked 6x1024', of('masked', many(6, 1024), { maxRows: 1024 })],
  ['masked 32x192', of('masked', many(32, 192), { maxRows: 192 })],
  ['masked 32x20', of('masked', many(32, 20), { maxRows: 20 })]
]
/** Of the dense rate, for segments of at least 1024 rows. */
const wantedShare = 0.85

const briefTimes = { warmupNs: 30e6, minTimeNs: 0.03e9, timeoutNs: 0.5e9 }

async function rates(checks, rows) {
  const segments = wanted(
    'SEGMENTS',
    timedGroups.map(([name]) => name)
  )
  for (const format of wanted('FORMATS', ['mxfp4', 'mxfp8', 'mixed', 'nvfp4']))
    for (const [name, groups] of timedGroups.filter(([one]) => segments.includes(one)))
      for (const [n, k] of weights)
        await checks.attempt(`rate ${format} ${name} ${n}x${k}`, async () => {
          const m = groups.rows.reduce((sum, count) => sum + count, 0)
          const kernels = wanted('KERNELS', kernelsOf(format))
          const timesOf = async (session) => {
            const times = []
            for (const kernel of kernels) times.push(await timed(session, kernel, briefTimes))
            await session.close()
            return times
          }
          const together = await timesOf(await openGroups(format, groups, n, k))
          const alone = await timesOf(await open(format, m, n, k))
          for (const [i, kernel] of kernels.entries())
            note(checks, rows, { kernel, format, groups: name, n, k }, m, together[i], alone[i])
        })
}

/** Adds a row and says it. */
function note(checks, rows, { kernel, format, groups, n, k }, m, grouped, dense) {
  const tflops = (ns) => (2 * m * n * k) / ns / 1e3
  const share = dense.ns / grouped.ns
  const of = ({ ns, mhz }) => ({ ns, mhz })
  const stages = ({ launches }) => `${listed(launches).join(', ')} us`
  rows.push({ kernel, format, groups, n, k, grouped: of(grouped), dense: of(dense), share })
  const what = `${kernel} ${format} ${groups} ${n}x${k}`
  console.log(
    `${what}: ${tflops(grouped.ns).toFixed(1)} TFLOP/s grouped at ${Math.round(grouped.mhz)} MHz, ` +
      `${tflops(dense.ns).toFixed(1)} dense at ${Math.round(dense.mhz)} MHz, ${(share * 100).toFixed(1)} %; ` +
      `${stages(grouped)}; dense: ${stages(dense)}`
  )
  if (m / groups.match(/\d+/)[0] >= 1024)
    checks.check(`${what} reaches ${wantedShare} of dense`, share >= wantedShare, share.toFixed(3))
}

const [what = 'all', file, part = '0', parts = '1'] = process.argv.slice(2)
const checks = new Checks()
const device = await cudaDevice([])
const rows = []
if (what === 'check-of') {
  const some = testedKernels(device).filter((_, at) => at % Number(parts) === Number(part))
  await checkFormat(checks, some, file)
} else if (what !== 'rate') await checkAll(checks)
if (what === 'rate' || what === 'all') await rates(checks, rows)
if (file && what !== 'check-of')
  writeFileSync(file, JSON.stringify({ device: briefly(device), rows }, null, 1))
checks.end()
