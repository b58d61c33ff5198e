/** What the command line says became of a run, and the exit code that goes with it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Run } from '@shared/contract/run'
import { runInProcess } from '../../../support/runInProcess'
import { sampleRun, sampleStep } from '../../../support/sampleRun'
import { makeMeasurement } from '../../renderer/support/samples'

let folder: string
let store: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'blockscope-verdicts-'))
  store = join(folder, 'store')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const run = (...args: string[]) => runInProcess([...args, '--store', store])
const small = ['-M', '128', '-N', '128', '-K', '256']

/** A file of operands with one code a byte; `change` puts values into it. */
async function operandsFile(name: string, change: (tensors: Record<string, Uint8Array>) => void) {
  const [m, n, k, vec] = [64, 64, 128, 32]
  const shapes = {
    a_codes: [m, k],
    b_codes: [n, k],
    a_scales: [m, k / vec],
    b_scales: [n, k / vec]
  }
  const tensors = Object.fromEntries(
    Object.entries(shapes).map(([tensor, [rows, columns]]) => [
      tensor,
      Uint8Array.from({ length: rows! * columns! }, (_, i) =>
        tensor.endsWith('codes') ? (i * 7 + (i >> 4)) % 16 : 125 + (i % 4)
      )
    ])
  )
  change(tensors)
  let at = 0
  const header: Record<string, unknown> = {
    __metadata__: { a: 'e2m1', b: 'e2m1', scale: 'e8m0', vec: String(vec) }
  }
  for (const [tensor, shape] of Object.entries(shapes)) {
    const end = at + tensors[tensor]!.length
    header[tensor] = { dtype: 'U8', shape, data_offsets: [at, end] }
    at = end
  }
  const text = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(text.length))
  const path = join(folder, name)
  await writeFile(path, Buffer.concat([length, text, ...Object.values(tensors)]))
  return path
}

describe('operands with NaN', () => {
  it('pass where the kernel gives NaN as the definition does', async () => {
    const path = await operandsFile('nan.safetensors', (tensors) => {
      tensors['a_scales']![5] = 0xff
      tensors['b_scales']![9] = 0xff
    })
    const { code, stdout } = await run('validate', '--operands', path, '--json')
    const { steps } = JSON.parse(stdout) as Run
    expect(steps.map(({ disposition, reason }) => [disposition, reason])).toEqual(
      steps.map(() => ['passed', ''])
    )
    expect(steps[0]!.validation!.nonFinite).toBeGreaterThan(0)
    expect(steps[0]!.validation!.perturbationB.state).toBe('passed')
    expect(code).toBe(0)
  })
})

describe('the rule of passing', () => {
  const exact = ['--formats', 'mxfp8', '--out', 'f32', '--atol', '0', '--rtol', '0']

  it('is wider than the tolerance, and says what passed by that alone', async () => {
    const { code, stdout } = await run('validate', ...exact, ...small, '--json')
    const { validation } = (JSON.parse(stdout) as Run).steps[0]!
    expect(code).toBe(0)
    expect(validation!.rule).toBe('allowances')
    expect(validation!.withinCancellation! + validation!.withinRounding!).toBeGreaterThan(0)
  })

  it('can be the tolerance alone', async () => {
    const rule = ['--rule', 'assert-close']
    const { code, stdout } = await run('validate', ...exact, ...small, ...rule)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^Failed: 0 of \d+ passed, \d+ failed, on /m)
    expect(stdout).toContain('|got - ref| <= 0 + 0 |ref|, and by nothing else (assert-close)')
  })

  it('stands beside the verdict, with headroom and the error above the rounding', async () => {
    const { stdout } = await run('validate', '--formats', 'mxfp4', ...small)
    expect(stdout).toContain('of tolerance (%)')
    expect(stdout).toContain('above rounding (ulp)')
    expect(stdout).toContain('kernel (us)')
    expect(stdout).toContain('An element passes when |got - ref| <= 0.001 + 0.001 |ref|')
  })
})

describe('runs compare --fail-on-slow', () => {
  it('fails when the two runs have nothing in common', async () => {
    const files = await Promise.all(
      ['mxfp4', 'nvfp4'].map(async (format) => {
        const measured = sampleStep(0, { format, measurement: makeMeasurement(1e6, 1e9) })
        const path = join(folder, `${format}.json`)
        await writeFile(path, JSON.stringify(sampleRun({ id: format, steps: [measured] })))
        return path
      })
    )
    for (const path of files) expect((await run('runs', 'import', path)).code).toBe(0)
    const gate = await run('runs', 'compare', 'mxfp4', 'nvfp4', '--fail-on-slow')
    expect(gate.code).toBe(1)
    expect(gate.stderr).toContain('Nothing was compared')
    expect((await run('runs', 'compare', 'mxfp4', 'nvfp4')).code).toBe(0)
    expect((await run('runs', 'compare', 'mxfp4', 'mxfp4', '--fail-on-slow')).code).toBe(0)
    const { stdout } = await run('runs', 'list')
    expect(stdout).toMatch(/mxfp4 +Passed +1 of 1 measured/)
  })
})
