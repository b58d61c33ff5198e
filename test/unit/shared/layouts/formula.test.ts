import { execFileSync, spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { filledFormula, formulaText, layoutCode } from '@shared/layouts/formula'
import {
  packedOffset,
  packScales,
  paddedShape,
  type ScaleLayout,
  type ScaleShape
} from '@shared/layouts/layout'
import { findLayout, layouts } from '@shared/layouts/registry'
import { python, pythonHas } from '../../../support/python'

const shapes = [
  { rows: 128, columns: 4 },
  { rows: 200, columns: 13 },
  { rows: 33, columns: 9 }
]

/** What starts a process does so when it is first asked for, and once. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

const points = shapes.flatMap((shape) =>
  Array.from({ length: 40 }, (_, i) => ({
    shape,
    row: (i * 37) % shape.rows,
    column: (i * 11) % shape.columns
  }))
)

/** One compiler for all layouts: what it has to say of one begins with the layout's name. */
const compiled = once(() => {
  const sources = layouts.map((layout) => {
    const checks = points.map(
      ({ shape, row, column }) =>
        `static_assert(scaleOffset(${row}, ${column}, ${shape.rows}, ${shape.columns}) == ` +
        `${packedOffset(layout, shape, row, column)});`
    )
    const code = `${layoutCode(layout, 'cpp')}\n${checks.join('\n')}`
    return `#line 1 "${layout.name}"\nnamespace ${layout.name} {\n${code}\n}\n`
  })
  const flags = ['-std=c++20', '-Wall', '-Werror', '-fsyntax-only', '-x', 'c++', '-']
  return spawnSync('g++', flags, { input: sources.join(''), encoding: 'utf8' })
})

function permuted(layout: ScaleLayout): { padded: ScaleShape; linear: Uint8Array } {
  const padded = paddedShape(layout, { rows: 200, columns: 13 })
  const linear = Uint8Array.from(
    { length: padded.rows * padded.columns },
    (_, i) => (i * 7919) % 251
  )
  return { padded, linear }
}

/** By layout: what its permutation packs; what it packs it unpacks, or Python fails. */
const packedByNumpy = once(() => {
  const given = layouts.map((layout) => {
    const { padded, linear } = permuted(layout)
    // numpy says transpose where torch says permute.
    const code = layoutCode(layout, 'torch').replaceAll('.permute(', '.transpose(')
    return {
      name: layout.name,
      code,
      rows: padded.rows,
      columns: padded.columns,
      linear: [...linear]
    }
  })
  const script = `import json, sys, numpy
packed = {}
for layout in json.load(sys.stdin):
    names = {}
    exec(layout['code'], names)
    scales = numpy.array(layout['linear'], dtype=numpy.uint8).reshape(layout['rows'], layout['columns'])
    there = names['pack'](scales)
    assert (names['unpack'](there, *scales.shape) == scales).all(), layout['name']
    packed[layout['name']] = there.tolist()
print(json.dumps(packed))`
  const said = execFileSync(python, ['-c', script], { input: JSON.stringify(given) })
  return JSON.parse(said.toString()) as Record<string, number[]>
})

/** By layout: its function at every point; undefined without a Python. */
const offsetsOfPython = once(() => {
  const given = layouts.map((layout) => ({
    name: layout.name,
    code: layoutCode(layout, 'python'),
    points: points.map(({ shape, row, column }) => [row, column, shape.rows, shape.columns])
  }))
  const script = `import json, sys
offsets = {}
for layout in json.load(sys.stdin):
    names = {}
    exec(layout['code'], names)
    offsets[layout['name']] = [names['scale_offset'](*point) for point in layout['points']]
print(json.dumps(offsets))`
  const { error, status, stdout, stderr } = spawnSync('python3', ['-c', script], {
    input: JSON.stringify(given),
    encoding: 'utf8'
  })
  if (error) return undefined
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return JSON.parse(stdout) as Record<string, number[]>
})

describe.each(layouts.map((layout) => [layout.name, layout] as const))('%s', (_name, layout) => {
  it('the filled formula ends in the offset', () => {
    for (const { shape, row, column } of points) {
      const end = filledFormula(layout, shape, row, column).split(' = ').at(-1)
      expect(Number(end)).toBe(packedOffset(layout, shape, row, column))
    }
  })

  it('the formula and the TypeScript evaluate to the offset', () => {
    const source = layoutCode(layout, 'typescript').replaceAll(': number', '')
    const scaleOffset = new Function(`${source}; return scaleOffset`)() as (
      ...sizes: number[]
    ) => number
    for (const { shape, row, column } of points) {
      const offset = packedOffset(layout, shape, row, column)
      expect(scaleOffset(row, column, shape.rows, shape.columns)).toBe(offset)
      const integers = formulaText(layout, shape).replace(/([rc]) \/ (\d+)/g, 'Math.floor($1 / $2)')
      expect(new Function('r', 'c', `return ${integers}`)(row, column)).toBe(offset)
    }
  })

  it('the C++ evaluates to the offset at compile time', (context) => {
    const { error, stderr } = compiled()
    if (error) return context.skip('g++ is not on this machine')
    expect(stderr.split('\n').filter((line) => line.startsWith(`${layout.name}:`))).toEqual([])
  })

  it('the permutation of axes packs and unpacks as the offsets say', (context) => {
    if (!pythonHas('numpy')) return context.skip('this Python has no numpy')
    const { padded, linear } = permuted(layout)
    expect(packedByNumpy()[layout.name]).toEqual([...packScales(layout, padded, linear)])
  })

  it('the Python evaluates to the offset', (context) => {
    const offsets = offsetsOfPython()
    if (!offsets) return context.skip('python3 is not on this machine')
    expect(offsets[layout.name]).toEqual(
      points.map((p) => packedOffset(layout, p.shape, p.row, p.column))
    )
  })
})

it('the C++ of all layouts compiles', (context) => {
  const { error, status, stderr } = compiled()
  if (error) return context.skip('g++ is not on this machine')
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

it("CDNA4's permutations are those of Triton's tutorial 10", () => {
  const of = (name: string) => layoutCode(findLayout(name), 'torch')
  expect(of('cdna4_mfma32')).toContain(
    'scales.reshape(rows // 32, 32, columns // 8, 4, 2).permute(0, 2, 4, 1, 3).reshape(-1)'
  )
  expect(of('cdna4_mfma16')).toContain(
    'scales.reshape(rows // 32, 2, 16, columns // 8, 2, 4).permute(0, 3, 5, 2, 4, 1).reshape(-1)'
  )
})
