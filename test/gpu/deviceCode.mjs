// What the GPU does for itself, against the CPU: operands byte for byte, and the comparison with the reference.
import { addon, open, validateDefaults } from './addon.mjs'

const distributions = [
  'normal',
  'positive',
  'wide-scales',
  'tutorial',
  'uniform-codes',
  'adversarial',
  'zeros'
]
const formats = [
  'nvfp4',
  'mxfp4',
  'mxfp4_b16',
  'mxfp8',
  'mxfp8_e5m2',
  'mxfp8_e4m3_e5m2',
  'mixed',
  'mxfp6_e2m3',
  'mxfp6_e3m2',
  'w4a16_mxfp4',
  'w4a16_nvfp4'
]

async function onBoth(work, format, m, n, k, more) {
  const sessions = [
    await open(format, m, n, k, more),
    await open(format, m, n, k, { ...more, device: 'cpu' })
  ]
  try {
    return await Promise.all(sessions.map(work))
  } finally {
    for (const session of sessions) await session.close()
  }
}

/** Generated on the GPU and on the CPU: the same bytes, for every format and distribution. */
export async function checkOperands(checks) {
  for (const format of formats) {
    await checks.attempt(`operands ${format}`, async () => {
      const different = []
      for (const [i, distribution] of distributions.entries()) {
        const operation = { batchA: [1 + (i % 2)], accumulate: true }
        const more = { distribution, seed: 2 ** 33 + i, operation }
        const [gpu, cpu] = await onBoth((s) => s.operands(), format, 130, 70, 1056, more)
        for (const array of ['aCodes', 'bCodes', 'aScales', 'bScales']) {
          if (Buffer.compare(gpu[array], cpu[array])) different.push(`${distribution} ${array}`)
        }
        if (gpu.accumulator.some((value, at) => value !== cpu.accumulator[at]))
          different.push(`${distribution} accumulator`)
      }
      checks.check(`operands ${format} are the CPU's`, different.length === 0, different.join(', '))
    })
  }
}

/** A C with faults of every sort is judged the same on the GPU and on the CPU. */
export async function checkComparison(checks) {
  const [m, n, k] = [70, 150, 256]
  const operation = { batchA: [2], batchB: [2] }
  /** @type {[string, (values: Float64Array) => { buffer: ArrayBuffer }][]} */
  const types = [
    ['f32', (values) => Float32Array.from(values)],
    ['bf16', (values) => toBf16(values)]
  ]
  for (const [output, make] of types) {
    // The last: as of a baseline that computes something else.
    for (const faults of [0, 40, 20000]) {
      const name = `comparison ${output}, ${faults} faults`
      await checks.attempt(name, async () => {
        const judge = async (session) => {
          const reference = await session.reference(addon.createCancelFlag())
          const values = Float64Array.from(reference, (v, i) => v * (1 + ((i % 7) - 3) * 1e-5))
          const wrong = [NaN, Infinity, -Infinity, 0, 1e30]
          for (let i = 0; i < faults; i++)
            if (faults < 1000) values[(i * 7919) % values.length] = wrong[i % 5]
            else values[i] *= 1 + (i % 11) * 1e-3
          const bytes = new Uint8Array(make(values).buffer)
          return session.judge(
            bytes,
            { ...validateDefaults, kernel: 'given' },
            addon.createCancelFlag()
          )
        }
        const reports = await onBoth(judge, 'mxfp4', m, n, k, { output, operation })
        const [gpu, cpu] = reports
        for (const report of reports) {
          delete report.oracle
          delete report.oracleSeconds
        }
        // Sums, which the device takes in another order.
        for (const figure of ['normwise', 'referenceRms', 'meanUlpsAboveRounding']) {
          const apart = Math.abs(gpu[figure] - cpu[figure])
          checks.check(
            `${name}: ${figure}`,
            apart <= 1e-12 * cpu[figure],
            `${gpu[figure]} ${cpu[figure]}`
          )
          delete gpu[figure]
          delete cpu[figure]
        }
        checks.check(`${name}: is as meant`, faults > 0 === gpu.elementsOutside > 0)
        const [seen, expected] = [gpu, cpu].map(asText)
        checks.check(`${name}: figures`, seen === expected, `\n${seen}\n${expected}`)
      })
    }
  }
}

const asText = (figures) =>
  JSON.stringify(figures, (_, value) =>
    ArrayBuffer.isView(value) ? [.../** @type {Uint8Array} */ (value)] : value
  )

/** Truncated: near enough for the tolerance of bf16. */
function toBf16(values) {
  const bits = new Uint32Array(Float32Array.from(values).buffer)
  return Uint16Array.from(bits, (word) => (word + 0x8000) >>> 16)
}
