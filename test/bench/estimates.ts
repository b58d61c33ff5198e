/** Ten small jobs on the CPU, from a machine nothing is known of: what was planned, what it took. `npm run bench:estimates`. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-estimates-'))
const shape = (m: number) => ['-M', String(m), '-N', String(m)]
const jobs = [
  ['validate', '--formats', 'mxfp4', ...shape(512), '-K', '512'],
  ['sweep', '--formats', 'mxfp4', ...shape(512), '-K', '512', '--preset', 'quick'],
  ['validate', '--formats', 'mxfp4,mxfp8', ...shape(768), '-K', '1024'],
  ['sweep', '--formats', 'mxfp4,mxfp8', ...shape(512), '-K', '512,1024', '--preset', 'quick'],
  ['sweep', '--formats', 'nvfp4', ...shape(1024), '-K', '1024', '--preset', 'quick'],
  ['validate', '--formats', 'nvfp4,mixed', ...shape(512), '-K', '512'],
  ['sweep', '--formats', 'mxfp8', ...shape(768), '-K', '512,1024,2048', '--preset', 'quick'],
  ['sweep', '--formats', 'mxfp4', ...shape(512), '-K', '1024', '--reps', '50'],
  ['validate', '--formats', 'all', ...shape(256), '-K', '256'],
  ['sweep', '--formats', 'mxfp4,nvfp4', ...shape(512), '-K', '512', '--preset', 'standard']
]
const seconds = (text: string) => {
  const [value, unit] = text.split(' ')
  return Number(value) * (unit === 'min' ? 60 : unit === 'h' ? 3600 : 1)
}
let within = 0
for (const job of jobs) {
  const args = [
    'out/node/blockscope.js',
    ...job,
    '--device',
    'cpu',
    '--store',
    join(folder, 'runs')
  ]
  const start = performance.now()
  const { stderr } = spawnSync(process.execPath, args, {
    env: { ...process.env, XDG_CACHE_HOME: folder },
    encoding: 'utf8'
  })
  const took = (performance.now() - start) / 1000
  const found = /about ([\d.]+ \w+)(?: to ([\d.]+ \w+))?\./.exec(stderr)
  const [low, high] = [seconds(found![1]!), seconds(found![2] ?? found![1]!)]
  const middle = Math.sqrt(low * high)
  const isGood = took < 2 * middle && took > middle / 2
  within += Number(isGood)
  console.log(
    `${job.join(' ')}: planned ${low} to ${high} s, took ${took.toFixed(1)} s${isGood ? '' : ' (beyond 2x)'}`
  )
}
rmSync(folder, { recursive: true, force: true })
console.log(`${within} of ${jobs.length} within 2x`)
