import { expect, it } from 'vitest'
import { runInProcess } from '../../../support/runInProcess'

const explain = (...words: string[]) =>
  runInProcess(['kernels', 'explain', '--format', 'mxfp4', ...words])

it('explains the choice for the device of a run that was made elsewhere', async () => {
  const { code, stdout } = await explain(
    ...['-M', '16', '-N', '8192', '-K', '8192', '--device-of', 'docs/results/h200-k-sweep']
  )
  expect(code).toBe(0)
  expect(stdout).toContain('mxfp4 16 x 8192 x 8192, f16 out, on NVIDIA H200 (sm_90)')
  expect(stdout).toMatch(/^auto: decode-fp8, the fastest of \d exact kernels/m)
  // Stages with nothing to do (K is not divided here) are left out.
  const stages =
    /launches ([\d.]+) us; prepare ([\d.]+) us; read ([\d.]+) us; multiply ([\d.]+) us, 97 % filled$/
  const row = stdout.split('\n').find((line) => line.startsWith('decode-fp8 '))!
  const parts = stages.exec(row)!.slice(1).map(Number)
  const predicted = Number(/^decode-fp8 +exact +([\d.]+) us/.exec(row)![1])
  const sum = parts.reduce((total, part) => total + part, 0)
  // Five numbers, each rounded to a tenth.
  expect(Math.abs(sum - predicted)).toBeLessThan(0.26)
  expect(stdout).not.toMatch(/ 0\.0 us/)
  // What is said of several kernels is said once.
  expect(stdout.match(/^peak of fp8: /gm)).toHaveLength(1)
  expect(stdout).toMatch(/^constants of (?=[^:]*wgmma-fp8-p32)(?=[^:]*wgmma-fp8-p64)/m)
  expect(stdout).toMatch(/^left out: cublaslt-bf16, cublaslt-fp8: a baseline/m)
})

it('refuses a shape that the format cannot have, and a folder that is no run', async () => {
  const bad = await explain('-M', '16', '-N', '16', '-K', '33')
  expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('33')])
  const none = await explain('-M', '1', '-N', '1', '-K', '32', '--device-of', 'docs/nowhere')
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('nowhere')])
})

it('refuses a folder of kernels that does not load, for a device of elsewhere too', async () => {
  const { code, stderr } = await explain(
    ...['-M', '16', '-N', '8192', '-K', '8192', '--device-of', 'docs/results/h200-k-sweep'],
    ...['--kernel-dir', 'docs']
  )
  expect(code).toBe(2)
  expect(stderr).toMatch(/^blockscope: --kernel-dir: .*\/docs has no manifest\.json\.$/m)
})
