/** Python processes that need not import torch again: a real Python, and a package of that name that only counts its imports. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PythonHost } from '../../../src-main/engine/pythonHost'
import { knownNames } from '../../../src-main/engine/pythonKernels'
import { canFork } from '../../../src-main/engine/pythonProcess'
import { pythonHas } from '../../support/python'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-forking-'))
const imports = join(folder, 'imports.txt')
const file = join(folder, 'kernels.py')

/** Its version says which process it is in; WORDS in the environment of the host say what else it does. */
const kernels = `import os, signal, sys, time
import torch

class Mine:
    device = "cpu"
    formats = ["mxfp4"]

    def detect(self):
        with open(${JSON.stringify(join(folder, 'how.txt'))}) as how:
            how = how.read()
        if how == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if how == "die":
            print("LLVM ERROR: no such instruction", flush=True)
            os._exit(3)
        if how == "hang":
            time.sleep(600)
        return f"{os.getppid()} {os.getpid()}"

    def prepare(self, operands):
        pass

    def run(self):
        pass
`

describe.runIf(canFork && pythonHas('numpy'))('a Python that has imported torch', () => {
  let host: PythonHost
  const path = process.env.PYTHONPATH
  const act = (how: string) => writeFileSync(join(folder, 'how.txt'), how)
  const ask = (asking = {}) => host.ask({ method: 'detect', file, known: knownNames }, asking)
  /** The number of the process that asked for it, and its own. */
  const processes = async () => {
    const { kernels: found } = (await ask()) as { kernels: { version: string }[] }
    return found[0]!.version.split(' ').map(Number) as [number, number]
  }

  beforeAll(() => {
    mkdirSync(join(folder, 'torch'))
    writeFileSync(
      join(folder, 'torch', '__init__.py'),
      `import sys
open(${JSON.stringify(imports)}, "a").write("imported\\n")
class cuda:
    is_initialized = staticmethod(lambda: False)
    empty_cache = staticmethod(lambda: None)
sys.modules["torch.cuda"] = cuda
`
    )
    writeFileSync(file, kernels)
    process.env.PYTHONPATH = folder
  })
  afterAll(() => {
    if (path === undefined) delete process.env.PYTHONPATH
    else process.env.PYTHONPATH = path
    rmSync(folder, { recursive: true, force: true })
  })
  beforeEach(() => {
    act('')
    writeFileSync(imports, '')
    host = new PythonHost(resolve('resources/providers/host.py'))
  })
  afterEach(() => {
    delete process.env.BLOCKSCOPE_PROVIDER_SECONDS
    host.close()
  })

  it('forks a process for each question; torch is imported by the first and by the one that forks', async () => {
    const [own, ...forked] = [await processes(), await processes(), await processes()]
    expect(own[0]).toBe(process.pid)
    const [parents, numbers] = [0, 1].map((at) => new Set(forked.map((pair) => pair[at])))
    expect([parents!.size, numbers!.size]).toEqual([1, 2])
    expect(parents!.has(process.pid)).toBe(false)
    expect(readFileSync(imports, 'utf8')).toBe('imported\n'.repeat(2))
  })

  it.each([
    ['crash', /^kernels\.py: Python was ended by SIGSEGV in detect\(\)\.$/],
    [
      'die',
      /^kernels\.py: Python ended with code 3 in detect\(\)\. Its last words: LLVM ERROR: no such instruction$/
    ],
    ['hang', /^kernels\.py: detect\(\) gave no sign of life for 3 s and was ended/]
  ])('a kernel that does %s costs its own answer', async (how, sentence) => {
    await processes()
    const [parent] = await processes()
    act(how)
    if (how === 'hang') process.env.BLOCKSCOPE_PROVIDER_SECONDS = '3'
    await expect(ask()).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(sentence)
    })
    delete process.env.BLOCKSCOPE_PROVIDER_SECONDS
    act('')
    expect((await processes())[0]).toBe(parent)
  })

  it('is started anew when it is gone', async () => {
    await processes()
    const [parent] = await processes()
    process.kill(parent, 'SIGKILL')
    const after = await processes()
    expect(after[0]).not.toBe(parent)
    expect((await processes())[0]).not.toBe(process.pid)
  })

  it('does without where importing begins to use the GPU: a fork could not', async () => {
    const init = join(folder, 'torch', '__init__.py')
    const usual = readFileSync(init, 'utf8')
    writeFileSync(init, usual.replace('False', 'True'))
    try {
      for (let question = 0; question < 3; question++)
        expect((await processes())[0]).toBe(process.pid)
      // One of each question, and one that found out.
      expect(readFileSync(imports, 'utf8')).toBe('imported\n'.repeat(4))
    } finally {
      writeFileSync(init, usual)
    }
  })

  it('a question that is cancelled ends its process', async () => {
    await processes()
    await processes()
    act('hang')
    const cancel = new AbortController()
    const asked = ask({ signal: cancel.signal })
    setTimeout(() => cancel.abort(), 50)
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' })
  })
})
