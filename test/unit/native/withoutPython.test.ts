/** Python, whose import of PyTorch and Triton takes seconds, is started for what names its kernels alone: on a stand-in of an AMD GPU. */
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runInProcess } from '../../support/runInProcess'
import { buildStubHiprtc, buildStubRuntime } from './stubHip'

let folder: string
const at = (name: string) => join(folder, name)

const point = ['--formats', 'mxfp8', '-M', '32', '-N', '32', '-K', '256', '--out', 'f32']
/** Ends once it knows what there is: its baseline is none. */
const gate = (side: string) => [
  ...['gate', side, '--device', 'hip:0', '--baseline', at('there.json'), ...point]
]
const explain = (format: string, device: string) => [
  ...['kernels', 'explain', '--device', device, '--format', format],
  ...['-M', '32', '-N', '32', '-K', '256']
]

/** Whether the command started Python, and its exit code. */
async function startsPython(words: string[]): Promise<[boolean, number | null]> {
  rmSync(at('started'), { force: true })
  const { code } = await runInProcess(words, {
    ...{ LD_LIBRARY_PATH: folder, ROCM_PATH: folder, BLOCKSCOPE_PYTHON: at('python') },
    ...{ BLOCKSCOPE_STORE: at('store'), XDG_CACHE_HOME: at('cache') }
  })
  return [existsSync(at('started')), code]
}

describe.skipIf(process.platform !== 'linux')('Python', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'blockscope-without-python-'))
    buildStubRuntime(folder)
    buildStubHiprtc(folder)
    writeFileSync(at('python'), `#!/bin/sh\ntouch ${at('started')}\nexit 1\n`)
    chmodSync(at('python'), 0o755)
    writeFileSync(at('there.json'), '{}')
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each<[string, () => string[], boolean]>([
    ['a gate of a kernel', () => gate('MFMA-scale-linear'), false],
    ['a gate of a folder', () => gate('resources/kernels/hip'), false],
    ['a gate of auto, which may choose its kernels', () => gate('auto'), true],
    ['a gate of a name that may be its kernel', () => gate('triton'), true],
    ['an explanation for the CPU', () => explain('mxfp8', 'cpu'), false],
    ['an explanation whose choice it cannot change', () => explain('mxfp8', 'hip:0'), false],
    ['an explanation where no time can be told', () => explain('w4a16_mxfp4', 'hip:0'), true],
    [
      'an examination of the CPU',
      () => ['doctor', '--device', 'cpu', '--output', at('there.json')],
      false
    ],
    [
      'an examination of a GPU',
      () => ['doctor', '--device', 'hip:0', '--output', at('there.json')],
      true
    ]
  ])('for %s', async (_what, words, isStarted) => {
    const [started, code] = await startsPython(words())
    expect(started).toBe(isStarted)
    expect(code).not.toBe(3)
  })
})
