import { execFileSync, spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { filledFormula, formulaText, layoutCode } from '@shared/layouts/formula'
import { packedOffset, packScales, paddedShape } from '@shared/layouts/layout'
import { findLayout, layouts } from '@shared/layouts/registry'
import { python, pythonHas } from '../../../support/python'

const shapes = [
  { rows: 128, columns: 4 },
  { rows: 200, columns: 13 },
  { rows: 33, columns: 9 }
]

const points = shapes.flatMap((shape) =>
  Array.from({ length: 40 }, (_, i) => ({
    shape,
    row: (i * 37) % shape.rows,
    column: (i * 11) % shape.columns
  }))
)

describe.each(layouts.map((layout) => [layout.name, layout] as const))('%s', (_name, layout) => {
  it('the filled formula ends in the offset', () => {
    for (const { shape, row, column } of points) {
      const end = filledFormula(layout, shape, row, column).split(' = ').at(-1)
      expect(Number(end)).toBe(packedOffset(layout, shape, row, column))
    }
  })

  it('the formula and the TypeScript evaluate to the offset', () => {
    const source = layoutCode(layout, 'typescript').replaceAll(': number', '')
    const compiled = new Function(`${source}; return scaleOffset`)() as (
      ...sizes: number[]
    ) => number
    for (const { shape, row, column } of points) {
      const offset = packedOffset(layout, shape, row, column)
      expect(compiled(row, column, shape.rows, shape.columns)).toBe(offset)
      const integers = formulaText(layout, shape).replace(/([rc]) \/ (\d+)/g, 'Math.floor($1 / $2)')
      expect(new Function('r', 'c', `return ${integers}`)(row, column)).toBe(offset)
    }
  })

  it('the C++ evaluates to the offset at compile time', (context) => {
    const checks = points.map(
      ({ shape, row, column }) =>
        `static_assert(scaleOffset(${row}, ${column}, ${shape.rows}, ${shape.columns}) == ` +
        `${packedOffset(layout, shape, row, column)});`
    )
    const input = `${layoutCode(layout, 'cpp')}\n${checks.join('\n')}\n`
    const flags = ['-std=c++20', '-Wall', '-Werror', '-fsyntax-only', '-x', 'c++', '-']
    const run = spawnSync('g++', flags, { input, encoding: 'utf8' })
    if (run.error) return context.skip('g++ is not on this machine')
    expect(run.stderr).toBe('')
    expect(run.status).toBe(0)
  })

  it('the permutation of axes packs and unpacks as the offsets say', (context) => {
    if (!pythonHas('numpy')) return context.skip('this Python has no numpy')
    const padded = paddedShape(layout, { rows: 200, columns: 13 })
    const linear = Uint8Array.from(
      { length: padded.rows * padded.columns },
      (_, i) => (i * 7919) % 251
    )
    // numpy says transpose where torch says permute.
    const script = `${layoutCode(layout, 'torch').replaceAll('.permute(', '.transpose(')}
import json, sys, numpy
scales = numpy.array(json.load(sys.stdin), dtype=numpy.uint8).reshape(${padded.rows}, ${padded.columns})
packed = pack(scales)
assert (unpack(packed, *scales.shape) == scales).all()
print(json.dumps(packed.tolist()))`
    const said = execFileSync(python, ['-c', script], { input: JSON.stringify([...linear]) })
    expect(JSON.parse(said.toString())).toEqual([...packScales(layout, padded, linear)])
  })

  it('the Python evaluates to the offset', (context) => {
    const calls = points.map(
      (p) => `scale_offset(${p.row}, ${p.column}, ${p.shape.rows}, ${p.shape.columns})`
    )
    const script = `${layoutCode(layout, 'python')}\nprint([${calls.join(', ')}])`
    let output: string
    try {
      output = execFileSync('python3', ['-c', script], { encoding: 'utf8' })
    } catch {
      return context.skip('python3 is not on this machine')
    }
    expect(JSON.parse(output)).toEqual(
      points.map((p) => packedOffset(layout, p.shape, p.row, p.column))
    )
  })
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
