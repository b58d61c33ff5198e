/** Python kernels on the CPU through the real program: the template, configurations, and kernels that go wrong. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Run } from '@shared/contract/run'
import { ownProviders } from '../../support/ownProviders'
import { pythonHas } from '../../support/python'
import { runInProcess } from '../../support/runInProcess'

const { folder, store, small, fileOf } = ownProviders()
const template = (from: string) => readFileSync(`resources/providers/templates/${from}.py`, 'utf8')
const runOf = (stdout: string) => JSON.parse(stdout) as Run

const hasNumpy = pythonHas('numpy')
if (!hasNumpy) console.warn('Skipped: Python kernels on the CPU; this Python has no numpy.')

describe.skipIf(!hasNumpy)('the numpy template', () => {
  const path = join(folder, 'my_kernel.py')

  it('is written once, checked, validated and timed beside a kernel of the CPU', async () => {
    const words = ['provider', 'new', '--from', 'numpy', path]
    const written = await runInProcess(words)
    expect(written.stdout).toContain(`blockscope validate --provider ${path}`)
    expect(readFileSync(path, 'utf8')).toBe(template('numpy'))
    const again = await runInProcess(words)
    expect(again).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/exists; choose another/)
    })

    const checked = await runInProcess(['provider', 'check', path])
    expect(checked.stdout).toMatch(/my_kernel\.py: numpy [\d.]+, Python/)
    expect(checked.stdout).toContain('my-kernel on cpu: Dequantised to float32')
    expect(checked.stdout).toContain('reads    bytes codes, scales in linear')

    const kernels = ['--provider', path, '--kernels', 'my-kernel,cpu-portable']
    const validated = await runInProcess(['validate', ...kernels, ...small])
    expect(validated).toMatchObject({ code: 0, stderr: '' })
    const run = runOf(validated.stdout)
    expect(
      run.steps.map(({ kernel, format, disposition }) => [kernel, format, disposition])
    ).toEqual(
      ['nvfp4', 'mxfp4', 'mxfp8', 'mixed'].flatMap((format) => [
        ['cpu-portable', format, 'passed'],
        ['my-kernel', format, 'passed']
      ])
    )
    expect(run.command).toContain(`--provider ${path}`)
    expect(run.libraries.at(-1)).toMatchObject({ name: 'my_kernel.py', found: true })
    // Where a file of kernels lay is no fact about the device.
    expect(run.device!.kernels.map(({ id }) => id)).toContain('my-kernel')
    expect(JSON.stringify(run.device)).not.toContain('.py')

    const swept = await runInProcess([
      ...['sweep', ...kernels, '--formats', 'mxfp8', '--warmup', '2', '--reps', '5', '--sustained'],
      ...small
    ])
    expect(swept).toMatchObject({ code: 0 })
    const step = runOf(swept.stdout).steps.find(({ kernel }) => kernel === 'my-kernel')!
    expect(step.provider).toBe('user')
    expect(step.measurement).toMatchObject({
      ...{ method: 'bs-3 fixed 5, cold', timingSource: 'steady clock', stopReason: 'fixed' },
      timeNs: { samples: 5 }
    })
    expect(step.measurement!.operandSets).toBeGreaterThanOrEqual(1)
    expect(step.measurement!.sustainedCount).toBeGreaterThan(0)
    expect(step.measurement!.launches.map(({ name }) => name)).toEqual(['my-kernel'])
  })

  it('of a longer name than the first kernel stands in the same columns while they are printed', async () => {
    const named = fileOf(
      'long.py',
      template('numpy').replace('"my-kernel"', '"a-kernel-whose-name-is-long"')
    )
    const { stdout } = await runInProcess([
      ...['validate', '--provider', named, '--device', 'cpu', '--formats', 'mxfp8'],
      ...['--kernels', 'cpu-portable,a-kernel-whose-name-is-long', '--store', join(folder, 'long')],
      ...['-M', '33', '-N', '34', '-K', '64']
    ])
    const [title, ...rows] = stdout.split('\n').slice(0, 3)
    const ends = rows.map((row) => row.indexOf(' 33 ') + 3)
    expect(ends).toEqual([title!.indexOf(' M ') + 2, title!.indexOf(' M ') + 2])
  })

  it('is given both levels of scales of a file of NVFP4 operands', async () => {
    const operands = ['--operands', 'test/fixtures/judge/operands.safetensors', '--out', 'f16']
    const kernels = ['--provider', path, '--kernels', 'my-kernel']
    const words = ['validate', ...operands, ...kernels, '--device', 'cpu', ...store, '--json']
    const { code, stdout } = await runInProcess(words)
    expect(runOf(stdout).steps).toMatchObject([{ format: 'nvfp4', disposition: 'passed' }])
    expect(code).toBe(0)
  })

  it('a sweep without names takes it beside the best kernel of the CPU', async () => {
    const words = ['sweep', '--provider', path, '--formats', 'mxfp4', '--reps', '1', ...small]
    const { stdout } = await runInProcess(words)
    const kernels = runOf(stdout).steps.map(({ kernel }) => kernel)
    expect(kernels).toHaveLength(2)
    expect(kernels[0]).toMatch(/^cpu-/)
    expect(kernels[1]).toBe('my-kernel')
  })
})

/** Classes that differ from one that is right. */
const classes = (...changes: [name: string, body: string][]) =>
  [
    'import os, sys, time, numpy',
    'class _Right:',
    '    device = "cpu"',
    '    formats = ["mxfp8"]',
    '    outputs = ["f16", "f32"]',
    '    def detect(self): return ""',
    '    def prepare(self, operands): self.operands = operands',
    '    def c(self):',
    '        o = self.operands',
    '        return o.values("a") @ o.values("b").T',
    '    def run(self): self.operands.c[:] = self.c()',
    ...changes.flatMap(([name, body]) => [
      `class ${name}(_Right):`,
      `    id = "${name}"`,
      ...body.split('\n').map((line) => `    ${line}`)
    ])
  ].join('\n')

const faults: [name: string, body: string, sentence: RegExp][] = [
  [
    'PrepareRaises',
    'def prepare(self, operands): 1 / 0',
    /prepare\(\) raised ZeroDivisionError: division by zero \(line \d+\)\.$/
  ],
  [
    'RunRaises',
    'def run(self): raise ValueError("tile does not fit")',
    /run\(\) raised ValueError: tile does not fit \(line \d+\)\.$/
  ],
  ['Exits', 'def run(self): sys.exit(4)', /run\(\) raised SystemExit: 4/],
  [
    'Dies',
    'def run(self): print("free(): invalid pointer", file=sys.stderr, flush=True); os.abort()',
    /Python was ended by SIGABRT in run\(\)\. Its last words: free\(\): invalid pointer$/
  ],
  [
    'Shape',
    'def run(self): return self.c().T.astype(self.operands.c.dtype)',
    /run\(\) returned C of shape \(32, 64\); \(64, 32\) was asked for\.$/
  ],
  [
    'Type',
    'def run(self): return self.c()',
    /run\(\) returned C of float32; float16 was asked for\.$/
  ],
  [
    'NoArray',
    'def run(self): return "done"',
    /run\(\) returned a str; it returns C as an array, or nothing\.$/
  ],
  [
    'Nothing',
    'def run(self): pass',
    /run\(\) wrote nothing to operands\.c and returned nothing\.$/
  ],
  [
    'Outside',
    'def run(self):\n    c = self.operands.c\n    c[:] = self.c()\n    whole = c.base\n    while whole.base is not None: whole = whole.base\n    whole[-1] = 0',
    /run\(\) wrote outside C: 1 bytes behind C were changed\.$/
  ],
  [
    'Operand',
    'def run(self): self.operands.a[0, 0] = 1',
    /run\(\) raised ValueError: assignment destination is read-only/
  ],
  [
    'Package',
    'install = "pip install some-kernels"\ndef run(self): import some_kernels',
    /It needs some_kernels, which \S+ does not have \(pip install some-kernels\)\.$/
  ],
  [
    'NotTaken',
    'def prepare(self, operands): raise NotImplementedError("N=32 is too small.")',
    /^faults\.py: N=32 is too small\.$/
  ],
  [
    'Allocator',
    'def run(self): raise RuntimeError("Kernel requires memory, but no allocator was set.")',
    /no allocator was set \(its descriptors are made on the device: call triton\.set_allocator\(\) in prepare\(\)\) \(line \d+\)\.$/
  ],
  [
    'NoConfiguration',
    'configurations = [{"warps": 4}]\ndef run(self): raise RuntimeError("out of shared memory")',
    /No configuration runs; the last: .*out of shared memory/
  ],
  [
    'Mistaken',
    'configurations = [{"warps": 4}, {"warps": 8}]\ndef run(self): raise ValueError("no")',
    /^faults\.py: run\(\) raised ValueError: no \(line \d+\)\.$/
  ],
  [
    'CompilesNot',
    'configurations = [{"warps": 4}, {"warps": 8}]\ndef compile(self, listed): raise ValueError("no")',
    /^faults\.py: compile\(\) raised ValueError: no \(line \d+\)\.$/
  ]
]

describe.skipIf(!hasNumpy)('a kernel with configurations', () => {
  it('is compiled for all of them together, and tries them once for a product', async () => {
    const log = join(folder, 'tried.txt')
    const body = `configurations = [{"warps": 3}, {"warps": 4}]
def say(self, word):
    with open(${JSON.stringify(log)}, "a") as log: log.write(word + " ")
def compile(self, listed): self.say("compile%d" % len(listed))
def run(self):
    if self.configuration["warps"] == 3:
        self.say("tried")
        raise RuntimeError("no")
    self.operands.c[:] = self.c()`
    const path = fileOf('chooses.py', classes(['Chooses', body]))
    const words = ['sweep', '--provider', path, '--providers', 'user', '--formats', 'mxfp8']
    const { stdout } = await runInProcess([...words, '--reps', '3', ...small])
    expect(runOf(stdout).steps).toMatchObject([
      { disposition: 'passed', measurement: { stopReason: 'fixed; best of 1: warps 4' } }
    ])
    expect(readFileSync(log, 'utf8')).toBe('compile2 tried ')
  })
})

describe.skipIf(!hasNumpy)('a kernel that goes wrong', () => {
  it('costs its own step, and is one sentence', async () => {
    const wrong: [string, string] = ['Wrong', 'def run(self): self.operands.c[:] = self.c() * 2']
    const prints: [string, string] = [
      'Prints',
      'def run(self):\n    print("{}", flush=True); os.write(1, b\'{"result": 1}\\n\')\n    self.operands.c[:] = self.c()'
    ]
    const chooses: [string, string] = [
      'Chooses',
      'configurations = [{"warps": 3}, {"warps": 4}]\ndef run(self):\n    if self.configuration["warps"] == 3: raise RuntimeError("no")\n    self.operands.c[:] = self.c()'
    ]
    const changes = faults.map(([name, body]): [string, string] => [name, body])
    const remembers: [string, string] = [
      'Remembers',
      'kept = []\ndef run(self):\n    if not self.kept: self.kept.append(self.c())\n    self.operands.c[:] = self.kept[0]'
    ]
    const path = fileOf('faults.py', classes(wrong, remembers, prints, chooses, ...changes))
    const words = ['validate', '--provider', path, '--providers', 'user', '--formats', 'mxfp8']
    const { code, stdout } = await runInProcess([...words, ...small])
    expect(code).toBe(1)
    const steps = new Map(runOf(stdout).steps.map((step) => [step.kernel, step]))
    expect(steps.get('Wrong')).toMatchObject({ disposition: 'incorrect' })
    // Right as it stands, and blind to a scale that is raised.
    expect(steps.get('Remembers')).toMatchObject({
      disposition: 'incorrect',
      reason: expect.stringMatching(
        /^Raising the scale of A at row \d+, block \d+ changed \d+ of 32 elements of its row/
      )
    })
    expect(steps.get('Prints')!.validation).toMatchObject({
      perturbationA: { state: 'passed' },
      perturbationB: { state: 'passed' }
    })
    expect(steps.get('Prints')).toMatchObject({ disposition: 'passed' })
    expect(steps.get('Chooses')).toMatchObject({ disposition: 'passed' })
    for (const [name, , sentence] of faults) {
      const { disposition, reason } = steps.get(name)!
      expect([name, reason]).toEqual([name, expect.stringMatching(sentence)])
      expect(reason.split('\n')).toHaveLength(1)
      const lacks = ['Package', 'NotTaken', 'NoConfiguration'].includes(name)
      expect([name, disposition]).toEqual([name, lacks ? 'not-supported' : 'error'])
    }
  })

  it('and hangs is ended; the next one runs', async () => {
    const path = fileOf(
      'hangs.py',
      classes(['Hangs', 'def run(self): time.sleep(1000)'], ['Works', 'pass'])
    )
    const words = ['validate', '--provider', path, '--providers', 'user', '--formats', 'mxfp8']
    const env = { BLOCKSCOPE_PROVIDER_SECONDS: '6' }
    const { stdout } = await runInProcess([...words, ...small], env)
    expect(runOf(stdout).steps).toMatchObject([
      {
        kernel: 'Hangs',
        disposition: 'error',
        reason:
          'hangs.py: run() gave no sign of life for 6 s and was ended (BLOCKSCOPE_PROVIDER_SECONDS).'
      },
      { kernel: 'Works', disposition: 'passed' }
    ])
  })
})
