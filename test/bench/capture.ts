/**
 * Ten million launches of one captured process, read as `blockscope capture` and `launches` read them: npm run bench:capture
 * [-- LAUNCHES]. A launch is two records, its call and its kernel. The bytes are made ahead, piece by piece, and not timed.
 */
import { CaptureReader } from '@shared/capture/captureReader'
import { KernelTally } from '@shared/capture/kernelTally'
import { CaptureProfile } from '@shared/profile/read/captureProfile'
import { hatchetPieces } from '@shared/profile/write/writeHatchet'
import { syntheticShard } from '../support/syntheticShard'

const launches = Number(process.argv[2] ?? 10_000_000)
/** The issue's: records per second and core. */
const wantedRate = 2e6

function readAll(reader: CaptureReader): { seconds: number; peakMiB: number } {
  let seconds = 0
  let peak = 0
  const timed = (work: () => void) => {
    // Of the processor: what else the machine does is not counted.
    const begun = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(begun)
    seconds += (user + system) / 1e6
  }
  reader.open('bench.shard')
  let pieces = 0
  const form = { launches, kernels: 200, shapesOfKernel: 10, paths: 500 }
  for (const piece of syntheticShard(form)) {
    timed(() => reader.write(piece))
    if (pieces++ % 256 === 0) peak = Math.max(peak, process.memoryUsage().rss)
  }
  timed(() => reader.close())
  return { seconds, peakMiB: Math.max(peak, process.memoryUsage().rss) / 2 ** 20 }
}

function report(what: string, { seconds, peakMiB }: { seconds: number; peakMiB: number }): void {
  const rate = (2 * launches) / seconds
  const verdict = rate >= wantedRate ? 'met' : 'MISSED'
  console.log(
    `${what.padEnd(28)} ${(rate / 1e6).toFixed(2).padStart(6)} M records/s  ${seconds.toFixed(2).padStart(6)} s  peak ${peakMiB.toFixed(0).padStart(5)} MiB  2 M/s ${verdict}`
  )
  if (rate < wantedRate) process.exitCode = 1
}

const account = new CaptureReader({})
report('accounting', readAll(account))
const { lostKernels, read } = account.accounts[0]!
if (lostKernels !== 0 || read.kernels !== launches) throw new Error('The account is wrong.')
report('kernels by launch shape', readAll(new CaptureReader(new KernelTally())))
const profile = new CaptureProfile({ severalProcesses: false, timeline: false })
report('tree of NVTX and kernels', readAll(profile.reader))
const begun = performance.now()
let bytes = 0
for (const piece of hatchetPieces(profile.finish().tree)) bytes += piece.length
console.log(
  `profile.hatchet of it: ${(bytes / 2 ** 20).toFixed(1)} MiB in ${((performance.now() - begun) / 1000).toFixed(2)} s`
)
