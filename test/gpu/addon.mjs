// The addon and the kernel manifests, without the engine: what the GPU tests drive.
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..')

export const addon = createRequire(import.meta.url)(
  join(root, 'native/build/Release/blockscope.node')
)

function kernelSources(folder) {
  const { kernels } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  return kernels.map((row) => ({
    id: row.id,
    provider: row.provider ?? 'user',
    summary: row.summary,
    file: join(folder, row.file),
    manifestJson: JSON.stringify(row)
  }))
}

export function configure(cacheDirectory) {
  addon.configure({
    kernelSources: [
      ...kernelSources(join(root, 'resources/kernels/cuda')),
      ...kernelSources(join(root, 'test/gpu/kernels'))
    ],
    cacheDirectory
  })
}

export const validateDefaults = { atol: 1e-3, rtol: 1e-3, maxFailures: 4, mapTiles: 16 }

export const measureDefaults = {
  cold: true,
  warmupNs: 100e6,
  minSamples: 20,
  minTimeNs: 0.1e9,
  maxRelativeStdev: 0.005,
  maxSamples: 10000,
  timeoutNs: 2e9,
  fixedSamples: 0,
  sustainedNs: 0,
  recordLaunches: true
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]
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
      await work()
    } catch (error) {
      this.check(name, false, `${error.code ?? ''} ${error.message}`)
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
  end() {
    console.log(`${this.passed} passed, ${this.failed} failed`)
    process.exitCode = this.failed ? 1 : 0
  }
}

export function open(format, m, n, k, more = {}) {
  const { device = 'cuda:0', output = 'f16', distribution = 'normal', seed = 42, batch = 1 } = more
  return addon.open(
    { device, format, m, n, k, batch, output, operands: more.operands ?? { distribution, seed } },
    addon.createCancelFlag()
  )
}
