import { count } from '@shared/units'

/** What a person typed into a field: a value, or what is wrong with it in words. */
export interface Checked<T> {
  value?: T
  problem?: string
}

const largestExtent = 1_048_576

interface Range {
  min: number
  max: number
  /** Whether an empty field means "the default". */
  optional?: boolean
}

export function wholeNumber(
  typed: string,
  name: string,
  { min, max, optional }: Range
): Checked<number> {
  const text = typed.trim().replaceAll(/[ ,_](?=\d{3})/g, '')
  if (text === '') return optional ? {} : { problem: `${name} is missing.` }
  const value = Number(text)
  if (!Number.isInteger(value)) return { problem: `${name} must be a whole number.` }
  if (value < min || value > max) {
    return { problem: `${name} must be from ${count(min)} to ${count(max)}.` }
  }
  return { value }
}

export const extent = (typed: string, name: string, optional = true): Checked<number> =>
  wholeNumber(typed, name, { min: 1, max: largestExtent, optional })

export function nonNegative(typed: string, name: string): Checked<number> {
  const value = Number(typed.trim())
  if (typed.trim() === '') return { problem: `${name} is missing.` }
  if (!Number.isFinite(value) || value < 0) {
    return { problem: `${name} must be a number of at least 0, such as 1e-3.` }
  }
  return { value }
}

const mostValues = 10_000

/**
 * Extents of one dimension: '512, 1024, 4096' or '512..8192 step 512' (also '512-8192:512'), or several of these; a range
 * of K without a step has steps of 512.
 */
export function extentList(
  typed: string,
  name: 'M' | 'N' | 'K',
  optional = false
): Checked<number[]> {
  const tooMany = `More than ${count(mostValues)} values of ${name}; take a larger step.`
  const parts = typed.split(/[,;\n]+/).map((part) => part.trim())
  const values: number[] = []
  for (const part of parts.filter(Boolean)) {
    const range =
      /^(\d+)\s*(?:\.\.|-|–|to)\s*(\d+)(?:\s*(?:step|:|by)\s*(\d+))?$/i.exec(part) ?? undefined
    if (!range) {
      const single = extent(part, `"${part}"`, false)
      if (single.value === undefined) {
        return {
          problem: `${single.problem} Write values of ${name} as 512, 1024 or 512..8192 step 512.`
        }
      }
      values.push(single.value)
      continue
    }
    const [from, to] = [Number(range[1]), Number(range[2])]
    const step = range[3] === undefined && name === 'K' ? 512 : Number(range[3])
    if (from < 1 || to > largestExtent) {
      return { problem: `"${part}": ${name} must be from 1 to ${count(largestExtent)}.` }
    }
    if (to < from) return { problem: `"${part}" ends before it begins.` }
    if (!(step >= 1))
      return {
        problem: `"${part}": the step must be at least 1, as in ${range[1]}..${range[2]} step 16.`
      }
    if ((to - from) / step + 1 > mostValues) return { problem: tooMany }
    for (let value = from; value <= to; value += step) values.push(value)
  }
  const distinct = [...new Set(values)]
  if (distinct.length === 0) return optional ? {} : { problem: `Name at least one ${name}.` }
  return distinct.length > mostValues ? { problem: tooMany } : { value: distinct }
}

/** Problems by field; empty when all fields are good. */
export function problemsOf(fields: Record<string, Checked<unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, { problem }]) => (problem ? [[name, problem]] : []))
  )
}
