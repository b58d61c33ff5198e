/** Approximate kernels through the real program: each is judged by the error that it states, in one way at every door. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Run } from '@shared/contract/run'
import { stepLines } from '@shared/report/stepLines'
import { runToHtml } from '@shared/report/html'
import { pythonHas } from '../../support/python'
import { runInProcess } from '../../support/runInProcess'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-stated-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const hasNumpy = pythonHas('numpy')
if (!hasNumpy) console.warn('Skipped: errors that Python kernels state; this Python has no numpy.')

/** Rounds C to a grid: of 0.01 of its rms with 0 bits lost, whose norm-wise error is 0.01 / sqrt(12) = 2.9e-3. */
function kernelThatLoses(bits: number, error: string, more = ''): string {
  const path = join(folder, `loses${bits}-${error.replace(/\W+/g, '-')}${more ? '-more' : ''}.py`)
  const plain = readFileSync('resources/providers/templates/numpy.py', 'utf8')
  writeFileSync(
    path,
    plain
      .replace(
        'formats = ["nvfp4", "mxfp4", "mxfp8", "mixed"]',
        `formats = {"mxfp8": {"level": "approximate"${error}}}`
      )
      .replace(
        '        operands.c[...] =',
        `        grid = ${0.01 * 2 ** bits} * 11.3\n        product = numpy.round(product / grid) * grid\n${more}        operands.c[...] =`
      )
  )
  return path
}

async function ran(command: 'validate' | 'sweep', path: string, ...words: string[]) {
  const result = await runInProcess([
    ...[command, '--provider', path, '--kernels', 'my-kernel', '--formats', 'mxfp8'],
    ...['--device', 'cpu', '-M', '128', '-N', '128', '-K', '128', '--out', 'f32', '--json'],
    ...['--store', join(folder, 'store'), ...words]
  ])
  const run = JSON.parse(result.stdout) as Run
  return { code: result.code, run, step: run.steps[0]! }
}

const states = ', "error": {"normal": 4e-3}'

describe.skipIf(!hasNumpy)('an approximate kernel', () => {
  it('that keeps to what it states passes, and every place says how it stands to it', async () => {
    const { code, run, step } = await ran('validate', kernelThatLoses(0, states))
    expect([code, step.disposition, step.reason]).toEqual([0, 'passed', ''])
    const { withinStated, statedError, errorBeforeRounding } = step.validation!
    expect(withinStated).toBeGreaterThan(100)
    expect(statedError).toBe(4e-3)
    expect(errorBeforeRounding).toBeGreaterThan(2.5e-3)
    const line = expect.stringMatching(
      /^my-kernel: mxfp8 128 x 128 x 128: approximate: error [23]\.\de-3 of 4\.0e-3 stated$/
    )
    expect(stepLines(run)).toEqual([{ title: 'Stated errors', lines: [line] }])
    expect(runToHtml(run)).toMatch(/<h2>Stated errors<\/h2><p>my-kernel: .* of 4\.0e-3 stated<\/p>/)
  })

  it('that loses a bit more is incorrect, and a sweep does not time it', async () => {
    const path = kernelThatLoses(1, states)
    const { code, step } = await ran('validate', path)
    expect([code, step.disposition]).toEqual([1, 'incorrect'])
    expect(step.reason).toMatch(
      /^The norm-wise error is [56]\.\de-3; the kernel states 4\.0e-3 for these operands\.$/
    )
    const swept = await ran('sweep', path, '--reps', '3')
    expect([swept.step.disposition, swept.step.measurement]).toEqual(['incorrect', undefined])
  })

  it('with one wrong element is incorrect', async () => {
    const { step } = await ran(
      'validate',
      kernelThatLoses(0, states, '        product[3, 5] += 20\n')
    )
    expect(step.reason).toMatch(
      /^1 of 16384 elements are outside what the kernel states, the first at row 3, column 5\.$/
    )
  })

  it('that states nothing of such operands is judged by the tolerance', async () => {
    for (const error of ['', ', "error": {"positive": 4e-3}']) {
      const { code, step } = await ran('validate', kernelThatLoses(0, error))
      expect([code, step.disposition, step.validation!.statedError]).toEqual([
        ...[1, 'incorrect', undefined]
      ])
      expect(step.reason).toMatch(/elements are outside the tolerance/)
    }
  })

  it('is judged by the tolerance alone where that is asked for', async () => {
    const { step } = await ran(
      'validate',
      kernelThatLoses(0, states),
      ...['--rule', 'assert-close']
    )
    expect([step.disposition, step.validation!.statedError]).toEqual(['incorrect', undefined])
  })

  it('whose file states it of no distribution there is: one sentence', async () => {
    const path = kernelThatLoses(0, ', "error": {"usual": 4e-3}')
    const { code, stderr } = await runInProcess(['validate', '--provider', path])
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/must be for one of normal, positive, wide-scales/)
  })
})
