import { execFileSync } from 'node:child_process'
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
    const body = /return (.*)\n/.exec(layoutCode(layout, 'typescript'))![1]!
    const padding = /const padded = (.*)\n/.exec(layoutCode(layout, 'typescript'))![1]!
    const compiled = new Function('r', 'c', 'columns', `const padded = ${padding}; return ${body}`)
    for (const { shape, row, column } of points) {
      const offset = packedOffset(layout, shape, row, column)
      expect(compiled(row, column, shape.columns)).toBe(offset)
      const integers = formulaText(layout, shape).replace(/([rc]) \/ (\d+)/g, 'Math.floor($1 / $2)')
      expect(new Function('r', 'c', `return ${integers}`)(row, column)).toBe(offset)
    }
  })

  it('the Python evaluates to the offset', (context) => {
    const calls = points.map((p) => `scale_offset(${p.row}, ${p.column}, ${p.shape.columns})`)
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
