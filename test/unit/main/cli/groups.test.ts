/** Grouped products through the real engine: validated, timed, and repeated from the command that a run records. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Run } from '@shared/contract/run'
import { runInProcess } from '../../../support/runInProcess'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-groups-'))
afterAll(() => rmSync(folder, { recursive: true }))
const small = ['--device', 'cpu', '--formats', 'mxfp8', '--kernels', 'cpu-portable']
const where = [...small, '-N', '48', '-K', '64', '--store', join(folder, 'store')]

describe('--groups', () => {
  it.each([
    [['--groups', '13,0,2x40', '--group-align', '64'], 192, 93 * 48],
    [['--groups', '5,0,7', '--group-layout', 'masked', '--max-rows', '16'], 48, 12 * 48],
    [['--groups', '256x1', '--group-layout', 'offsets'], 256, 256 * 48],
    [['--groups', '9'], 128, 9 * 48]
  ])('%j is validated, padding left out', async (flags, m, elements) => {
    const printed = await runInProcess(['validate', ...flags, ...where, '--json'])
    const run = JSON.parse(printed.stdout) as Run
    expect(printed.code).toBe(0)
    expect(run.steps.map((step) => [step.disposition, step.m])).toEqual([['passed', m]])
    expect(run.steps[0]!.validation!.elements).toBe(elements)
    expect(run.steps[0]!.work!.flops).toBe(2 * elements * 64)
    // The command makes the same groups.
    const words = run.command.split(' ').slice(1)
    const again = await runInProcess([...words, '--store', join(folder, 'store'), '--json'])
    expect((JSON.parse(again.stdout) as Run).spec.groups).toEqual(run.spec.groups)
  })

  it('are timed, alone and as the experts of a list', async () => {
    const list = join(folder, 'experts.csv')
    writeFileSync(
      list,
      'name,m,n,k,groups,weight,layout,rows\nup,16,48,64,3,2,contiguous,16 0 5\ndown,16,48,64,3,2,masked,\n'
    )
    const words = ['--store', join(folder, 'store'), '--reps', '3']
    const timed = await runInProcess(['sweep', '--shapes', list, ...small, ...words])
    expect(timed.code).toBe(0)
    expect(timed.stdout).toMatch(
      /^mxfp8 +up +2 +cpu-portable +256 +48 +64 +3 groups of 16, 0, 5 rows, contiguous +passed/m
    )
    expect(timed.stdout).toMatch(
      /^mxfp8 +down +2 +cpu-portable +48 +48 +64 +3 groups of 16 rows, masked +passed/m
    )
    const once = await runInProcess(['sweep', '--groups', '8,3', ...where, '--reps', '3'])
    expect(once.stdout).toContain('[M=256, N=48, K=64, 2 groups of 8, 3 rows, contiguous]')
  })

  it.each([
    [['--groups', '3', '-M', '3'], '--groups and -M exclude each other'],
    [['--groups', '3', '--batch', '2'], '--groups and --batch exclude each other'],
    [['--group-align', '64'], '--group-align goes with --groups'],
    [['--group-layout', 'masked'], '--group-layout goes with --groups or --shapes'],
    [['--groups', '0,0'], '--groups: none of the groups has a row.'],
    [
      ['--groups', '3,41', '--group-layout', 'masked', '--max-rows', '40'],
      '--groups: group 1 has 41 rows, and a masked group has room for 40.'
    ],
    [
      ['--groups', '3', '--group-layout', 'offsets', '--group-align', '64'],
      '--group-align is of contiguous groups, and these are offsets.'
    ],
    [
      ['--groups', '3', '--max-rows', '8'],
      '--max-rows is of masked groups, and these are contiguous.'
    ],
    [['--groups', '4096x9000'], '--groups: the groups have'],
    [['--groups', 'many'], 'Rows of groups are needed: 4x8192, or 300,0,17;'],
    [['--shapes', 'deepgemm-grouped', '--group-layout', 'masked'], 'is a list of shapes']
  ])('%j is refused in one sentence', async (words, sentence) => {
    const { code, stderr } = await runInProcess(['validate', ...words, ...small])
    expect(stderr).toContain(sentence)
    expect(code).toBe(2)
  })
})
