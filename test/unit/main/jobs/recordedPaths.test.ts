import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { JobSpec } from '@shared/contract/jobs'
import { RecordedPaths } from '../../../../src-main/jobs/recordedPaths'
import { runInProcess } from '../../../support/runInProcess'

const root = mkdtempSync(join(tmpdir(), 'blockscope-paths-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const providers = join(root, 'program', 'providers')
const work = join(root, 'work')
mkdirSync(join(providers, 'examples'), { recursive: true })
writeFileSync(join(providers, 'examples', 'torch_bf16.py'), '')
const paths = new RecordedPaths(providers, work)
const bundled = join(providers, 'examples', 'torch_bf16.py')

const spec = { kind: 'validate', formats: ['mxfp8'] } as JobSpec

describe('a file of Python kernels', () => {
  it.each([
    ['torch_bf16', bundled],
    ['mine.py', join(work, 'mine.py')],
    ['kernels/mine.py', join(work, 'kernels', 'mine.py')],
    ['./torch_bf16', join(work, 'torch_bf16')],
    ['unknown', join(work, 'unknown')],
    [join(root, 'other.py'), join(root, 'other.py')]
  ])('named %s is found, and called so again', (name, path) => {
    expect(paths.providerAt(name)).toBe(path)
    const { providerFiles } = paths.recorded(paths.located({ ...spec, providerFiles: [name] }))
    expect(providerFiles).toEqual([name === 'unknown' ? './unknown' : name])
    expect(paths.providerAt(providerFiles![0]!)).toBe(path)
  })

  it('keeps its whole path where the working folder is the root, as of an app that was started there', () => {
    const providerFiles = [join(work, 'mine.py')]
    const ofRoot = new RecordedPaths(providers, resolve('/'))
    expect(ofRoot.recorded({ ...spec, providerFiles })).toEqual({ ...spec, providerFiles })
  })

  it('is not among what a run without any names', () => {
    expect(paths.recorded(spec)).toEqual(spec)
    const library = { name: 'Triton', found: true, version: '', path: '', reason: '', remedy: '' }
    expect(paths.recordedLibraries([library])).toEqual([library])
  })

  it('is a library of a run, which names it as the job does', () => {
    const library = {
      name: 'torch',
      found: true,
      version: '',
      path: bundled,
      reason: '',
      remedy: ''
    }
    const other = { ...library, path: join(work, 'libcublas.so') }
    expect(paths.recordedLibraries([library, other], [bundled])).toEqual([
      { ...library, path: 'torch_bf16' },
      other
    ])
  })
})

it('files of operands and of a result are named from the working folder too', () => {
  const given = {
    operandsFiles: [join(work, 'in', 'a.npy'), join(root, 'b.npy'), 'uploaded.npy'],
    resultFile: join(work, 'c.npy')
  }
  expect(paths.recorded({ ...spec, ...given } as JobSpec)).toMatchObject({
    operandsFiles: [join('in', 'a.npy'), join(root, 'b.npy'), 'uploaded.npy'],
    resultFile: 'c.npy'
  })
})

it('a bundled one is named as such on the command line', async () => {
  const { stdout, stderr } = await runInProcess(['provider', 'check', 'torch_bf16', '--json'])
  expect(stdout + stderr).toMatch(/torch/)
  expect(stderr).not.toContain('does not exist')
  const unknown = await runInProcess(['provider', 'check', 'torch_bf61'])
  expect(unknown.stderr).toContain('torch_bf61 does not exist')
  expect(unknown.code).toBe(2)
})
