/** Values out of JSON.parse, looked at without trusting them. */
import { UserError } from '../../errors'

/** V8 holds at most 2^29 - 24 characters in a string; JSON is mostly one byte a character. */
const longestText = 2 ** 29 - 25

/** The text of a form that is read whole. @throws UserError where no string can hold it. */
export function textOf(bytes: Uint8Array, fileName: string): string {
  if (bytes.length > longestText) {
    throw new UserError(
      'usage',
      `${fileName} has ${describeBytes(bytes.length)}, and this form is read whole: ${describeBytes(longestText)} at most.`
    )
  }
  return new TextDecoder().decode(bytes)
}

/** Parses a whole JSON text that is small enough to hold; errors name the file. */
export function parseJson(bytes: Uint8Array, fileName: string): unknown {
  const text = textOf(bytes, fileName)
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new UserError('usage', `${fileName} is not valid JSON: ${why}.`, { cause: error })
  }
}

/** '512 MiB' */
export function describeBytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An own property; never one that an object inherits, whatever the file calls it. */
export function property(object: unknown, key: string): unknown {
  return isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined
}

export function stringOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}

export function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
