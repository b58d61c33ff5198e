// A sweep spread over the GPUs of this host, one task on each, then the same with one of them kept busy by another program,
// which is to be named as the straggler. `node test/gpu/fleet.mjs`. Needs two GPUs of one kind.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Checks, root } from './addon.mjs'

const work = mkdtempSync(join(tmpdir(), 'blockscope-fleet-'))
const checks = new Checks()

function blockscope(...words) {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(root, 'out/node/blockscope.js'), ...words],
    { encoding: 'utf8', maxBuffer: 1 << 28 }
  )
  return { text: stdout, said: stderr, code: status }
}

const gpus = JSON.parse(blockscope('devices', '--json').text)
  .devices.filter(({ kind }) => kind === 'cuda')
  .map(({ name, properties }) => ({ name, uuid: properties.uuid }))
if (gpus.length < 2) {
  console.log(`Two GPUs are needed, and here is ${gpus.length}: nothing to test.`)
  console.log('0 passed, 0 failed')
  process.exit(0)
}

/** Two sweeps, of products that take milliseconds: longer than the turns that two programs on one GPU take. */
const flags = ['--providers', 'blockscope,cuBLASLt', '--preset', 'quick', '--rounds', '1']
const shape = ['-M', '8192', '-N', '8192', '-K', '16384']
const sweepOf = (format) => ['--formats', format, '--kernels', 'auto', ...flags, ...shape]
const plan = join(work, 'plan.json')
const sweeps = ['mxfp4', 'mxfp8'].map(sweepOf)
writeFileSync(plan, JSON.stringify({ name: 'two-gpus', sweeps, copies: gpus.length }))
const tasks = sweeps.length * gpus.length

/** The plan on all GPUs, collected: its points with their places, and what compare says. */
function spread(name) {
  const began = Date.now()
  const [fleet, store] = [join(work, name), join(work, `${name}-runs`)]
  const run = blockscope('fleet', 'run', plan, '--dir', fleet, '--json')
  checks.check(`${name}: every task is done`, run.code === 0, run.said)
  const collected = JSON.parse(
    blockscope('fleet', 'collect', fleet, '--store', store, '--json').text
  )
  const shards = collected.map((one) => one.shards)
  checks.check(`${name}: one run of all tasks`, shards.join() === String(tasks), shards.join())
  const points = JSON.parse(
    blockscope('fleet', 'compare', 'latest', '--store', store, '--json').text
  )
  const { text } = blockscope('fleet', 'compare', 'latest', '--store', store)
  console.log(`[${((Date.now() - began) / 1000).toFixed(1)} s] ${name}\n${text}`)
  checks.check(`${name}: a point of each sweep`, points.length === sweeps.length)
  for (const { format, places } of points) {
    const uuids = places.map(({ uuid }) => uuid).sort()
    const all = gpus.map(({ uuid }) => uuid).sort()
    checks.check(`${name}: ${format} on every GPU once`, uuids.join() === all.join(), uuids.join())
  }
  return points
}

/** Keeps a GPU busy while `work` runs. */
async function whileBusy(uuid, during) {
  const holder = spawn(process.execPath, [join(root, 'test/gpu/hold.mjs'), 'busy'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, CUDA_VISIBLE_DEVICES: uuid }
  })
  const ended = new Promise((after) => holder.once('exit', after))
  await Promise.race([
    new Promise((opened) => holder.stdout.once('data', opened)),
    ended.then((code) => Promise.reject(new Error(`hold.mjs ended with code ${code}`)))
  ])
  try {
    return during()
  } finally {
    holder.stdin.end()
    await ended
  }
}

console.log(gpus.map(({ name, uuid }) => `${name} ${uuid}`).join('\n'))
await checks.attempt('alike', async () => spread('alike'))
const slowed = gpus.at(-1).uuid
await checks.attempt('one slowed', async () => {
  for (const { format, outliers } of await whileBusy(slowed, () => spread('one slowed'))) {
    const slow = outliers.filter(({ ratio }) => ratio > 1).map(({ place }) => place.uuid)
    checks.check(
      `one slowed: it is the straggler in ${format}`,
      slow.join() === slowed,
      slow.join()
    )
  }
})
rmSync(work, { recursive: true })
checks.end()
