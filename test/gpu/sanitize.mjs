// Every kernel for the GPU at hand under compute-sanitizer's memcheck and racecheck, at small shapes, where it is installed:
//   test/gpu/run.sh sanitize [KERNEL ...]
// TOOLS=memcheck,racecheck,synccheck and FORMATS=mxfp4,nvfp4 say with what; LIMIT=100 after how many seconds nothing more is begun,
// COMPUTE_SANITIZER which program it is. Racecheck's kernels are built so that every lane arrives at a barrier (everyLane.mjs). Kernels are compiled beforehand and taken from the cache; what surrounds them (operands,
// reference, comparison) runs under it too.
import { execFile, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addon, Checks, configure, open, root, validated } from './addon.mjs'
import { letEveryLaneArrive } from './everyLane.mjs'
import { able } from './formats.mjs'
import { sideBySide } from './sideBySide.mjs'

const list = (variable, otherwise) => (process.env[variable] ?? otherwise).split(',')
/** Tiles with tails and a ring that turns; few rows, an odd N. Larger ones take racecheck minutes. @type {[number, number, number][]} */
const shapes = [
  [129, 136, 640],
  [17, 40, 160],
  [3, 40, 160]
]
/** K that the CTAs of a cluster divide, of kernels that have such clusters from so much on; one row of A. @type {Record<string, [number, number, number][]>} */
const ownShapes = { wgmma: [[33, 40, 1536]], 'decode-mma': [[1, 72, 1120]] }
/**
 * What memcheck alone is patient for: what widens later tiles of B beside its product (beside.mjs); tiles beyond whole turns of 132
 * CTAs.
 * @type {Record<string, { shape: [number, number, number], more: Parameters<typeof open>[4] }>}
 */
const largeCases = {
  wgmma: { shape: [200, 19000, 2176], more: { output: 'f16', operation: { accumulate: true } } },
  decode: { shape: [17, 8520, 3072], more: { output: 'f32' } },
  'decode-fp8': { shape: [17, 8520, 3072], more: { output: 'f32' } }
}
/** Rows of groups, an empty one among them. */
const groups = { layout: 'offsets', rows: [40, 0, 17], alignment: 1, maxRows: 0 }
const wrong = 99
/** A kernel that takes longer than this is told as one that did not end. */
const patienceMs = 60_000

const findDevice = async () => (await addon.detect()).devices.find(({ kind }) => kind === 'cuda')

/** In a process of its own, with the sanitizer around it or without: products of one kernel in one format, those that take long too. */
async function runOne(id, format, takeLarge) {
  const kernel = (await findDevice())?.kernels.find((one) => one.id === id)
  const hasGroups = kernel?.features.some(
    (one) => one.id === 'grouped' && one.level !== 'none' && one.level !== 'pass'
  )
  const large = takeLarge === 'large' && largeCases[id] ? [largeCases[id]] : []
  const cases = [
    ...[...shapes, ...(ownShapes[id] ?? [])].map((shape) => ({ shape, more: { output: 'f32' } })),
    ...large,
    ...(hasGroups ? [{ shape: [57, 72, 256], more: { output: 'f32', operation: { groups } } }] : [])
  ]
  let ran = 0
  for (const { shape, more } of cases) {
    const [m, n, k] = shape
    const session = await open(format, m, n, k, more)
    try {
      const { status, normwise } = await validated(session, id)
      console.log(`${shape.join('x')} ${status}, normwise ${normwise.toExponential(1)}`)
      if (status !== 'passed' && !(normwise < 0.06)) process.exitCode = 1
      ran++
    } catch (error) {
      // What it does not take is no check.
      if (!/does not take|is not written for|does not write/.test(error.message)) throw error
    }
    await session.close()
  }
  if (ran === 0) console.log('no shape taken')
}

/** What the process printed, and how it ended. */
const started = (program, words) =>
  new Promise((resolve) => {
    const begun = Date.now()
    const options = { timeout: patienceMs, maxBuffer: 64 << 20 }
    execFile(program, words, options, (error, stdout, stderr) =>
      resolve({
        code: error ? (error.killed ? 'did not end' : (error.code ?? error.signal)) : 0,
        said: stdout + stderr,
        seconds: (Date.now() - begun) / 1000
      })
    )
  })

/** One format of every kernel, then another: where time is up, every kernel was there. */
function everyKernelFirst(tasks) {
  const before = new Map()
  const turn = ({ id }) => {
    before.set(id, (before.get(id) ?? 0) + 1)
    return before.get(id)
  }
  const inTurns = tasks.map((task) => ({ task, turn: turn(task) }))
  return inTurns.sort((a, b) => a.turn - b.turn).map(({ task }) => task)
}

/** `temporary` has the compiled kernels and racecheck's sources. */
async function checkAll(checks, sanitizer, device, words, temporary) {
  const end = Date.now() + 1000 * Number(process.env.LIMIT ?? 100)
  const kernels = device.kernels.filter(
    ({ id, provider }) => provider === 'blockscope' && (words.length === 0 || words.includes(id))
  )
  const tools = list('TOOLS', 'memcheck,racecheck')
  const shipped = join(root, 'resources/kernels/cuda')
  const everyLane = join(temporary, 'everyLane')
  if (tools.includes('racecheck')) {
    cpSync(shipped, everyLane, { recursive: true })
    letEveryLaneArrive(everyLane)
    console.log("racecheck's kernels: every lane arrives at a barrier, not one for its warp")
  }
  const sourcesOf = (tool) => (tool === 'racecheck' ? everyLane : shipped)
  const tasks = list('FORMATS', 'mxfp4,mxfp8,nvfp4,mixed').flatMap((format) =>
    kernels
      .filter((kernel) => able(kernel, format))
      .flatMap(({ id }) =>
        [...new Set(tools.map(sourcesOf))].map((sources) => ({ id, format, sources }))
      )
  )
  const file = fileURLToPath(import.meta.url)
  const one = ({ id, format, sources, tool = 'memcheck' }) => [
    ...[process.execPath, file, 'one', temporary, sources, id, format],
    tool === 'memcheck' && sources === shipped ? 'large' : ''
  ]
  const ready = []
  const compile = async (task) => {
    const [program, ...rest] = one(task)
    const { code, said, seconds } = await started(program, rest)
    const changed = task.sources === everyLane ? ', every lane arriving' : ''
    const name = `${task.id} ${task.format} alone${changed}`
    if (code !== 0) checks.check(name, false, `${code}: ${said}`)
    else if (!said.includes('no shape taken')) ready.push(task)
    console.log(`${name}: ${seconds.toFixed(1)} s, ${said.trim().replaceAll('\n', '; ')}`)
  }
  const compiled = await sideBySide(tasks, compile, { end })
  const checked = tools.flatMap((tool) =>
    everyKernelFirst(ready.filter(({ sources }) => sources === sourcesOf(tool))).map((task) => ({
      ...task,
      tool
    }))
  )
  const check = async (task) => {
    const { tool } = task
    // The program tells errors of the driver itself, and asks on purpose for a parameter that a function does not have (launch.cpp).
    const reports = tool === 'memcheck' ? ['--report-api-errors', 'no'] : []
    const own = [
      '--tool',
      tool,
      '--error-exitcode',
      String(wrong),
      '--print-limit',
      '3',
      ...reports
    ]
    const { code, said, seconds } = await started(sanitizer, [...own, ...one(task)])
    const found = said.split('\n').filter((line) => line.startsWith('========='))
    const name = `${task.id} ${task.format} ${tool}`
    checks.check(name, code === 0, code === wrong ? '' : `${code}: ${said.slice(0, 500)}`)
    if (code === wrong) console.log(found.slice(0, 24).join('\n'))
    console.log(`${name}: ${seconds.toFixed(1)} s, ${found.at(-1) ?? 'it said nothing'}`)
  }
  const ended = await sideBySide(checked, check, { end })
  const left = tasks.length - compiled.length + checked.length - ended.length
  if (left > 0) console.log(`Time was up: ${left} were not begun (LIMIT).`)
}

const [mode, cache, sources, ...rest] = process.argv.slice(2)
if (mode === 'one') {
  configure(cache, [], sources)
  await runOne(...rest)
} else {
  const checks = new Checks()
  const temporary = mkdtempSync(join(tmpdir(), 'blockscope-sanitize-'))
  configure(temporary, [])
  const device = await findDevice()
  const sanitizer = process.env.COMPUTE_SANITIZER ?? 'compute-sanitizer'
  const version = spawnSync(sanitizer, ['--version'], { encoding: 'utf8' })
  if (version.error) console.log(`${sanitizer} does not start: nothing was checked.`)
  else if (!device) console.log('No CUDA device: nothing to test.')
  else {
    console.log(`${device.name}, ${version.stdout.trim().split('\n').at(-1)}`)
    await checkAll(checks, sanitizer, device, process.argv.slice(2), temporary)
  }
  rmSync(temporary, { recursive: true, force: true })
  checks.end()
}
