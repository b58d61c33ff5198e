/**
 * `auto` beside every kernel of the CPU over a list of shapes: how far its choice is behind the best, and how far its
 * predictions are from what was measured. `npm run bench:auto`. Exit code 1 where it is more than 5 % behind.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Detection } from '@shared/contract/devices'
import type { Run, Step } from '@shared/contract/run'
import { judgeAuto } from '@shared/measurement/autoChoices'

const mostBehind = 0.05
const program = 'out/node/blockscope.js'

function json(words: readonly string[]): unknown {
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...words, '--json'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30
  })
  if (!stdout) throw new Error(`blockscope ${words.join(' ')} ended with ${status}: ${stderr}`)
  return JSON.parse(stdout)
}

const folder = mkdtempSync(join(tmpdir(), 'blockscope-auto-'))
const { devices } = json(['devices']) as Detection
const cpu = devices.find(({ id }) => id === 'cpu')!
const able = cpu.kernels.filter(
  ({ capabilities, python }) => !python && capabilities.some(({ level }) => level !== 'unavailable')
)
const run = json([
  ...['sweep', '--device', 'cpu', '--formats', 'mxfp4,mxfp8'],
  ...['--kernels', ['auto', ...able.map(({ id }) => id)].join(',')],
  ...['-M', '1,16,128', '-N', '4,64,1024', '-K', '64,1024'],
  ...['--mode', 'hot', '--reps', '200', '--warmup', '3', '--rounds', '2', '--store', folder]
]) as Run
rmSync(folder, { recursive: true, force: true })

/** The least time of all samples: what else the machine does only adds to one. */
const timeOf = ({ measurement }: Step) => measurement?.timeNs.min
const us = (ns: number) => (ns / 1e3).toFixed(1).padStart(10)

const { choices, problems } = judgeAuto(run, mostBehind, timeOf)
const compared = choices.flatMap(({ best, overBest, chosen, problem }) => {
  const own = timeOf(chosen)
  return best && overBest !== undefined && own !== undefined
    ? [{ best, overBest, chosen, problem, own, predicted: chosen.choice!.predictedNs! }]
    : []
})
console.log(`${cpu.name}, ${cpu.architecture}; us, least of 400 samples`)
console.log(
  'format  M N K               chosen          predicted   measured  best                of the best'
)
for (const { problem, chosen, own, predicted, best, overBest } of compared)
  console.log(
    `${problem.padEnd(24)}    ${chosen.kernel.padEnd(14)} ${us(predicted)} ${us(own)}  ` +
      `${best.kernel.padEnd(14)} ${us(timeOf(best)!)} ${overBest.toFixed(2)}`
  )
for (const problem of problems) console.log(problem)
const ratios = compared.map(({ own, predicted }) => own / predicted).sort((a, b) => a - b)
const worst = Math.max(...compared.map(({ overBest }) => overBest))
console.log(
  `At most ${worst.toFixed(2)} of the best; measured over predicted ${ratios[0]!.toFixed(2)} to ` +
    `${ratios.at(-1)!.toFixed(2)}, median ${ratios[ratios.length >> 1]!.toFixed(2)}`
)
process.exitCode = problems.length > 0 ? 1 : 0
