// Plain reads of the device's memory, which kernels for few rows of A are shares of: what they take from few bytes to many, twice
// alike, and that no kernel is faster. `node reads.mjs` prints them, then 'N passed, N failed'.
import { pathToFileURL } from 'node:url'
import { addon, built, Checks, cudaDevice, open, timed } from './addon.mjs'
import { able } from './formats.mjs'

/** @type {typeof import('../../src-shared/measurement/readShare')} */
const { readNs } = await built('readShare')
/** @type {typeof import('../../src-shared/measurement/work')} */
const { workOf } = await built('work')

/** Of the same bytes within this, at 1 MiB and above: smaller ones are launches more than reads. */
const alike = 1.1

async function readsOf(device) {
  const roofs = await addon.measureRoofs(device.id, addon.createCancelFlag(), () => {})
  const [memory] = roofs.filter(({ of }) => of === 'dram')
  return { memory, reads: memory.reads ?? [] }
}

export async function checkReads(checks, device) {
  const { memory, reads } = await readsOf(device)
  const again = await readsOf(device)
  checks.check('plain reads are timed', reads.length > 8, `${reads.length} sizes`)
  // Twice a clock, as src-shared/measurement/peaks.ts has it: what is faster has not read all.
  const { memoryClockMHz, memoryBusBits } = device.properties
  const sheet = (2e6 * memoryClockMHz * memoryBusBits) / 8
  checks.check('none is faster than memory', memory.rate < sheet, `${memory.rate} ${sheet}`)
  for (const [at, { bytes, ns }] of reads.entries()) {
    const name = `a plain read of ${bytes / 2 ** 20} MiB`
    console.log(`${name}: ${(ns / 1e3).toFixed(2)} us, ${(bytes / ns / 1e3).toFixed(2)} TB/s`)
    const fewer = reads[at - 1]
    if (bytes <= 2 ** 20) continue
    checks.check(`${name} takes longer than of half as much`, ns > fewer.ns, `${ns} ${fewer.ns}`)
    checks.check(`${name} takes no more than twice that`, ns < 2.05 * fewer.ns, `${ns} ${fewer.ns}`)
    const ratio = again.reads[at].ns / ns
    checks.check(`${name} takes the same again`, ratio < alike && 1 / ratio < alike, `${ratio}`)
  }
  const problem = { format: 'mxfp4', m: 1, n: 8192, k: 8192, output: 'bf16' }
  const packed = { scaleLayout: 'linear', operandBits: 0 }
  const session = await open(problem.format, problem.m, problem.n, problem.k, problem)
  const { bytes } = workOf(problem.format, problem.m, problem.n, problem.k, problem, packed)
  const least = readNs(bytes, memory)
  for (const id of ['decode-mma', 'decode-fp8', 'decode']) {
    const kernel = device.kernels.find((one) => one.id === id)
    if (!kernel || !able(kernel, problem.format)) continue
    const { ns } = await timed(session, id, { recordLaunches: false })
    checks.check(`${id} is no faster than reading as much`, ns > least, `${ns} ${least}`)
  }
  await session.close()
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const checks = new Checks()
  await checkReads(checks, await cudaDevice([]))
  checks.end()
}
