import { execFileSync, spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { filledFormula, formulaText, layoutCode } from '@shared/layouts/formula'
import { packedOffset } from '@shared/layouts/layout'
import { layouts } from '@shared/layouts/registry'

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
