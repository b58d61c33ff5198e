import type { NamedValues } from '../contract/kernelCost'

/**
 * The integer expressions of kernel manifests (resources/kernels/cuda/README.md), as native/cuda/expression.cpp evaluates
 * them: C's grammar from ?: to unary minus, over whole numbers that a double holds exactly.
 */
export type Names = Readonly<Record<string, number>>

const functions: Record<string, (a: number, b: number) => number> = {
  ceil_div: divideUp,
  round_up: (a, b) => exact(divideUp(a, b) * b),
  min: Math.min,
  max: Math.max
}

/** From weakest to strongest; what a condition leaves out is evaluated lazily and may divide by zero. */
const levels: Record<string, (a: number, b: () => number) => number>[] = [
  { '||': (a, b) => Number(a !== 0 || b() !== 0) },
  { '&&': (a, b) => Number(a !== 0 && b() !== 0) },
  { '==': (a, b) => Number(a === b()), '!=': (a, b) => Number(a !== b()) },
  {
    '<=': (a, b) => Number(a <= b()),
    '>=': (a, b) => Number(a >= b()),
    '<': (a, b) => Number(a < b()),
    '>': (a, b) => Number(a > b())
  },
  { '+': (a, b) => exact(a + b()), '-': (a, b) => exact(a - b()) },
  {
    '*': (a, b) => exact(a * b()),
    '/': (a, b) => divide(a, b()),
    '%': (a, b) => remainder(a, b())
  }
]

const functionNames = Object.keys(functions)
  .join(', ')
  .replace(/, (\w+)$/, ' and $1')

const tokenPattern = /\s*(\d+|[A-Za-z_]\w*|\|\||&&|[=!<>]=|[-+*/%<>?:(),])/y

function exact(value: number): number {
  if (!Number.isSafeInteger(value)) throw new Error('its value does not fit 53 bits')
  return value
}

/** Of a division that rounds down, for negative numbers too. */
function remainder(a: number, b: number): number {
  if (b === 0) throw new Error('it divides by zero')
  const rest = a % b
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest
}

/** Exact, where Math.floor would be given a quotient that is rounded already. */
function divide(a: number, b: number): number {
  return (a - remainder(a, b)) / b
}

function divideUp(a: number, b: number): number {
  return -divide(-a, b)
}

type Thunk = () => number

/** Throws an Error that quotes the expression: bad syntax, an unknown name, a division by zero, a number beyond 2^53. */
export function evaluate(expression: string, names: Names): number {
  const fail = (why: string): never => {
    throw new Error(`Expression "${expression}": ${why}.`)
  }
  const tokens = tokensOf(expression) ?? fail('it has a character that is none of an expression')
  let at = 0
  const take = (token: string) => tokens[at] === token && ++at > 0
  const need = (token: string) => take(token) || fail(`'${token}' is missing`)

  function conditional(): Thunk {
    const condition = binary(0)
    if (!take('?')) return condition
    const yes = conditional()
    need(':')
    const no = conditional()
    return () => (condition() !== 0 ? yes() : no())
  }
  function binary(level: number): Thunk {
    const operators = levels[level]
    if (!operators) return unary()
    let left = binary(level + 1)
    for (;;) {
      const operator = tokens[at] ?? ''
      if (!Object.hasOwn(operators, operator)) return left
      at++
      const [first, second] = [left, binary(level + 1)]
      left = () => operators[operator]!(first(), second)
    }
  }
  function unary(): Thunk {
    if (take('-')) {
      const value = unary()
      return () => -value()
    }
    if (take('(')) {
      const value = conditional()
      need(')')
      return value
    }
    const token = tokens[at++] ?? fail('it ends too early')
    if (/^\d/.test(token)) return () => exact(Number(token))
    if (!/^\w/.test(token)) return fail('a number or a name is missing')
    if (take('(')) {
      const call = Object.hasOwn(functions, token) ? functions[token]! : undefined
      if (!call) return fail(`"${token}" is no function; there are ${functionNames}`)
      const first = conditional()
      need(',')
      const second = conditional()
      need(')')
      return () => call(first(), second())
    }
    if (!Object.hasOwn(names, token)) return fail(`"${token}" is not known`)
    return () => names[token]!
  }

  const whole = conditional()
  if (at < tokens.length) fail(`"${tokens[at]}" is too much`)
  try {
    return whole() + 0 // never -0
  } catch (error) {
    return fail((error as Error).message)
  }
}

/** Names and the values that a row has beside them, each by those before it. Throws as evaluate(). */
export function withValues(names: Names, values: NamedValues): Names {
  const all = { ...names }
  for (const { name, expression } of values) all[name] = evaluate(expression, all)
  return all
}

function tokensOf(expression: string): string[] | undefined {
  const tokens: string[] = []
  tokenPattern.lastIndex = 0
  const end = expression.trimEnd().length
  for (let from = 0; from < end; from = tokenPattern.lastIndex) {
    const found = tokenPattern.exec(expression)
    if (!found) return undefined
    tokens.push(found[1]!)
  }
  return tokens
}
