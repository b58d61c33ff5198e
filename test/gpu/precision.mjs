// Error of every promotion interval on data that strains a narrow accumulator, next to the exact path.
// NODE test/gpu/precision.mjs [size of M and N] [K] [result file]; prints a table, 'N passed, N failed'.
import { writeFileSync } from 'node:fs'
import { Checks, configure, keepsToItsError, open, validated } from './addon.mjs'

const size = Number(process.argv[2] ?? 2048)
const k = Number(process.argv[3] ?? 8192)
const resultFile = process.argv[4]
const kernels = ['wgmma', ...[32, 64, 128, 256].map((p) => `wgmma-fp8-p${p}`)]
const checks = new Checks()
configure('')
const rows = []
for (const distribution of ['normal', 'positive', 'wide-scales']) {
  for (const output of ['f32', 'f16']) {
    const session = await open('mxfp4', size, size, k, { distribution, output })
    for (const kernel of kernels) {
      await checks.attempt(`${kernel} ${distribution} ${output}`, async () => {
        const report = await validated(session, kernel)
        const { normwise, maxScaled, elementsOutside, elements, perturbationA, perturbationB } =
          report
        rows.push({
          distribution,
          output,
          kernel,
          normwise,
          maxScaled,
          outside: elementsOutside / elements,
          scales: perturbationA.state === 'passed' && perturbationB.state === 'passed'
        })
        await keepsToItsError(checks, session, kernel, 'mxfp4', distribution)
      })
    }
    await session.close()
  }
}
console.log(`mxfp4, M = N = ${size}, K = ${k}`)
console.log(
  'data         output kernel           norm-wise   max |d|/|A||B|  outside 1e-3   scales'
)
for (const row of rows) {
  console.log(
    row.distribution.padEnd(13) +
      row.output.padEnd(7) +
      row.kernel.padEnd(16) +
      row.normwise.toExponential(3).padStart(10) +
      row.maxScaled.toExponential(2).padStart(14) +
      `${(row.outside * 100).toFixed(4)} %`.padStart(14) +
      (row.scales ? '   used where they belong' : '   NOT CHECKED')
  )
}
// Exact inside the window: P = 32 errs as the bf16 path does, by float32 sums alone.
for (const distribution of ['normal', 'positive', 'wide-scales']) {
  const of = (kernel) =>
    rows.find((r) => r.distribution === distribution && r.output === 'f32' && r.kernel === kernel)
  const [exact, p32] = [of('wgmma'), of('wgmma-fp8-p32')]
  checks.check(
    `P = 32 errs no more than float32 sums on ${distribution}`,
    exact && p32 && p32.normwise <= Math.max(2 * exact.normwise, 1e-6) && p32.outside === 0,
    `${p32?.normwise} against ${exact?.normwise}`
  )
}
if (resultFile) writeFileSync(resultFile, JSON.stringify({ size, k, rows }, null, 1))
checks.end()
