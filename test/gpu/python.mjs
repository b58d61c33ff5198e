// Python kernels on a GPU through the command line: Triton's own, the Triton template as a file of a person's, and faults.
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './addon.mjs'
import { sideBySide } from './sideBySide.mjs'

/** The one that the program starts. */
const python = process.env.BLOCKSCOPE_PYTHON || 'python3'
const templates = join(root, 'resources/providers/templates')
/** Most of a command's time is Python starting and Triton compiling. */
const atOnce = Math.min(8, Math.ceil(availableParallelism() / 2))

export const hasTriton = () =>
  spawnSync(python, ['-c', 'import torch, triton'], { stdio: 'ignore' }).status === 0

/** The steps of a job of one product. */
async function stepsOf(job, flags, extent) {
  const store = mkdtempSync(join(tmpdir(), 'blockscope-python-'))
  // Groups bring M.
  const rows = flags.includes('--groups') ? [] : ['-M', extent]
  const shape = [...rows, '-N', extent, '-K', extent].map(String)
  const started = Date.now()
  const words = [
    ...[join(root, 'out/node/blockscope.js'), job, '--device', 'cuda:0', ...flags, ...shape],
    ...['--store', store, '--json']
  ]
  // It ends with 1 where a kernel does not pass, which is for the checks to judge.
  const { stdout, stderr } = await new Promise((resolve) =>
    execFile(process.execPath, words, { maxBuffer: 1 << 28 }, (_, stdout, stderr) =>
      resolve({ stdout, stderr })
    )
  )
  rmSync(store, { recursive: true })
  console.log(`[${((Date.now() - started) / 1000).toFixed(1)} s]`, job, flags.join(' '))
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout).steps
}

/** Triton's own kernels: timed, and given each part of an operation. */
async function checkTriton(checks, isNative) {
  /** @type {[words: string, flags: string[]][]} */
  const parts = [
    ['B (K, N)', ['--b-order', 'kn']],
    ['an accumulator', ['--beta', '1']],
    ['a batch', ['--batch-a', '2,1', '--batch-b', '3']],
    ['C in e4m3', ['--out', 'e4m3', '--out-scale', '0.25']],
    ['C in e5m2', ['--out', 'e5m2']],
    ['groups', ['--groups', '300,0,17,1']],
    [
      'masked groups, an accumulator',
      ['--groups', '9,0,70', '--group-layout', 'masked', '--max-rows', '80', '--beta', '1']
    ]
  ]
  const kernels = isNative ? 'triton,triton-tma' : 'triton'
  // Alone on the device: how many launches are timed together depends on the time of the first.
  const timed = ['--providers', 'Triton', '--formats', 'mxfp4,nvfp4', '--preset', 'quick']
  const own = await stepsOf('sweep', timed, 512)
  const ofParts = await sideBySide(
    parts,
    ([, flags]) =>
      stepsOf('validate', ['--kernels', kernels, '--formats', 'mxfp4,mxfp8', ...flags], 256),
    { atOnce }
  )
  for (const { kernel, format, disposition, reason, measurement } of own) {
    if (format === 'nvfp4' && !isNative) {
      checks.check(
        `${kernel} says that it cannot do nvfp4`,
        disposition === 'not-supported',
        reason
      )
      continue
    }
    checks.check(`${kernel} ${format} passes`, disposition === 'passed', reason)
    checks.check(`${kernel} ${format} is timed`, measurement?.timeNs.samples >= 7)
    checks.check(
      `${kernel} ${format} is timed several launches at a time`,
      measurement?.launchesPerSample >= 8,
      `${measurement?.launchesPerSample} of ${measurement?.timeNs.median} ns`
    )
    const [launch] = measurement?.launches ?? []
    const isRecorded = /block_scaled_matmul/.test(launch?.name) && launch.endNs > launch.startNs
    checks.check(`${kernel} ${format} launches are recorded`, isRecorded, JSON.stringify(launch))
  }
  checks.check(
    'the TMA kernel is there on tcgen05 alone',
    own.some(({ kernel }) => kernel === 'triton-tma') === isNative
  )

  for (const [at, [words]] of parts.entries())
    for (const { kernel, format, disposition, reason } of ofParts[at]) {
      // e2m1 packed along N: resources/providers/triton/dotScaled.py.
      const isRefused =
        (words === 'B (K, N)' && format === 'mxfp4' && !isNative) ||
        (words.includes('groups') && kernel === 'triton-tma')
      checks.check(
        `${kernel} ${format} with ${words}`,
        disposition === (isRefused ? 'not-supported' : 'passed'),
        `${disposition} ${reason}`
      )
    }
}

/** Templates as a person changes them, faults among them. */
async function checkOwnKernels(checks) {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-own-'))
  const file = (name, change = (text) => text) => {
    const path = join(folder, `${name}.py`)
    const from = name.startsWith('torch') ? 'torch' : 'triton'
    const text = readFileSync(join(templates, `${from}.py`), 'utf8')
    writeFileSync(path, change(text.replace('"my-kernel"', `"${name}"`)))
    return path
  }
  const files = [
    file('triton-mine'),
    file('torch-mine'),
    file('triton-outside', (text) => text.replace('tl.store(c + ', 'tl.store(c + 64 + ')),
    file('triton-raises', (text) => text.replace('o = self.operands', 'raise ValueError("no")')),
    file('torch-waits', (text) =>
      text.replace(
        'operands.rounded(product)',
        'operands.rounded(product + product.sum().item() * 0)'
      )
    ),
    file('torch-shape', (text) =>
      text.replace('operands.rounded(product)', 'operands.rounded(product.mT[1:])')
    )
  ]
  const flags = ['--provider', ...files, '--providers', 'user', '--formats', 'mxfp8']
  const whole = ['--beta', '1', '--batch-a', '2,1', '--batch-b', '3', '--out', 'e5m2']
  const waiting = [...flags, '--kernels', 'torch-waits', '--preset', 'quick']
  const [taken, [waits], all] = await sideBySide(
    [
      () => stepsOf('validate', [...flags, ...whole, '--kernels', 'torch-mine'], 256),
      () => stepsOf('sweep', waiting, 256),
      () => stepsOf('validate', flags, 512)
    ],
    (start) => start(),
    { atOnce }
  )
  checks.check(
    'torch-mine takes batches, an accumulator and e5m2',
    taken.length === 1 && taken[0].disposition === 'passed',
    JSON.stringify(taken.map(({ disposition, reason }) => [disposition, reason]))
  )
  // It cannot be captured, and is timed nevertheless.
  checks.check(
    'torch-waits is timed one launch at a time',
    waits?.disposition === 'passed' && waits.measurement?.launchesPerSample === 1,
    `${waits?.disposition} ${waits?.reason} ${waits?.measurement?.launchesPerSample}`
  )
  const steps = new Map(all.map((step) => [step.kernel, step]))
  /** @type {[id: string, disposition: string, words: RegExp][]} */
  const expected = [
    ['triton-mine', 'passed', /^$/],
    ['torch-mine', 'passed', /^$/],
    ['torch-waits', 'passed', /^$/],
    ['triton-outside', 'error', /wrote outside C/],
    ['triton-raises', 'error', /raised ValueError: no/],
    ['torch-shape', 'error', /returned C of shape/]
  ]
  for (const [id, disposition, words] of expected) {
    const step = steps.get(id)
    const isAsSaid = step?.disposition === disposition && words.test(step.reason)
    checks.check(`${id}: ${disposition}`, isAsSaid, `${step?.disposition} ${step?.reason}`)
  }
  rmSync(folder, { recursive: true })
}

export async function checkPythonKernels(checks, architecture) {
  await checkTriton(checks, /^sm_1[01]/.test(architecture))
  await checkOwnKernels(checks)
}

/** Rows of the comparison table. */
export async function tritonRows(formats, extent) {
  const flags = ['--providers', 'Triton', '--formats', formats.join(), '--preset', 'quick']
  const steps = await stepsOf('sweep', flags, extent)
  return steps
    .filter(({ measurement }) => measurement)
    .map(({ format, kernel, disposition, validation, measurement }) => {
      const { tflops, timeNs, stopReason } = measurement
      const { normwise } = validation
      const row = { format, kernel, status: disposition, normwise, ns: timeNs.median, tflops }
      console.log(
        format.padEnd(16),
        kernel.padEnd(20),
        disposition.padEnd(10),
        `${tflops.toFixed(0)} TFLOP/s`.padEnd(14),
        `${(row.ns / 1e3).toFixed(1)} us`,
        `err ${normwise.toExponential(2)}`,
        stopReason
      )
      return { ...row, configuration: stopReason }
    })
}
