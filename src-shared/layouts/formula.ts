/** A layout's index function as text: for people, and as code in three languages. All come from the digits. */
import { permuteCode } from './permuteCode'
import { placeDigits, tileExtent, type ScaleLayout, type ScaleShape } from './layout'

/** 'torch': no index function, but the layout as a permutation of axes. */
export const codeLanguages = ['python', 'cpp', 'typescript', 'torch'] as const
export type CodeLanguage = (typeof codeLanguages)[number]

interface Term {
  axis: 'row' | 'column'
  weight: number
  /** 0: the outermost digit of its axis, which needs no remainder. */
  modulus: number
  stride: number
  /** The same without a shape: weight and modulus times the number of tiles of the axis. */
  symbolic: { weight: number; weightTiles: boolean; modulus: number; modulusTiles: boolean }
}

function termsOf(layout: ScaleLayout, shape: ScaleShape): Term[] {
  return placeDigits(layout, shape).map(({ axis, name, weight, count, stride, extent }) => {
    const digits = axis === 'row' ? layout.rowDigits : layout.columnDigits
    const at = digits.findIndex((digit) => digit.name === name)
    const outermost = at === 0
    const lower = digits.slice(at + 1)
    return {
      axis,
      weight,
      modulus: outermost ? 0 : count,
      stride,
      symbolic: {
        weight: tileExtent(lower),
        weightTiles: lower.some((digit) => digit.extent === 0),
        modulus: outermost ? 0 : extent || 1,
        modulusTiles: !outermost && extent === 0
      }
    }
  })
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
  if (language === 'torch') return permuteCode(layout)
  const divide = (value: string, by: number | string) => {
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
  const terms = termsOf(layout, { rows: 1, columns: 1 })
  const parts = terms.map(({ axis, symbolic }, i) => {
    const { weight, weightTiles, modulus, modulusTiles } = symbolic
    const by = weightTiles ? (weight > 1 ? `(${weight} * ${names[axis]})` : names[axis]) : weight
    const quotient = divide(axis === 'row' ? 'r' : 'c', by)
    const remainder = modulusTiles ? names[axis] : modulus
    const { constant, outer } = strides[i]!
    const factors = [
      remainder ? `${quotient} % ${remainder}` : quotient,
      ...(constant > 1 ? [String(constant)] : []),
      ...outer.map((axis) => names[axis])
    ]
    return factors.join(' * ')
  })
  const sum = parts.join(' + ')
  const sized = [
    ...strides.flatMap(({ outer }) => outer),
    ...terms
      .filter(({ symbolic }) => symbolic.weightTiles || symbolic.modulusTiles)
      .map(({ axis }) => axis)
  ]
  const sizes = [...new Set(sized)].map((axis) => {
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
