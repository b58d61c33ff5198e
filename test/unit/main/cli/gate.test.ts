/** The gate on the real engine; what its verdicts rest on is test/unit/shared/measurement and jobs/runGate.test.ts. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { BaselineFile, GateResult } from '@shared/contract/gate'
import { gitFolder } from '../../../../src-main/jobs/gate/gitFolder'
import { readKernelManifests } from '../../../../src-main/engine/kernelManifests'
import { runInProcess } from '../../../support/runInProcess'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-gate-test-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

/** One point of a kernel that every CPU has; the margin is wider than any machine's noise. */
const point = ['--device', 'cpu', '--formats', 'mxfp4', '-M', '16', '-N', '16', '-K', '64']
const few = ['--pairs', '12', '--samples', '3', '--store', at('store')]
const gate = (...words: string[]) => runInProcess(['gate', ...words, ...point, ...few])
const kernel = 'cpu-portable'

describe('blockscope gate', () => {
  it('times a kernel beside itself and writes every report', async () => {
    const files = ['--junit', at('g.xml'), '--markdown', at('g.md'), '--dashboard', at('g.json')]
    const { code, stdout } = await gate(kernel, kernel, '--margin', '99', ...files, '--json')
    const result = JSON.parse(stdout) as GateResult
    expect(result.points).toHaveLength(1)
    expect(result.points[0]!.base.samplesNs).toHaveLength(12)
    expect(result.points[0]!.estimate.method).toBe('pairs')
    expect(code).toBe(result.passed ? 0 : 1)
    expect(readFileSync(at('g.xml'), 'utf8')).toContain('name="cpu-portable M=16 N=16 K=64"')
    expect(readFileSync(at('g.md'), 'utf8')).toContain('| verdict | kernel |')
    expect(JSON.parse(readFileSync(at('g.json'), 'utf8'))).toHaveLength(1)
    const again = await gate(kernel, kernel, ...files)
    expect(again.stderr).toContain('g.xml exists; choose another name, or replace it with --force')
    expect(again.code).toBe(2)
  })

  it('does not pass on too few pairs', async () => {
    const { code, stdout } = await gate(kernel, kernel, '--confidence', '99.99')
    expect(stdout).toMatch(/^INSUFFICIENT +cpu-portable mxfp4 .*: 12 pairs: no interval/m)
    expect(stdout).toContain('Not passed: 0 of 1 passed: 1 insufficient.')
    expect(code).toBe(1)
  })

  it('keeps a baseline, and refuses one of another device, none, and what is none', async () => {
    const baseline = ['--baseline', at('baseline.json')]
    const missing = await gate(kernel, ...baseline)
    expect(missing.stderr).toMatch(/baseline\.json does not exist; --record makes a baseline/)
    expect(missing.code).toBe(2)

    const recorded = await gate(kernel, ...baseline, '--record')
    expect(recorded.stdout).toMatch(/^cpu-portable mxfp4 16 x 16 x 64: [\d.]+ us$/m)
    expect(recorded.stdout).toMatch(/baseline\.json holds 1 points of /)
    expect(recorded.code).toBe(0)
    const text = readFileSync(at('baseline.json'), 'utf8')
    const twice = await gate(kernel, ...baseline, '--record')
    expect(twice.stderr).toMatch(/has a baseline of .*; --force replaces its points/)
    expect([twice.code, readFileSync(at('baseline.json'), 'utf8')]).toEqual([2, text])

    // As it was before methods were recorded: a CPU's times are the same.
    const older = JSON.parse(text) as { states: { method?: string }[] }
    delete older.states[0]!.method
    writeFileSync(at('baseline.json'), JSON.stringify(older))
    const compared = await gate(kernel, ...baseline, '--json')
    const { points, how } = JSON.parse(compared.stdout) as GateResult
    expect(points[0]).toMatchObject({ base: { kernel }, estimate: { method: 'samples' } })
    expect(how).toContain('not measured alternately')

    const file = JSON.parse(text) as BaselineFile
    file.states[0]!.device.driver = '570.1'
    writeFileSync(at('baseline.json'), JSON.stringify(file))
    const other = await gate(kernel, ...baseline)
    expect(other.stderr).toMatch(
      /has no baseline of .*; it has .*driver 570\.1.* --record adds one/
    )
    expect(other.code).toBe(1)
    await gate(kernel, ...baseline, '--record')
    const both = JSON.parse(readFileSync(at('baseline.json'), 'utf8')) as BaselineFile
    expect(both.states.map(({ device }) => device.driver)).toEqual(['570.1', ''])

    writeFileSync(at('baseline.json'), '{"states": []}')
    const none = await gate(kernel, ...baseline)
    expect(none.stderr).toMatch(/baseline\.json is no baseline: at blockscopeBaseline: /)
    expect(none.code).toBe(2)
  })

  it('compares two sweeps round by round, and says what is wrong with a side', async () => {
    const swept = await runInProcess([
      ...['sweep', ...point, '--kernels', kernel, '--reps', '2', '--rounds', '4'],
      ...['--store', at('store'), '--json']
    ])
    const { id } = JSON.parse(swept.stdout) as { id: string }
    const own = ['--store', at('store')]
    const itself = await runInProcess(['gate', id, id, ...own, '--margin', '99', '--json'])
    const { points, base } = JSON.parse(itself.stdout) as GateResult
    expect(base).toBe(id)
    expect(points[0]!.estimate).toMatchObject({ method: 'samples', observations: 4, ratio: 1 })
    // A run lies anywhere: it is named by its folder, too.
    const folder = at(join('store', id))
    const byFolder = await runInProcess(['gate', folder, folder, '--margin', '99', '--json'])
    expect((JSON.parse(byFolder.stdout) as GateResult).points[0]!.estimate).toEqual(
      points[0]!.estimate
    )
    const narrow = await runInProcess(['gate', id, id, ...own, '-K', '96'])
    expect(narrow.stdout).toContain('Not passed: nothing was compared.')
    expect(narrow.code).toBe(1)
    const one = await gate(kernel)
    expect(one.stderr).toContain('gate takes base and new; got 1 name.')
    const unknown = await gate(kernel, 'nothing-here')
    expect(unknown.stderr).toMatch(
      /^blockscope: nothing-here is no folder .* and no kernel here, and as a run: /m
    )
    expect([one.code, unknown.code]).toEqual([2, 2])
  })
})

describe('a folder of kernels', () => {
  const manifest = (summary: string) => ({
    kernels: [
      {
        ...{ id: 'mine', summary, file: 'mine.cu', architectures: ['sm_80+'] },
        formats: [{ format: 'mxfp4', level: 'exact', reason: 'none' }],
        launches: [{ function: 'f', grid: ['1'], block: [32], arguments: ['c'] }]
      },
      { ...{ id: 'help', summary: '', file: 'mine.cu', role: 'support', architectures: ['sm_80'] } }
    ]
  })
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e', '-C', at('repo'), ...words])
  mkdirSync(at('repo/kernels'), { recursive: true })
  git('init', '--quiet')
  writeFileSync(at('repo/kernels/mine.cu'), '// one\n')
  writeFileSync(at('repo/kernels/manifest.json'), JSON.stringify(manifest('one')))
  git('add', '.')
  git('commit', '--quiet', '-m', 'one')
  writeFileSync(at('repo/kernels/mine.cu'), '// two\n')

  const inRepo = async <T>(work: () => Promise<T>): Promise<T> => {
    const before = process.cwd()
    process.chdir(at('repo'))
    try {
      return await work()
    } finally {
      process.chdir(before)
    }
  }

  it('stands beside itself under other ids, without the code that the host uses', () => {
    const sides = ['@base', '@new'].map((suffix) => ({ path: at('repo/kernels'), suffix }))
    const { sources, warnings } = readKernelManifests(sides)
    expect(warnings).toEqual([])
    expect(sources.map(({ id }) => id)).toEqual(['mine@base', 'mine@new'])
  })

  it('comes out of a commit as it was there, and leaves nothing behind', async () => {
    const { path, name, remove } = await inRepo(() => gitFolder('HEAD:kernels'))
    expect(name).toMatch(/^HEAD:kernels \([0-9a-f]{8}\)$/)
    expect(readFileSync(join(path, 'mine.cu'), 'utf8')).toBe('// one\n')
    await remove()
    expect(existsSync(path)).toBe(false)
    for (const words of ['HEAD:nothing', 'none:kernels', 'HEAD:kernels/mine.cu', '--help:x'])
      await expect(inRepo(() => gitFolder(words))).rejects.toThrow(
        `${words} is no folder of a commit of this git repository`
      )
  })

  it('without a kernel for the device is exit code 3', async () => {
    const { code, stderr } = await inRepo(() => gate('HEAD:kernels', 'kernels'))
    expect(stderr).toMatch(/HEAD:kernels \([0-9a-f]{8}\) has no kernel for cpu\./)
    expect(code).toBe(3)
  })
})
