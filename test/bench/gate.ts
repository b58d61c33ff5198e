/**
 * Whether a gate's statements hold: of trials on a kernel against itself, how many find a difference that is not there; of trials
 * against a product of 1, 2 and 5 % more K, which is that much more work, how many find it, and how many the stated power promised.
 * `npm run bench:gate [-- --trials 100 --pairs 40 --device cuda:0 --kernel wgmma --seconds 200]`: with --seconds it ends before its
 * trials do where they take longer.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { GateSide } from '@shared/contract/gate'
import { judgePoint } from '@shared/measurement/gateResult'
import {
  changeOf,
  estimateFromPairs,
  powerFor,
  type TimePair
} from '@shared/measurement/gateVerdict'
import { median } from '@shared/measurement/statistics'
import { Engine } from '../../src-main/engine/engine'
import { forkedEngineHost } from '../../src-main/engine/engineHost'
import { readKernelSources } from '../../src-main/engine/kernelManifests'
import { shuffled } from '../../src-main/jobs/shuffle'

const { values: flags } = parseArgs({
  options: {
    trials: { type: 'string', default: '100' },
    pairs: { type: 'string', default: '40' },
    seconds: { type: 'string', default: 'Infinity' },
    device: { type: 'string', default: 'cpu' },
    kernel: { type: 'string' }
  }
})
const [asked, pairs, seconds] = [flags.trials, flags.pairs, flags.seconds].map(Number) as [
  ...[number, number, number]
]
const confidence = 0.95
const margin = 0.01
const samples = 25
const isCpu = flags.device === 'cpu'
// A GPU's product is one wave of tiles, deep enough that 1 % more is whole steps of the loop over K.
const extent = isCpu ? 32 : 2048
const depth = isCpu ? 3200 : 12800
/** More K, in elements: the first is base, the second base again. */
const cases = [0, 0, depth / 100, depth / 50, depth / 20]

const cacheDirectory = mkdtempSync(join(tmpdir(), 'blockscope-bench-gate-'))
const engine = new Engine(forkedEngineHost(resolve('out/node/engine.js')), {
  kernelSources: readKernelSources([resolve('resources/kernels/cuda')]),
  cacheDirectory
})
const { devices } = await engine.call('detect', null)
const device = devices.find(({ id }) => id === flags.device)
const kernel = device?.kernels.find(
  ({ id, capabilities }) =>
    (flags.kernel ?? id) === id &&
    capabilities.some(({ format, level }) => format === 'mxfp4' && level !== 'unavailable')
)
if (!device || !kernel) throw new Error(`No ${flags.kernel ?? 'kernel'} on ${flags.device}.`)
/** One for each depth: a kernel against itself has the same operands, as in a gate. */
const ofDepth = new Map<number, number>()
for (const more of new Set(cases))
  ofDepth.set(
    more,
    await engine.call('open', {
      ...{ device: device.id, format: 'mxfp4', output: 'f16' },
      ...{ m: extent, n: extent, k: depth + more },
      operands: { distribution: 'normal', seed: 42 }
    })
  )
const sessions = cases.map((more) => ofDepth.get(more)!)

async function visit(session: number, warmupLaunches: number): Promise<number[]> {
  const { samplesNs } = await engine.call('measure', {
    session,
    request: {
      ...{ kernel: kernel!.id, cold: false, warmupLaunches, warmupNs: 0, fixedSamples: samples },
      ...{ minSamples: 1, minTimeNs: 0, maxRelativeStdev: 1, maxSamples: samples, timeoutNs: 0 },
      ...{ sustainedNs: 0, recordLaunches: false }
    }
  })
  return Array.from(samplesNs)
}

const load = () => loadavg()[0]!.toFixed(1)
const of = isCpu ? `${cpus().length} cores of ${device.name}` : device.name
console.log(
  `At most ${asked} trials of ${pairs} pairs, ${samples} samples a visit; ${kernel.id} mxfp4 M=N=${extent} K=${depth}; ` +
    `${of}, load ${load()} at the start`
)
for (const session of sessions) await visit(session, 20)
const found = cases.map(() => ({ slower: 0, faster: 0, promised: 0, all: [] as TimePair[] }))
const began = performance.now()
let trials = 0
for (; trials < asked && performance.now() - began < seconds * 1e3; trials++) {
  const visits = cases.map(() => [] as number[][])
  for (let pair = 0; pair < pairs; pair++)
    for (const at of shuffled([...cases.keys()], trials * pairs + pair))
      visits[at]!.push(await visit(sessions[at]!, 2))
  const sides = visits.map((samplesNs): GateSide => ({
    ...{ kernel: kernel.id, sourceHash: '', samplesNs, meanMHz: 0, badges: [] }
  }))
  for (const [at, tested] of sides.entries()) {
    if (at === 0) continue
    const problem = { format: 'mxfp4', m: extent, n: extent, k: depth + cases[at]! }
    const judged = judgePoint(problem, sides[0]!, tested, true, confidence, margin)
    const sum = found[at]!
    const { low = 0, high = Infinity } = judged.estimate
    // By the interval alone: within the margin it is SAME, and a difference all the same.
    if (low > 1) sum.slower++
    if (high < 1) sum.faster++
    sum.promised += powerFor(cases[at]! / depth, judged.estimate)
    for (const [i, base] of sides[0]!.samplesNs.entries())
      sum.all.push([median(base), median(tested.samplesNs[i]!)])
  }
}
const percent = (count: number) => `${((100 * count) / trials).toFixed(0)} %`
console.log('| more work | over all pairs | found slower | stated power | found faster |')
console.log('|---|---:|---:|---:|---:|')
for (const [at, { slower, faster, promised, all }] of found.entries()) {
  if (at === 0) continue
  const more = (100 * cases[at]!) / depth
  const name = more === 0 ? 'none (A/A)' : `${more} %`
  const ratio = estimateFromPairs(all.slice(0, 2000), confidence).ratio!
  const stated = more === 0 ? '-' : percent(promised)
  console.log(
    `| ${name} | ${changeOf(ratio)} | ${percent(slower)} | ${stated} | ${percent(faster)} |`
  )
}
console.log(
  `${trials} trials in ${((performance.now() - began) / 1e3).toFixed(0)} s. Load ${load()} at the end.`
)
engine.close()
rmSync(cacheDirectory, { recursive: true, force: true })
