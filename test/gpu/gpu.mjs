// GPU tests and the comparison table. `node gpu.mjs [size]`, size 8192 by default; size 0 leaves the table out.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkBeside } from './beside.mjs'
import { checkCommandLine } from './commandLine.mjs'
import { able, checkFormats, named, testedKernels } from './formats.mjs'
import { checkFused } from './fused.mjs'
import { checkComparison, checkOperands } from './deviceCode.mjs'
import { checkPythonKernels, hasTriton, tritonRows } from './python.mjs'
import { checkReads } from './reads.mjs'
import {
  addon,
  Checks,
  configure,
  cuptiNs,
  launchTimes,
  measureDefaults,
  median,
  open,
  validated
} from './addon.mjs'

const size = Number(process.argv[2] ?? 8192)
const resultFile = process.argv[3]
const checks = new Checks()
const cache = mkdtempSync(join(tmpdir(), 'blockscope-gpu-'))
configure(cache)
const started = Date.now()
const since = () => `[${((Date.now() - started) / 1000).toFixed(1)} s]`

const { libraries, devices } = await addon.detect()
for (const { name, found, version, path, reason, remedy } of libraries) {
  console.log(`${name}: ${found ? `${version} ${path}` : `${reason} ${remedy}`}`)
}
const device = devices.find((d) => d.kind === 'cuda')
if (!device) {
  console.log('No CUDA device: nothing to test.')
  console.log('0 passed, 0 failed')
  process.exit(0)
}
console.log(device.name, device.architecture, JSON.stringify(device.properties))
const kernels = testedKernels(device)

/** Every format of the registry: each kernel says of each what it can. FORMATS limits them. */
const registered = [
  ...new Set(devices.flatMap((d) => d.kernels.flatMap((k) => k.capabilities.map((c) => c.format))))
]
checks.check('the registry has its formats', registered.length >= 9, registered.join())
const formats = process.env.FORMATS?.split(',') ?? registered
for (const kernel of kernels.filter((k) => k.provider === 'blockscope')) {
  const some = kernel.capabilities.some((c) => c.level !== 'unavailable')
  const written = /^Written for (.*); this device is/.exec(kernel.capabilities[0]?.reason)?.[1]
  const isForOthers =
    written && !written.split(', ').some((one) => one.startsWith(device.architecture))
  checks.check(`${kernel.id} is offered`, some || isForOthers, kernel.capabilities[0]?.reason)
}

// 1. Every kernel against the reference, the whole operation too: formats side by side, since most of the time is compilation.
await checks.attempt('formats', () => checkFormats(checks, formats))
console.log(since(), `formats: ${checks.passed} passed, ${checks.failed} failed`)
await checkFused(checks, kernels)
console.log(since(), `fused: ${checks.passed} passed, ${checks.failed} failed`)
if (kernels.some(({ id }) => id === 'wgmma')) await checkBeside(checks)
console.log(since(), `beside: ${checks.passed} passed, ${checks.failed} failed`)

// 2. What the GPU does for itself, against the CPU: the reference, operands byte for byte, the comparison, scale layouts.
for (const format of formats.filter(named)) {
  await checks.attempt(`references ${format}`, async () => {
    const flag = addon.createCancelFlag()
    const gpu = await open(format, 192, 160, 256)
    const cpu = await open(format, 192, 160, 256, { device: 'cpu' })
    const [a, b] = [await gpu.reference(flag), await cpu.reference(flag)]
    let worst = 0
    for (let i = 0; i < a.length; i++)
      worst = Math.max(worst, Math.abs(a[i] - b[i]) / (1 + Math.abs(b[i])))
    checks.check(`references ${format} agree`, worst < 1e-12, `worst ${worst}`)
    await gpu.close()
    await cpu.close()
  })
}

await checkOperands(checks)
await checkComparison(checks)
await checkCommandLine(checks)
console.log(since(), `device code: ${checks.passed} passed, ${checks.failed} failed`)

// 3. A batch, an odd shape, other output types.
await checks.attempt('shapes', async () => {
  /** @type {[number, number, number, Parameters<typeof open>[4]][]} */
  const shapes = [
    [65, 33, 96, {}],
    [64, 48, 64, { operation: { batchA: [3], batchB: [1] } }],
    [64, 64, 128, { output: 'bf16' }],
    [64, 64, 128, { output: 'f32' }]
  ]
  for (const [m, n, k, more = {}] of shapes) {
    const session = await open('mxfp4', m, n, k, more)
    const tolerance = more.output === 'bf16' ? { atol: 1e-3, rtol: 5e-3 } : {}
    const report = await validated(session, 'example', tolerance)
    checks.check(
      `example ${m}x${n}x${k} ${JSON.stringify(more)}`,
      report.status === 'passed',
      report.reason
    )
    await session.close()
  }
})

// 4. What must be refused, in this process.
await checks.attempt('refusals', async () => {
  const session = await open('mxfp4', 256, 256, 256)
  const run = (kernel) => validated(session, kernel)
  await checks.refused(
    'compile error shows the line',
    'compile',
    /mistyped\.cu\(2\).*notDeclared/s,
    () => run('mistyped')
  )
  await checks.refused(
    'fewer arguments than parameters',
    'usage',
    /short \(overrun\) has 2 parameters in the source and is given 1 argument/,
    () => run('short')
  )
  await checks.refused('unknown kernel', 'usage', /no kernel/, () => run('nonesuch'))
  await checks.refused('overrun of C', 'device', /overruns writes outside C/, () => run('overruns'))
  const wrong = await run('wrong')
  checks.check(
    'ignored scales fail',
    wrong.status === 'incorrect' && wrong.failures.length > 0,
    wrong.reason
  )
  await session.close()
  await checks.refused('no such device', 'unavailable', /cuda:9/, () =>
    open('mxfp4', 256, 256, 256, { device: 'cuda:9' })
  )
})

await checks.attempt('plain reads', () => checkReads(checks, device))

// 5. What takes the context with it, each in a process of its own.
const folder = dirname(fileURLToPath(import.meta.url))
const inProcess = (script, args, env = {}) =>
  execFileSync(process.execPath, [join(folder, script), ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env }
  }).trim()
await checks.attempt('fault', async () => {
  const said = inProcess('fault.mjs', ['faults'])
  checks.check(
    'illegal address',
    /^device: Kernel faults read or wrote outside its memory/.test(said),
    said
  )
  checks.check(
    'a lost context is not used again',
    /^then device: .*was lost by an earlier error of this process; restart the engine/m.test(said),
    said
  )
})
await checks.attempt('hang', async () => {
  const said = inProcess('fault.mjs', ['hangs'], { BLOCKSCOPE_WATCHDOG_SECONDS: '3' })
  checks.check('hang', /^device: Kernel hangs did not end within 3 s/.test(said), said)
})
await checks.attempt('hidden devices', async () => {
  const said = inProcess('detect.mjs', [], { CUDA_VISIBLE_DEVICES: '' })
  checks.check('CUDA_VISIBLE_DEVICES empty', /hides every GPU/.test(said), said)
})
await checks.attempt('other programs on the GPU', async () => {
  const others = async () =>
    (await addon.detect()).devices.find((d) => d.id === device.id)?.properties.otherComputeProcesses
  const before = await others()
  const holder = spawn(process.execPath, [join(folder, 'hold.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  await new Promise((opened, failed) => {
    holder.stdout.once('data', opened)
    holder.once('exit', (code) => failed(new Error(`hold.mjs ended with code ${code}`)))
  })
  const during = await others()
  const ended = new Promise((after) => holder.once('exit', after))
  holder.stdin.end()
  await ended
  const after = await others()
  checks.check(
    'another program is counted while it is there',
    before !== undefined && during === Number(before) + 1 && after === before,
    `${before} ${during} ${after}`
  )
})
await checks.attempt('out of memory', async () => {
  const session = await open('mxfp4', 300000, 300000, 32)
  const run = () => validated(session, 'example')
  await checks.refused('out of memory', 'device', /Not enough memory.*GiB needed.*GiB free/, run)
  await session.close()
})
console.log(since(), `faults: ${checks.passed} passed, ${checks.failed} failed`)

// 6. Timing: an operation agrees with itself, with CUPTI, and hot is not slower than cold.
await checks.attempt('timing', async () => {
  const session = await open('mxfp4', 2048, 2048, 2048)
  const kernel = 'cublaslt-bf16'
  const measure = (more) =>
    session.measure({ ...measureDefaults, kernel, ...more }, addon.createCancelFlag())
  const [first, second, hot] = [
    await measure({}),
    await measure({ sustainedNs: 0.5e9 }),
    await measure({ cold: false })
  ]
  const [a, b, h] = [first, second, hot].map((r) => median(r.samplesNs))
  checks.check('twice the same', Math.abs(a - b) / a < 0.03, `${a} ${b}`)
  checks.check('hot is not slower', h < a * 1.03, `cold ${a} hot ${h}`)
  if (first.launches.length)
    checks.check(
      'CUPTI agrees',
      Math.abs(cuptiNs(first) - a) / a < 0.1,
      `events ${a} CUPTI ${cuptiNs(first)}`
    )
  checks.check(
    'power is read',
    second.joulesPerLaunch > 0 && second.meanWatts > 0,
    `${second.joulesPerLaunch} J`
  )
  console.log(
    'timing',
    first.cacheMode,
    first.stopReason,
    first.badges,
    `n ${first.samplesNs.length}`,
    a,
    b,
    h,
    `CUPTI ${cuptiNs(first)}`,
    `MHz ${median(first.samplesMHz)}`,
    `W ${second.sustainedWatts}`,
    first.launches[0]?.name
  )
  await session.close()
  // Launches of which a sample is a graph, long enough for many of them to be queued at once.
  const large = await open('mxfp4', 4096, 4096, 4096)
  const kept = await large.measure(
    { ...measureDefaults, kernel, sustainedNs: 0.5e9 },
    addon.createCancelFlag()
  )
  const once = median(kept.samplesNs)
  const limitW = Number(device.properties.powerLimitW)
  checks.check(
    'back to back as fast as alone, at a power that the GPU has',
    Math.abs(kept.sustainedNs / once - 1) < 0.25 &&
      kept.sustainedWatts > 0.5 * limitW &&
      kept.sustainedWatts < 1.15 * limitW,
    `${once} ns, ${kept.sustainedNs} ns, ${kept.sustainedWatts} W`
  )
  await large.close()
  const small = await open('mxfp4', 128, 128, 128)
  const tiny = await small.measure({ ...measureDefaults, kernel }, addon.createCancelFlag())
  checks.check(
    'small launches are grouped',
    tiny.launchesPerSample > 1 && tiny.badges.includes('grouped'),
    `${median(tiny.samplesNs)} ns`
  )
  console.log(
    '128^3',
    median(tiny.samplesNs),
    'ns,',
    tiny.cacheMode,
    'R',
    tiny.launchesPerSample,
    'CUPTI',
    cuptiNs(tiny)
  )
  await small.close()
})
console.log(since(), `timing: ${checks.passed} passed, ${checks.failed} failed`)

// 7. Python kernels, where there is a Python with Triton: through the command line, as a person runs them.
if (hasTriton())
  await checks.attempt('Python kernels', async () => {
    await checkPythonKernels(checks, device.architecture)
    console.log(since(), `Python kernels: ${checks.passed} passed, ${checks.failed} failed`)
  })

// 8. The comparison table.
const rows = []
if (size > 0) {
  for (const format of formats.filter(named)) {
    await checks.attempt(`table ${format}`, async () => {
      const opening = Date.now()
      const session = await open(format, size, size, size)
      const flag = addon.createCancelFlag()
      await session.reference(flag)
      console.log(since(), `${format}: operands and reference ${Date.now() - opening} ms`)
      for (const kernel of kernels) {
        if (!able(kernel, format) || /^(example|decode)|-emulated$/.test(kernel.id)) continue
        await checks.attempt(`${kernel.id} ${format} ${size}^3`, async () => {
          const report = await validated(session, kernel.id)
          const result = await session.measure({ ...measureDefaults, kernel: kernel.id }, flag)
          const ns = median(result.samplesNs)
          const tflops = (2 * size ** 3) / ns / 1e3
          const row = {
            format,
            kernel: kernel.id,
            status: report.status,
            normwise: report.normwise,
            outside: report.elementsOutside,
            ns,
            tflops,
            cuptiNs: cuptiNs(result),
            n: result.samplesNs.length,
            mhz: median(result.samplesMHz),
            watts: result.meanWatts,
            badges: result.badges,
            launches: launchTimes(result.launches).map((ns, at) => {
              const { name, registersPerThread } = result.launches[at]
              return [name, ns, registersPerThread]
            })
          }
          rows.push(row)
          console.log(
            format.padEnd(16),
            kernel.id.padEnd(20),
            report.status.padEnd(10),
            `${tflops.toFixed(0)} TFLOP/s`.padEnd(14),
            `${(ns / 1e3).toFixed(1)} us`,
            `CUPTI ${(cuptiNs(result) / 1e3).toFixed(1)}`,
            `err ${report.normwise.toExponential(2)}`,
            `out ${report.elementsOutside}`,
            `MHz ${row.mhz?.toFixed(0)}`,
            result.badges.join(',')
          )
          checks.check(
            `${kernel.id} ${format} clock is read`,
            row.mhz > 100 || ns < 100e3,
            `${row.mhz} MHz`
          )
          if (!kernel.baseline)
            checks.check(`${kernel.id} ${format} passes`, report.status === 'passed', report.reason)
          if (row.cuptiNs > 0)
            checks.check(
              `${kernel.id} ${format} CUPTI agrees`,
              Math.abs(row.cuptiNs - ns) / ns < 0.1
            )
        })
      }
      await session.close()
      if (resultFile)
        writeFileSync(resultFile, JSON.stringify({ device, libraries, rows }, null, 1))
    })
  }
  if (hasTriton())
    await checks.attempt('Triton', async () =>
      rows.push(...(await tritonRows(formats.filter(named), size)))
    )
}
if (resultFile) writeFileSync(resultFile, JSON.stringify({ device, libraries, rows }, null, 1))
rmSync(cache, { recursive: true })
checks.end()
