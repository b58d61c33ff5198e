/** Every way in which a file of Python kernels can be wrong, through the real program: one sentence each. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ownProviders } from '../../support/ownProviders'
import { pythonHas } from '../../support/python'
import { runInProcess } from '../../support/runInProcess'

const { folder, small, fileOf } = ownProviders()
const hasNumpy = pythonHas('numpy')

describe.skipIf(!pythonHas('json'))('a file that is wrong', () => {
  const body = 'def detect(self): pass\ndef prepare(self, operands): pass\ndef run(self): pass'
  const kernel = (attributes: string, methods = body) =>
    `class Mine:\n${[attributes, methods].join('\n').replace(/^/gm, '    ')}\n`
  const right = 'device = "cpu"\nformats = ["mxfp8"]'

  it.each<[string, string, number, RegExp]>([
    ['syntax', 'class Mine:\n    def run(self)\n', 2, /syntax\.py, line 2: \S/],
    ['empty', 'x = 1\n', 2, /empty\.py has no class with detect, prepare and run\.$/],
    [
      'lacks',
      'class Mine:\n    def run(self): pass\n    def detect(self): pass\n',
      2,
      /has no class with detect, prepare and run\. Mine lacks prepare\.$/
    ],
    [
      'loading',
      'x = {}\ny = x["missing"]\n',
      2,
      /loading\.py: loading it raised KeyError: 'missing' \(line 2\)\.$/
    ],
    [
      'package',
      'import no_such_kernels\n',
      3,
      /package\.py: It needs no_such_kernels, which \S+ does not have \(pip install no_such_kernels\)\.$/
    ],
    [
      'id',
      kernel(`${right}\nid = "../mine"`),
      2,
      /Mine\.id is '\.\.\/mine'; an id is up to 64 letters/
    ],
    [
      'taken',
      kernel(`${right}\nid = "cpu-portable"`),
      hasNumpy ? 2 : 3,
      hasNumpy
        ? /"cpu-portable" is the id of another kernel of cpu; give yours an id of its own\.$/
        : /numpy/
    ],
    [
      'layout',
      kernel(`${right}\nscale_layout = "swizzled"`),
      2,
      /Mine\.scale_layout is 'swizzled'; it is one of linear, nvidia_32_4_4/
    ],
    [
      'output',
      kernel(`${right}\noutputs = ["f8"]`),
      2,
      /Mine\.outputs names 'f8'; C is one of f16, bf16, f32, e4m3, e5m2\.$/
    ],
    [
      'detects',
      kernel(right, body.replace('pass', 'raise RuntimeError("It needs an sm_100.")')),
      3,
      /detects\.py: It needs an sm_100\.$/
    ],
    [
      'detectFails',
      kernel(right, body.replace('pass', 'return {}["x"]')),
      1,
      /detect\(\) raised KeyError: 'x' \(line 4\)\.$/
    ],
    [
      'format',
      kernel('device = "cpu"\nformats = ["mxfp5"]'),
      hasNumpy ? 2 : 3,
      hasNumpy ? /Mine\.formats names "mxfp5", which is no block-scaled format/ : /numpy/
    ],
    [
      'level',
      kernel('device = "cpu"\nformats = {"mxfp8": "good"}'),
      hasNumpy ? 2 : 3,
      hasNumpy ? /the level 'good'; levels are native, exact, approximate/ : /numpy/
    ]
  ])('%s: one sentence', async (name, source, code, sentence) => {
    const path = fileOf(`${name}.py`, source)
    const result = await runInProcess(['validate', '--provider', path, ...small])
    expect(result.stderr.trimEnd()).toMatch(sentence)
    expect(result.stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(result.code).toBe(code)
  })

  it('for a CPU, under a Python without numpy: it says what to install', async () => {
    const empty = mkdtempSync(join(folder, 'without-'))
    writeFileSync(join(empty, 'numpy.py'), 'raise ImportError("none", name="numpy")')
    const words = ['validate', '--provider', fileOf('plain.py', kernel(right)), ...small]
    const { code, stderr } = await runInProcess(words, { PYTHONPATH: empty })
    expect(stderr).toMatch(
      /plain\.py: It needs numpy, which \S+ does not have \(pip install numpy\)\.$/m
    )
    expect(code).toBe(3)
  })

  it('or is not there: it is named', async () => {
    const result = await runInProcess(['validate', '--provider', 'none.py', ...small])
    expect(result).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--provider \S*none\.py does not exist/)
    })
  })
})
