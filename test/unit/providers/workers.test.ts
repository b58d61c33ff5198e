/** Which process answers: one for the products of a file, until something fails or the file changes. */
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeEach, afterEach, describe, expect, it } from 'vitest'
import { PythonHost } from '../../../src-main/engine/pythonHost'
import { knownNames } from '../../../src-main/engine/pythonKernels'
import { OperandFiles } from '../../../src-main/engine/pythonOperands'
import { onceThrough, runPython } from '../../../src-main/engine/pythonRun'
import { loadTestAddon } from '../../support/addon'
import { smallOperands, smallProblem } from '../../support/smallProduct'
import { pythonHas } from '../../support/python'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-workers-'))
const [how, said] = ['how.txt', 'said.txt'].map((name) => join(folder, name)) as [string, string]

const kernels = `import os, signal

class Mine:
    device = "cpu"
    formats = ["mxfp4"]

    def detect(self):
        return ""

    def prepare(self, operands):
        self.operands = operands

    def run(self):
        how = open(${JSON.stringify(how)}).read()
        with open(${JSON.stringify(said)}, "a") as said:
            said.write(f"{os.getpid()} ")
        if how == "raise":
            raise ValueError("no")
        if how == "refuse":
            raise NotImplementedError("It does not take this.")
        if how == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        self.operands.c[...] = 0
`

const problem = smallProblem('cpu')

describe.skipIf(!pythonHas('numpy'))('processes of Python', () => {
  let host: PythonHost
  const files = ['one.py', 'two.py'].map((name) => join(folder, name)) as [string, string]
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  beforeEach(() => {
    for (const file of files) writeFileSync(file, kernels)
    host = new PythonHost(resolve('resources/providers/host.py'))
  })
  afterEach(() => host.close())

  /** The number of the process that ran the kernel, in the way it was told to. */
  async function ran(file: string, way = ''): Promise<number> {
    writeFileSync(how, way)
    writeFileSync(said, '')
    const kernel = { id: 'Mine', file, codes: 'packed' as const, scaleLayout: 'linear' }
    const pack = loadTestAddon().packElements
    const operands = new OperandFiles(problem, async () => smallOperands, pack)
    const run = {
      kernel: { ...kernel, cacheBytes: 0, memoryBytes: 0 },
      operands,
      rules: onceThrough
    }
    const asked = runPython(host, run, [], () => {}, new AbortController().signal)
    await (way ? expect(asked).rejects.toThrow() : asked)
    await operands.remove()
    const numbers = new Set(readFileSync(said, 'utf8').trim().split(' ').map(Number))
    expect(numbers.size).toBe(1)
    return [...numbers][0]!
  }

  it('answer one product after the other, one for each file', async () => {
    const [one, two] = files
    const first = await ran(one)
    const other = await ran(two)
    expect(other).not.toBe(first)
    expect([await ran(one), await ran(two), await ran(one)]).toEqual([first, other, first])
    expect(host.waiting).toBe(2)
  })

  it.each(['raise', 'crash'])(
    'end where a kernel does %s, and the next has its own',
    async (way) => {
      const [file] = files
      const first = await ran(file)
      expect(await ran(file, way)).toBe(first)
      expect(host.waiting).toBe(0)
      expect(await ran(file)).not.toBe(first)
    }
  )

  it('go on where a kernel does not take a product', async () => {
    const [file] = files
    const first = await ran(file)
    expect(await ran(file, 'refuse')).toBe(first)
    expect(await ran(file)).toBe(first)
  })

  it('read a file that has changed, and what it imports with each detection', async () => {
    const [file] = files
    const first = await ran(file)
    utimesSync(file, new Date(), new Date(Date.now() + 5000))
    const second = await ran(file)
    expect(second).not.toBe(first)
    await host.ask({ method: 'detect', file, known: knownNames })
    expect(host.waiting).toBe(0)
    expect(await ran(file)).not.toBe(second)
  })
})
