/** A layout's index function as text: for people, and as code in three languages. All come from the digits. */
import { placeDigits, tileExtent, type ScaleLayout, type ScaleShape } from './layout'

export const codeLanguages = ['python', 'cpp', 'typescript'] as const
export type CodeLanguage = (typeof codeLanguages)[number]

interface Term {
  axis: 'row' | 'column'
  weight: number
  /** 0: the outermost digit of its axis, which needs no remainder. */
  modulus: number
  stride: number
}

function termsOf(layout: ScaleLayout, shape: ScaleShape): Term[] {
  return placeDigits(layout, shape).map(({ axis, weight, count, stride, extent }) => ({
    axis,
    weight,
    modulus: extent === 0 ? 0 : count,
    stride
  }))
}

/** 'r / 128 * 2048 + c / 4 * 512 + r % 32 * 16 + r / 32 % 4 * 4 + c % 4', integer division. */
export function formulaText(layout: ScaleLayout, shape: ScaleShape): string {
  return termsOf(layout, shape)
    .map(({ axis, weight, modulus, stride }) => {
      const index = axis === 'row' ? 'r' : 'c'
      const quotient = weight > 1 ? `${index} / ${weight}` : index
      const digit = modulus ? `${quotient} % ${modulus}` : quotient
      return stride > 1 ? `${digit} * ${stride}` : digit
    })
    .join(' + ')
}

/** The same with the numbers of one element: '(200 / 128 = 1) * 2048 + ... = 2345'. */
export function filledFormula(
  layout: ScaleLayout,
  shape: ScaleShape,
  row: number,
  column: number
): string {
  const parts = termsOf(layout, shape).map(({ axis, weight, modulus, stride }) => {
    const index = axis === 'row' ? row : column
    const digit = modulus ? Math.floor(index / weight) % modulus : Math.floor(index / weight)
    const operations = (weight > 1 ? ` / ${weight}` : '') + (modulus ? ` % ${modulus}` : '')
    const shown = operations ? `(${index}${operations} = ${digit})` : String(index)
    return { text: stride > 1 ? `${shown} * ${stride}` : shown, value: digit * stride }
  })
  const total = parts.reduce((sum, part) => sum + part.value, 0)
  return `${parts.map((part) => part.text).join(' + ')} = ${total}`
}

/** A function scale_offset(r, c, rows, columns) in a language; rows and columns are sizes before padding. */
export function layoutCode(layout: ScaleLayout, language: CodeLanguage): string {
  const divide = (value: string, by: number) => {
    if (by === 1) return value
    if (language === 'typescript') return `Math.floor(${value} / ${by})`
    return `${value} ${language === 'python' ? '//' : '/'} ${by}`
  }
  const tiles = { row: tileExtent(layout.rowDigits), column: tileExtent(layout.columnDigits) }
  const names =
    language === 'python'
      ? { row: 'row_tiles', column: 'column_tiles' }
      : { row: 'rowTiles', column: 'columnTiles' }
  const strides = symbolicStrides(layout)
  const parts = termsOf(layout, { rows: 1, columns: 1 }).map(({ axis, weight, modulus }, i) => {
    const quotient = divide(axis === 'row' ? 'r' : 'c', weight)
    const { constant, outer } = strides[i]!
    const factors = [
      modulus ? `${quotient} % ${modulus}` : quotient,
      ...(constant > 1 ? [String(constant)] : []),
      ...outer.map((axis) => names[axis])
    ]
    return factors.join(' * ')
  })
  const sum = parts.join(' + ')
  const sizes = [...new Set(strides.flatMap(({ outer }) => outer))].map((axis) => {
    const size = axis === 'row' ? 'rows' : 'columns'
    const padded = tiles[axis] === 1 ? size : `(${size} + ${tiles[axis] - 1})`
    return { name: names[axis], value: divide(padded, tiles[axis]) }
  })
  const title = `Offset of scale (r, c), ${layout.name}`
  if (language === 'python') {
    const lines = sizes.map(({ name, value }) => `    ${name} = ${value}\n`).join('')
    return `def scale_offset(r, c, rows, columns):\n    """${title}."""\n${lines}    return ${sum}\n`
  }
  if (language === 'cpp') {
    const lines = sizes.map(({ name, value }) => `  const long ${name} = ${value};\n`).join('')
    const parameters = 'long r, long c, [[maybe_unused]] long rows, [[maybe_unused]] long columns'
    return `// ${title}.\nconstexpr long scaleOffset(${parameters}) {\n${lines}  return ${sum};\n}\n`
  }
  const lines = sizes.map(({ name, value }) => `  const ${name} = ${value}\n`).join('')
  const parameters = 'r: number, c: number, rows: number, columns: number'
  return `/** ${title}. */\nfunction scaleOffset(${parameters}): number {\n${lines}  return ${sum}\n}\n`
}

/** Strides in memory order as a constant times the numbers of row or column tiles that lie within. */
function symbolicStrides(layout: ScaleLayout): { constant: number; outer: ('row' | 'column')[] }[] {
  const byName = new Map([...layout.rowDigits, ...layout.columnDigits].map((d) => [d.name, d]))
  let constant = 1
  let outer: ('row' | 'column')[] = []
  return layout.order
    .toReversed()
    .map((name) => {
      const digit = byName.get(name)!
      const stride = { constant, outer }
      if (digit.extent === 0) outer = [...outer, digit.axis]
      else constant *= digit.extent
      return stride
    })
    .toReversed()
}
