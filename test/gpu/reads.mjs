// Plain reads of the device's memory, which kernels for few rows of A are shares of: what they take from few bytes to many, twice
// alike, and that no kernel is faster. `node reads.mjs` prints them, then 'N passed, N failed'.
import { pathToFileURL } from 'node:url'
import { addon, built, Checks, cudaDevice, open, timed } from './addon.mjs'
import { able } from './formats.mjs'

/** @type {typeof import('../../src-shared/measurement/readShare')} */
const { readNs } = await built('readShare')
/** @type {typeof import('../../src-shared/measurement/work')} */
const { workOf } = await built('work')

/** Of the same bytes within this, above 1 MiB: smaller ones are launches more than reads. */
const alike = 1.1

/** What memory was read at, now. @param {{ id: string }} device */
export async function readMemory({ id }) {
  const roofs = await addon.measureRoofs(id, addon.createCancelFlag(), () => {})
  const [memory] = roofs.filter(({ of }) => of === 'dram')
  return memory
}

/** Nanoseconds of a plain read of a product's packed operands, scales and C, each once. */
export const readNsOf = (memory, format, m, n, k, output) =>
  readNs(
    workOf(format, m, n, k, { output }, { scaleLayout: 'linear', operandBits: 0 }).bytes,
    memory
  )

export async function checkReads(checks, device) {
  const memory = await readMemory(device)
  const { reads: again = [] } = await readMemory(device)
  const { reads = [] } = memory
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
    const ratio = again[at].ns / ns
    checks.check(`${name} takes the same again`, ratio < alike && 1 / ratio < alike, `${ratio}`)
  }
  const [format, m, n, k, output] = ['mxfp4', 1, 8192, 8192, 'bf16']
  const session = await open(format, m, n, k, { output })
  const least = readNsOf(memory, format, m, n, k, output)
  for (const id of ['decode-mma', 'decode-fp8', 'decode']) {
    const kernel = device.kernels.find((one) => one.id === id)
    if (!kernel || !able(kernel, format)) continue
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
