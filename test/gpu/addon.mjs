// The addon and the kernel manifests, without the engine: what the GPU tests drive.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sideBySide } from './sideBySide.mjs'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..')

// By a name that type checking does not follow: it is built, not written.
export const built = (name) => import(new URL(`../../out/node/${name}.js`, import.meta.url).href)
const { readKernelManifests } = await built('kernelManifests')
/** @type {typeof import('../../src-shared/measurement/launchTimes')} */
const { launchTimes, totalOf } = await built('launchTimes')
export { launchTimes }

/** @type {import('../../src-main/engine/nativeBinding').NativeBinding} */
export const addon = createRequire(import.meta.url)(
  join(root, 'native/build/Release/blockscope.node')
)

// CUDA's libraries take these signals and then call whoever had them: Node's own raises them again, for ever.
for (const [name, code] of /** @type {const} */ ([
  ['SIGINT', 130],
  ['SIGTERM', 143]
]))
  process.on(name, () => process.exit(code))

let rows = []

export function configure(
  cacheDirectory,
  own = ['test/gpu/kernels'],
  shipped = 'resources/kernels/cuda'
) {
  const folders = [shipped, ...own].map((folder) => resolve(root, folder))
  const { sources, warnings } = readKernelManifests(folders)
  if (warnings.length) throw new Error(warnings.join('\n'))
  rows = sources
  addon.configure({ kernelSources: sources, cacheDirectory })
}

/** The CUDA device, with those kernels, and a cache that lasts as long as the process. Without one there is nothing to test. */
export async function cudaDevice(own) {
  const cache = mkdtempSync(join(tmpdir(), 'blockscope-gpu-'))
  process.on('exit', () => rmSync(cache, { recursive: true, force: true }))
  configure(cache, own)
  const device = (await addon.detect()).devices.find(({ kind }) => kind === 'cuda')
  if (device) return device
  console.log('No CUDA device: nothing to test.\n0 passed, 0 failed')
  process.exit(0)
}

/** What a result file says of a device: which one, and its driver. @param {{ name: string, architecture: string, properties: Record<string, unknown> }} device */
export const briefly = ({ name, architecture, properties: { driverVersion, memoryBytes } }) => ({
  name,
  architecture,
  driverVersion,
  memoryBytes
})

/** @type {Omit<import('../../src-main/engine/nativeBinding').NativeValidateRequest, 'kernel'>} */
export const validateDefaults = {
  atol: 1e-3,
  rtol: 1e-3,
  rule: 'allowances',
  maxFailures: 4,
  mapTiles: 16
}

/** @type {Omit<import('../../src-main/engine/nativeBinding').NativeMeasureRequest, 'kernel'>} */
export const measureDefaults = {
  cold: true,
  warmupLaunches: 0,
  warmupNs: 100e6,
  minSamples: 20,
  minTimeNs: 0.1e9,
  maxRelativeStdev: 0.005,
  maxSamples: 10000,
  timeoutNs: 2e9,
  fixedSamples: 0,
  sustainedNs: 0,
  recordLaunches: true,
  companions: 0
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]
}

/** @param {Partial<import('../../src-main/engine/nativeBinding').NativeValidateRequest>} [more] */
export const validated = (session, kernel, more) =>
  session.validate({ ...validateDefaults, ...more, kernel }, addon.createCancelFlag())

/** Whether an approximate kernel keeps to the error that its row states; nothing is checked where it states none. */
export async function keepsToItsError(checks, session, id, format, distribution) {
  const row = rows.find((one) => one.id === id)?.formats.find((one) => one.format === format)
  const statedError = row?.error?.[distribution]
  if (statedError === undefined) return
  const { status, reason, errorBeforeRounding } = await validated(session, id, { statedError })
  const name = `${id} keeps to what it states of ${format} ${distribution}`
  checks.check(name, status === 'passed', `${errorBeforeRounding} of ${statedError}. ${reason}`)
}

/** The time in which any of the launches of one operation ran. */
export const cuptiNs = ({ launches }) => totalOf(launchTimes(launches))

/** Median time and clock, and what one run launches. @param {Partial<import('../../src-main/engine/nativeBinding').NativeMeasureRequest>} [more] */
export async function timed(session, kernel, more) {
  const request = { ...measureDefaults, ...more, kernel }
  const measured = await session.measure(request, addon.createCancelFlag())
  return {
    ns: median(measured.samplesNs),
    mhz: median(measured.samplesMHz),
    launches: launchTimes(measured.launches).map((ns, at) => ({
      name: measured.launches[at].name.replace(/\(.*/, ''),
      us: ns / 1e3
    })),
    badges: measured.badges
  }
}
export const listed = (launches) => launches.map(({ name, us }) => `${name} ${us.toFixed(1)}`)

/**
 * Whether a validated product is right: an exact kernel's in every element; others' by their error as a whole, or, where C is so
 * coarse that its rounding is larger than that, by how few elements are rounded to the next number; by these alone where C
 * `saturates`, which the error as a whole takes for one.
 */
export function isRight(
  { status, normwise, elementsOutside, elements },
  isExact,
  saturates = false
) {
  if (status === 'passed' || isExact) return status === 'passed'
  const fewAreOff = elementsOutside < 0.01 * elements
  return saturates ? fewAreOff : normwise < 1e-2 || (normwise < 0.06 && fewAreOff)
}

/** Counts and prints checks; the process ends with 1 when one failed. */
export class Checks {
  passed = 0
  failed = 0
  check(name, ok, detail = '') {
    if (ok) this.passed++
    else this.failed++
    if (!ok || process.env.VERBOSE) console.log(`${ok ? 'pass' : 'FAIL'}  ${name}  ${detail}`)
  }
  async attempt(name, work) {
    try {
      return await work()
    } catch (error) {
      this.check(name, false, `${error.code ?? ''} ${error.message}`)
      return undefined
    }
  }
  /** `work` must be refused with this code and words. */
  async refused(name, code, words, work) {
    try {
      await work()
      this.check(name, false, 'was not refused')
    } catch (error) {
      this.check(
        name,
        error.code === code && words.test(error.message),
        `${error.code}: ${error.message}`
      )
    }
  }
  /** `node file ...words` for each of `tasks`, several side by side; each ends with what it counted. */
  async inProcesses(file, tasks) {
    const one = async (task) => {
      const child = spawn(process.execPath, [file, ...task], {
        stdio: ['ignore', 'pipe', 'inherit']
      })
      let said = ''
      for await (const text of child.stdout) said += text
      const counted = /(\d+) passed, (\d+) failed\n$/.exec(said)
      if (counted) process.stdout.write(said.slice(0, counted.index))
      else this.check(`${basename(file)} ${task.join(' ')} ends`, false, said)
      this.passed += Number(counted?.[1] ?? 0)
      this.failed += Number(counted?.[2] ?? 0)
    }
    await sideBySide(tasks, one, { atOnce: Math.min(16, availableParallelism() - 1) })
  }
  end() {
    console.log(`${this.passed} passed, ${this.failed} failed`)
    process.exitCode = this.failed ? 1 : 0
  }
}

export function open(format, m, n, k, more = {}) {
  const { device = 'cuda:0', output = 'f16', distribution = 'normal', seed = 42 } = more
  const operation = { batchA: [], batchB: [], ...more.operation }
  return addon.open(
    {
      device,
      format,
      m,
      n,
      k,
      output,
      ...operation,
      operands: more.operands ?? { distribution, seed }
    },
    addon.createCancelFlag()
  )
}
