// Kernel times of a capture beside torch.profiler's and Proton's of the same program, and what each costs. See compare.sh.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  compareTimes,
  median,
  renamed,
  timesOfHatchet,
  timesOfLaunches,
  timesOfTrace
} from './kernelTimes.mjs'

const python = process.env.PYTHON ?? 'python3'
const rounds = Number(process.env.ROUNDS ?? 5)
const blockscope = resolve('out/node/blockscope.js')
const work = resolve('test/gpu/capture/work.py')
const folder = mkdtempSync(join(tmpdir(), 'blockscope-gpu-compare-'))
/** Of a step of 100 us kernels. */
const overhead = 0.02

/** @param {string} file @param {string[]} words */
function run(file, words) {
  const { status, stdout, stderr } = spawnSync(file, words, {
    encoding: 'utf8',
    maxBuffer: 2 ** 30
  })
  if (status === 0) return stdout
  console.error(`${file} ${words.join(' ')} ended with ${status}:\n${stderr}`)
  process.exit(3)
}
/** @param {string} text @returns {{ step: number, launch: number }} */
const lastLine = (text) => JSON.parse(text.trim().split('\n').at(-1) ?? '{}')
const json = (/** @type {string} */ path) => JSON.parse(readFileSync(path, 'utf8'))

let number = 0
/** Of the last capture: its kernels' names, mangled and not. @type {any[]} */
let rows = []
/** @param {string[]} flags */
function captured(flags) {
  const out = join(folder, String(number++))
  const words = ['capture', '--out', out, '--range', 'measured', ...flags, '--', python, work]
  const cost = lastLine(run(process.execPath, [blockscope, ...words]))
  const text = run(process.execPath, [blockscope, 'launches', out, '--by', 'kernel', '--json'])
  rows = JSON.parse(text)
  return { cost, times: timesOfLaunches(rows) }
}

/** @typedef {{ cost: { step: number, launch: number }, times: import('./kernelTimes.mjs').Times }} Measured */

/** @type {Record<string, () => Measured>} */
const ways = {
  alone: () => ({ cost: lastLine(run(python, [work])), times: new Map() }),
  captured: () => captured([]),
  'captured --python': () => captured(['--python']),
  'torch.profiler': () => {
    const trace = join(folder, `${number++}.json`)
    const cost = lastLine(run(python, [work, '--torch', trace]))
    return { cost, times: timesOfTrace(json(trace)) }
  },
  Proton: () => {
    const name = join(folder, `proton${number++}`)
    const cost = lastLine(run(python, [work, '--proton', name]))
    return { cost, times: timesOfHatchet(json(`${name}.hatchet`)) }
  }
}

/** @type {Record<string, Measured[]>} */
const found = Object.fromEntries(Object.keys(ways).map((way) => [way, []]))
// In turn: what warms up or throttles does so for all of them.
for (let round = 0; round < rounds; round++)
  for (const [way, measure] of Object.entries(ways)) found[way].push(measure())

let failed = 0
/** @param {boolean} holds @param {string} text */
function check(holds, text) {
  if (!holds) failed++
  console.log(`${holds ? 'passed' : 'FAILED'}  ${text}`)
}
const alone = {
  step: median(found.alone.map(({ cost }) => cost.step)),
  launch: median(found.alone.map(({ cost }) => cost.launch))
}
for (const way of Object.keys(ways)) {
  const step = median(found[way].map(({ cost }) => cost.step))
  const launch = median(found[way].map(({ cost }) => cost.launch))
  const more = step / alone.step - 1
  console.log(
    `${way.padEnd(20)} step ${step.toFixed(1)} us (${(100 * more).toFixed(2)} % more), launch ${launch.toFixed(2)} us (${(launch - alone.launch).toFixed(2)} us more); medians of ${rounds}`
  )
  if (way.startsWith('captured'))
    check(more < overhead, `${way}: a step of 100 us kernels takes less than 2 % more`)
}
const timesOf = (/** @type {string} */ way) => found[way].map(({ times }) => times)
for (const peer of ['torch.profiler', 'Proton'])
  for (const { name, our, their, ratio, sameCount, agrees } of compareTimes(
    timesOf('captured'),
    timesOf(peer).map((times) => renamed(times, rows))
  )) {
    const text = `${name}: ${(our / 1000).toFixed(2)} us, ${peer} ${(their / 1000).toFixed(2)} us, ratio ${ratio.toFixed(4)}`
    check(agrees, text + (sameCount ? '' : '; other counts'))
  }
rmSync(folder, { recursive: true, force: true })
console.log(failed === 0 ? 'all passed' : `${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
