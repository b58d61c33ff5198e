import fc from 'fast-check'
import { expect, it } from 'vitest'
import { solveLeastSquares } from '@shared/layouts/detectSolve'

const entry = fc.integer({ min: -9, max: 9 })

it('leaves a residual at right angles to every column, which only the least has', () => {
  const systems = fc
    .tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 5 }))
    .chain(([unknowns, spare]) =>
      fc.record({
        unknowns: fc.constant(unknowns),
        matrix: fc.array(entry, {
          minLength: unknowns * (unknowns + spare),
          maxLength: unknowns * (unknowns + spare)
        }),
        target: fc.array(entry, { minLength: unknowns + spare, maxLength: unknowns + spare })
      })
    )
  fc.assert(
    fc.property(systems, ({ unknowns, matrix, target }) => {
      const solved = solveLeastSquares(
        Float64Array.from(matrix),
        Float64Array.from(target),
        unknowns
      )
      const x = solved.map((value) => (Number.isNaN(value) ? 0 : value))
      const residual = target.map((value, row) =>
        x.reduce((rest, factor, column) => rest - factor * matrix[row * unknowns + column]!, value)
      )
      const size = 1 + Math.max(...x.map(Math.abs))
      for (let column = 0; column < unknowns; column++) {
        const along = residual.reduce(
          (sum, value, row) => sum + value * matrix[row * unknowns + column]!,
          0
        )
        expect(Math.abs(along)).toBeLessThan(1e-7 * size)
      }
    })
  )
})

it('calls an unknown NaN when nothing depends on it, or another stands for it', () => {
  const matrix = Float64Array.of(1, 0, 2, 1, 0, 2, 0, 0, 0)
  const x = solveLeastSquares(matrix, Float64Array.of(3, 3, 0), 3)
  expect([...x]).toEqual([expect.closeTo(3, 12), NaN, NaN])
})
