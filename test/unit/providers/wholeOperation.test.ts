/** Batches, accumulators, both orders of B and C of eight bits by Python kernels on the CPU, through the real program. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Kernel } from '@shared/contract/devices'
import type { Run } from '@shared/contract/run'
import { pythonHas } from '../../support/python'
import { runInProcess } from '../../support/runInProcess'

const folder = mkdtempSync(join(tmpdir(), 'blockscope-operation-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const template = resolve('resources/providers/templates/numpy.py')
const small = ['--device', 'cpu', '-M', '48', '-N', '32', '-K', '128', '--json']
const store = ['--store', join(folder, 'store')]

async function stepsOf(file: string, ...flags: string[]) {
  const words = ['validate', '--provider', file, '--providers', 'user']
  // Groups bring M.
  const shape = flags.includes('--groups') ? small.toSpliced(small.indexOf('-M'), 2) : small
  const { stdout, stderr } = await runInProcess([...words, ...flags, ...shape, ...store])
  if (stdout === '') throw new Error(stderr)
  const { steps } = JSON.parse(stdout) as Run
  return steps.map(({ kernel, format, disposition, reason, validation }) => {
    const raised = [validation?.perturbationA.state, validation?.perturbationB.state]
    return { kernel, format, disposition, reason, raised }
  })
}

/** A kernel of blocks that are dequantised by the host, in a layout and a packing of its own. */
const classOf = (name: string, attributes: string, run: string) =>
  [
    `class ${name}:`,
    `    id = "${name}"; device = "cpu"; formats = ["mxfp4", "mxfp8"]`,
    ...attributes.split('\n').map((line) => `    ${line}`),
    '    def detect(self): return ""',
    '    def prepare(self, operands): self.operands = operands',
    '    def run(self):',
    '        o = self.operands',
    '        c = o.values("a") @ o.values("b").swapaxes(-1, -2)',
    ...run.split('\n').map((line) => `        ${line}`)
  ].join('\n')
const all = 'takes = ["b-kn", "accumulator", "batch"]\noutputs = ["f16", "f32", "e4m3", "e5m2"]'
const fileOf = (name: string, ...classes: string[]) => {
  const path = join(folder, `${name}.py`)
  writeFileSync(path, `import numpy\n${classes.join('\n')}\n`)
  return path
}

describe.skipIf(!pythonHas('numpy'))('the numpy template', () => {
  it.each([
    ['B as (K, N), C in bf16', ['--b-order', 'kn', '--out', 'bf16']],
    ['batches that broadcast', ['--batch-a', '2,1', '--batch-b', '3']],
    ['an accumulator, C in e4m3', ['--beta', '1', '--out', 'e4m3', '--out-scale', '0.25']],
    ['groups between padding', ['--groups', '13,0,2x40', '--group-align', '64']],
    [
      'groups with room, B as (K, N), an accumulator',
      [
        ...['--groups', '5,0,7', '--group-layout', 'masked', '--max-rows', '16'],
        ...['--b-order', 'kn', '--beta', '1']
      ]
    ],
    ['groups behind one another', ['--groups', '1,30,2', '--group-layout', 'offsets']],
    [
      'all of it',
      [
        ...['--b-order', 'kn', '--beta', '1', '--batch-a', '2', '--batch-b', '3,1'],
        ...['--out', 'e5m2', '--out-scale', '0.5']
      ]
    ]
  ] as const)('takes %s', async (_, flags) => {
    const steps = await stepsOf(template, '--formats', 'nvfp4,mixed', ...flags)
    expect(steps.map(({ format }) => format)).toEqual(['nvfp4', 'mixed'])
    for (const { format, disposition, reason, raised } of steps)
      expect([format, disposition, reason, raised]).toEqual([
        ...[format, 'passed', ''],
        ['passed', 'passed']
      ])
  })
})

describe.skipIf(!pythonHas('numpy'))('a kernel', () => {
  it('is given its codes and scales in the order, packing and layout it reads, batch by batch', async () => {
    // B (K, N) of mxfp4: rows of 32 codes in 16 bytes, scales of rows of N in tiles of 128 by 4 whatever the order.
    const shapes = [
      'wanted = {"mxfp4": (3, 128, 16), "mxfp8": (3, 128, 32)}[o.format]',
      'assert o.b.shape == wanted, o.b.shape',
      'assert o.a.shape == (2, 1, 48, 128 // (2 if o.format == "mxfp4" else 1)), o.a.shape',
      'assert o.a_scales.shape == (2, 1, 1, 1, 32, 4, 4), o.a_scales.shape',
      'assert o.b_scales.shape == (3, 1, 1, 32, 4, 4), o.b_scales.shape',
      'assert o.batch == (2, 3) and o.c.shape == (2, 3, 48, 32), o.c.shape',
      'assert o.matrices("a").tolist() == [0, 0, 0, 1, 1, 1]',
      'assert o.matrices("b").tolist() == [0, 1, 2, 0, 1, 2]',
      'return o.rounded(c)'
    ]
    const attributes = `${all}\nscale_layout = "nvidia_32_4_4"`
    const path = fileOf('shapes', classOf('Shapes', attributes, shapes.join('\n')))
    const batches = ['--b-order', 'kn', '--batch-a', '2,1', '--batch-b', '3']
    const steps = await stepsOf(path, '--formats', 'mxfp4,mxfp8', ...batches)
    expect(steps).toMatchObject([
      { format: 'mxfp4', disposition: 'passed', reason: '' },
      { format: 'mxfp8', disposition: 'passed', reason: '' }
    ])
  })

  it('is given its groups, where they stand, and their scales padded each on its own', async () => {
    const shapes = [
      'assert o.groups.layout == "contiguous" and o.groups.rows == [5, 0, 9] and o.groups.starts == [0, 16, 16]',
      'assert o.m == 32 and o.a.shape == (32, 64) and o.b.shape == (3, 32, 64) and o.c.shape == (32, 32)',
      '# 128 x 4 scales for each group that has rows',
      'assert o.a_scales.shape == (1024,) and o.b_scales.shape == (3, 1, 1, 32, 4, 4)',
      'assert o.groups.counts().tolist() == [5, 0, 9] and o.groups.ends().tolist() == [5, 16, 25]',
      'assert o.groups.of_rows().tolist() == [0] * 5 + [-1] * 11 + [2] * 9 + [-1] * 7',
      'a, b, c = o.values("a"), o.values("b"), numpy.zeros((32, 32), numpy.float32)',
      'for g, (first, rows) in enumerate(zip(o.groups.starts, o.groups.rows)): c[first : first + rows] = a[first : first + rows] @ b[g].T',
      'return o.rounded(c)'
    ]
    const attributes = 'takes = ["grouped"]\noutputs = ["f16"]\nscale_layout = "nvidia_32_4_4"'
    const classes = classOf('Groups', attributes, shapes.join('\n')).replace(
      /^ +c = o.values.*$/m,
      ''
    )
    const wrong = classes
      .replace('class Groups', 'class First')
      .replace('id = "Groups"', 'id = "First"')
    const path = fileOf('groups', classes, wrong.replace('@ b[g].T', '@ b[0].T'))
    const groups = ['--groups', '5,0,9', '--group-align', '16']
    const steps = await stepsOf(path, '--formats', 'mxfp4', ...groups)
    expect(steps).toMatchObject([
      { kernel: 'Groups', disposition: 'passed', reason: '', raised: ['passed', 'passed'] },
      { kernel: 'First', disposition: 'incorrect' }
    ])
  })

  it('has the values of the codes that it reads, of each width, packed or a byte each', async () => {
    const both = ['packed', 'bytes'].map((codes) =>
      classOf(codes, `codes = "${codes}"\n${all}`, 'return o.rounded(c)').replace(
        '["mxfp4", "mxfp8"]',
        '["mxfp4", "mxfp6_e3m2", "mixed"]'
      )
    )
    const formats = ['--formats', 'mxfp4,mxfp6_e3m2,mixed']
    for (const order of ['nk', 'kn']) {
      const steps = await stepsOf(fileOf('widths', ...both), ...formats, '--b-order', order)
      expect(steps.map(({ disposition }) => disposition)).toEqual(Array(6).fill('passed'))
    }
  })

  it('of one matrix has no leading axes, whatever dimensions of 1 were asked for', async () => {
    const run = 'assert o.batch == () and o.a.ndim == 2 and o.c.ndim == 2\nreturn o.rounded(c)'
    const path = fileOf('one', classOf('One', 'outputs = ["f16"]', run))
    const ones = ['--batch-a', '1', '--batch-b', '1,1']
    const steps = await stepsOf(path, '--formats', 'mxfp8', ...ones)
    expect(steps.map(({ reason, disposition }) => disposition + reason)).toEqual(['passed'])
  })

  it('that leaves a part out is incorrect', async () => {
    const path = fileOf(
      'wrong',
      classOf('NoAccumulator', all, 'return o.rounded(c)'),
      classOf('NoScale', all, 'c += o.accumulator\nreturn o._device.rounded(c, o.output)'),
      classOf('FirstMatrix', all, 'c[:] = c[:1]\nc += o.accumulator\nreturn o.rounded(c)'),
      classOf('Right', all, 'c += o.accumulator\nreturn o.rounded(c)')
    )
    const flags = ['--beta', '1', '--batch', '2', '--out', 'e4m3', '--out-scale', '0.25']
    const steps = await stepsOf(path, '--formats', 'mxfp8', ...flags)
    expect(steps.map(({ kernel, disposition }) => [kernel, disposition])).toEqual([
      ['NoAccumulator', 'incorrect'],
      ['NoScale', 'incorrect'],
      ['FirstMatrix', 'incorrect'],
      ['Right', 'passed']
    ])
  })

  it.each([
    [['--b-order', 'kn'], 'Plain does not take B as (K, N). Its class does not name it in takes.'],
    [['--beta', '1'], 'Plain does not take an accumulator. Its class does not name it in takes.'],
    [['--batch', '2'], 'Plain does not take a batch. Its class does not name it in takes.'],
    [['--groups', '3,4'], 'Plain does not take groups. Its class does not name it in takes.'],
    [['--out', 'e4m3'], 'Plain does not write e4m3; it writes f16, bf16, f32.']
  ])('that names none of it is asked for none: %s', async (flags, reason) => {
    const path = fileOf('plain', classOf('Plain', 'pass', 'return o.rounded(c)'))
    const [step] = await stepsOf(path, '--formats', 'mxfp8', ...flags)
    expect(step).toMatchObject({ disposition: 'not-supported', reason })
  })

  it('says in the table of capabilities what it takes', async () => {
    const attributes = 'takes = {"batch": "one launch for all"}\noutputs = ["f16", "e4m3"]'
    const path = fileOf('said', classOf('Said', attributes, 'pass'))
    const { stdout } = await runInProcess(['provider', 'check', path, '--json'])
    expect((JSON.parse(stdout) as Kernel[])[0]!.features).toEqual([
      { id: 'b-kn', level: 'none', reason: 'Its class does not name it in takes.' },
      { id: 'accumulator', level: 'none', reason: 'Its class does not name it in takes.' },
      { id: 'f8-output', level: 'fused', reason: '' },
      { id: 'batch', level: 'fused', reason: 'one launch for all' },
      { id: 'grouped', level: 'none', reason: 'Its class does not name it in takes.' }
    ])
    const { stdout: words } = await runInProcess(['provider', 'check', path])
    expect(words).toMatch(/^ {4}writes {3}f16, e4m3$/m)
    expect(words).toMatch(/^ {4}takes {4}batch \(one launch for all\)$/m)
  })

  it.each([
    [
      'takes = ["beta"]',
      /Mine\.takes names 'beta'; a kernel takes b-kn, accumulator, batch, grouped\.$/m
    ],
    ['protocol = 3', /Mine\.protocol is 3; this blockscope speaks up to 2: take a newer one\.$/m]
  ])('that says %s is refused in one sentence', async (attributes, sentence) => {
    const path = fileOf('refused', classOf('Mine', attributes, 'pass'))
    const { code, stderr } = await runInProcess(['provider', 'check', path])
    expect(stderr).toMatch(sentence)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(code).toBe(2)
  })
})
