/** A layout's index function as text: for people, and as code in three languages. All come from the digits. */
import { placeDigits, type ScaleLayout, type ScaleShape } from './layout'

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

/**
 * A function scale_offset(r, c, columns) in a language; `columns` is the number of scale columns before padding. Row and
 * column sizes enter only through the stride of the outermost digits.
 */
export function layoutCode(layout: ScaleLayout, language: CodeLanguage): string {
  const columnTile = layout.columnDigits.reduce(
    (product, digit) => product * (digit.extent || 1),
    1
  )
  // The stride of each digit as a constant times the padded number of columns: found from two sizes.
  const at = (columns: number) => termsOf(layout, { rows: 1, columns: columns * columnTile })
  const one = at(1)
  const two = at(2)
  const divide = language === 'python' ? '//' : '/'
  const parts = one.map(({ axis, weight, modulus, stride }, i) => {
    const index = axis === 'row' ? 'r' : 'c'
    const quotient = weight > 1 ? divided(index, weight, language) : index
    const digit = modulus ? `${quotient} % ${modulus}` : quotient
    const grows = two[i]!.stride !== stride
    const perColumn = stride / columnTile
    const factor = grows ? (perColumn === 1 ? 'padded' : `${perColumn} * padded`) : String(stride)
    return factor === '1' ? digit : `${digit} * ${factor}`
  })
  const sum = parts.join(' + ')
  const title = `Offset of scale (r, c), ${layout.name}`
  if (language === 'python') {
    return (
      `def scale_offset(r, c, columns):\n    """${title}."""\n` +
      `    padded = (columns + ${columnTile - 1}) ${divide} ${columnTile} * ${columnTile}\n    return ${sum}\n`
    )
  }
  if (language === 'cpp') {
    return (
      `// ${title}.\nconstexpr long scaleOffset(long r, long c, long columns) {\n` +
      `  const long padded = (columns + ${columnTile - 1}) / ${columnTile} * ${columnTile};\n  return ${sum};\n}\n`
    )
  }
  return (
    `/** ${title}. */\nfunction scaleOffset(r: number, c: number, columns: number): number {\n` +
    `  const padded = Math.ceil(columns / ${columnTile}) * ${columnTile}\n  return ${sum}\n}\n`
  )
}

function divided(index: string, weight: number, language: CodeLanguage): string {
  if (language === 'typescript') return `Math.floor(${index} / ${weight})`
  return `${index} ${language === 'python' ? '//' : '/'} ${weight}`
}
