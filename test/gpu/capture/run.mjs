// Captures of programs whose launches are counted ahead: what must come out is known to the launch. See run.sh.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const isStub = process.argv.includes('--stub')
const blockscope = resolve('out/node/blockscope.js')
const built = resolve('native/test/build/inject')
const program = join(built, 'program')
const folder = mkdtempSync(join(tmpdir(), 'blockscope-gpu-capture-'))
/** Launches of the cases that measure; a stand-in has nothing to measure. */
const many = isStub ? 2000 : 1_000_000

let passed = 0
let failed = 0
function check(name, holds, found) {
  if (holds) passed++
  else failed++
  console.log(`${holds ? 'passed' : 'FAILED'}  ${name}${holds ? '' : `: ${JSON.stringify(found)}`}`)
}

/** The real driver goes before the stand-in that the program was linked with. */
function environment() {
  if (isStub) return { ...process.env, BLOCKSCOPE_CUDA_PATH: join(built, 'cupti') }
  const { stdout } = spawnSync('ldconfig', ['-p'], { encoding: 'utf8' })
  const known = /libcuda\.so\.1 .*=> (.*)\/libcuda\.so\.1/.exec(stdout ?? '')?.[1]
  const places = [known, '/usr/lib/x86_64-linux-gnu', '/usr/local/nvidia/lib64', '/usr/lib64']
  const place = places.find((one) => one && existsSync(join(one, 'libcuda.so.1')))
  if (!place) {
    console.error('No libcuda.so.1: this needs a CUDA driver, or --stub.')
    process.exit(3)
  }
  const path = [place, process.env.LD_LIBRARY_PATH].filter(Boolean).join(':')
  return { ...process.env, LD_LIBRARY_PATH: path }
}
const env = environment()

let captures = 0
/** @param {string[]} command @param {string[]} flags */
function capture(command, flags = []) {
  const out = join(folder, String(captures++))
  const words = [blockscope, 'capture', '--out', out, ...flags, '--', ...command]
  const begun = performance.now()
  const { status, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' })
  const seconds = (performance.now() - begun) / 1000
  const file = join(out, 'capture.json')
  const record = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
  return { out, status, stderr, record, seconds }
}

function launches(out) {
  const words = [blockscope, 'launches', out, '--each', '--json']
  const { stdout } = spawnSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 2 ** 30 })
  return stdout
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/**
 * @param {string} name
 * @param {string[]} words
 * @param {Record<string, any> & { kernels: number[], status?: number, flags?: string[] }} expected `kernels` of each process, in any order; the rest: checks by what they say
 */
function exact(name, words, { kernels, status = 0, flags = [], ...rest }) {
  const { out, record, status: code, stderr } = capture([program, ...words], flags)
  const found = record?.processes.map(({ read }) => read.kernels).filter((count) => count > 0)
  const same = found && String(found.sort((a, b) => a - b)) === String(kernels)
  const { lostKernels, repeated, withoutTime, unfinished } = record?.totals ?? {}
  const isWhole = lostKernels === 0 && repeated === 0 && withoutTime === 0 && unfinished === 0
  check(name, same && isWhole && code === status, { found, totals: record?.totals, code, stderr })
  for (const [what, holds] of Object.entries(rest)) check(`${name}: ${what}`, holds(out, record))
}

const byPath = (out) => {
  const counts = {}
  for (const { kind, path, capturedAt, name } of launches(out)) {
    if (kind !== 'kernel') continue
    const key = [...path, ...(capturedAt.length > 0 ? ['@', ...capturedAt] : []), name].join('|')
    counts[key] = (counts[key] ?? 0) + 1
  }
  return JSON.stringify(Object.fromEntries(Object.entries(counts).sort()))
}

exact(
  'nested ranges, two threads, a quote, >, one range left open',
  [
    ...[
      'push:step',
      'launch:gemm:50',
      'push:a "b" > c',
      'launch:relu:7',
      'pop',
      'pop',
      'launch:plain'
    ],
    ...['thread', 'push:worker', 'launch:other:3', 'pop', 'join', 'push:open', 'launch:last:2']
  ],
  {
    kernels: [63],
    'kernels stand by path': (out) =>
      byPath(out) ===
      '{"open|last":2,"plain":1,"step|a \\"b\\" > c|relu":7,"step|gemm":50,"worker|other":3}'
  }
)
exact('a graph of 5 kernels, captured once and replayed 100 times', ['push:loop', 'graph:5:100'], {
  kernels: [500],
  'kernels stand by replay and capture': (out) =>
    byPath(out) === '{"loop|@|loop|capture|node":500}',
  'captured launches are none': (_, record) => record.processes[0].captured === 5
})
exact('the same graph, recorded whole', ['graph:5:100', 'launch:k:3'], {
  kernels: [3],
  flags: ['--graphs'],
  'a record for each launch': (_, record) => record.processes[0].read.graphs === 100
})
exact(
  'four streams',
  [1, 2, 3, 4].map((stream) => `launch:spin:20:1000:${stream}`),
  {
    kernels: [80],
    'each kernel on its stream': (out) =>
      new Set(launches(out).map(({ stream }) => stream)).size === 4,
    'they run at once': (out) => {
      const all = launches(out)
      const sum = all.reduce((total, { durationNs }) => total + durationNs, 0)
      const end = Math.max(...all.map(({ startNs, durationNs }) => startNs + durationNs))
      return sum / (end - Math.min(...all.map(({ startNs }) => startNs))) > 2.5
    }
  }
)
exact('copies and sets', ['copy:1048576', 'set:4096', 'launch:k'], {
  kernels: [1],
  'bytes of both': (out) =>
    JSON.stringify(
      launches(out)
        .flatMap(({ kind, bytes }) => (bytes ? [[kind, bytes]] : []))
        .sort()
    ) === '[["copy",1048576],["set",4096]]'
})
exact(
  'a forked child, a started one, and a fork after CUDA had started',
  [
    ...['fork', 'launch:a:30', 'join', 'spawn', 'launch:b:40', '_exit:0', 'join'],
    ...['launch:c:50', 'fork', 'join', 'exit:5']
  ],
  { kernels: [30, 40, 50], status: 5 }
)
exact('three launches that fail', ['launch:k:4', 'fail', 'fail', 'fail'], {
  kernels: [4],
  'are counted': (_, record) => record.processes[0].failed === 3
})
exact('a second and a half of work queued at the end', ['launch:spin:300:5000', 'exit:0'], {
  kernels: [300]
})
exact('_exit after a synchronisation', ['launch:k:3001', 'sync', '_exit:7'], {
  kernels: [3001],
  status: 7
})
const killed = capture([
  program,
  'launch:k:3000',
  'sync',
  'sleep:300',
  'launch:k:50',
  'sync',
  'kill'
])
const [end] = killed.record?.processes ?? []
check(
  'SIGKILL: at most 100 of 3,050 are lost, and those are counted',
  end?.expectedKernels === 3050 &&
    end.lostKernels <= 100 &&
    end.read.kernels + end.lostKernels === 3050,
  end
)
check("SIGKILL: the exit code is a shell's", killed.status === 137, killed.status)

const python = process.env.PYTHON
if (!isStub && python) {
  const { out, status, stderr } = capture([python, resolve('test/gpu/capture/ownProfiler.py')])
  const added = launches(out).filter(({ kind, name }) => kind === 'kernel' && name === 'add_one')
  const launched = added.map(({ grid, block }) => `${grid} of ${block}`)
  check(
    'a Triton kernel, half of its launches under torch.profiler: 200, each of 4 blocks of 128 threads',
    status === 0 &&
      added.length === 200 &&
      new Set(launched).size === 1 &&
      launched[0] === '4,1,1 of 128,1,1',
    { status, count: added.length, launched: [...new Set(launched)], stderr }
  )

  const spawned = capture([python, resolve('test/gpu/capture/spawned.py')])
  /** @type {Map<string, number[]>} devices of each process's launches */
  const devices = new Map()
  for (const { name, process, device } of launches(spawned.out))
    if (name.includes('spin_kernel'))
      devices.set(process, [...(devices.get(process) ?? []), device])
  const sizes = [...devices.values()].map(({ length }) => length).sort((a, b) => a - b)
  check(
    'processes of multiprocessing.spawn, one more than GPUs: each launch of each, on its own GPU',
    spawned.status === 0 &&
      sizes.length >= 2 &&
      sizes.every((count, at) => count === 100 * (at + 1)) &&
      [...devices.values()].every((all) => new Set(all).size === 1) &&
      new Set([...devices.values()].flat()).size === sizes.length - 1,
    {
      status: spawned.status,
      sizes,
      devices: [...devices.values()].map(([one]) => one),
      stderr: spawned.stderr
    }
  )
} else if (!isStub)
  console.log('not run: a Triton kernel under torch.profiler; set PYTHON to a Python that has both')

const plain = () => {
  const begun = performance.now()
  spawnSync(program, [`launch:k:${many}:1`], { env })
  return (performance.now() - begun) / 1000
}
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1]
/** @type {number[][]} */
const [without, within, counts] = [[], [], []]
for (let round = 0; round < (isStub ? 1 : 3); round++) {
  without.push(plain())
  const { record, seconds } = capture([program, `launch:k:${many}:1`])
  within.push(seconds)
  counts.push(record?.totals.kernels)
}
check(
  `${many} launches: all recorded, each time`,
  counts.every((count) => count === many),
  counts
)
const added = ((median(within) - median(without)) / many) * 1e6
console.log(
  `${many} launches: ${median(without).toFixed(2)} s alone, ${median(within).toFixed(2)} s with blockscope capture, its start and its reading included: ${added.toFixed(2)} us more a launch`
)

rmSync(folder, { recursive: true, force: true })
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
