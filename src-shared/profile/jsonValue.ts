/** Values out of JSON.parse, looked at without trusting them. */
import { UserError } from '../errors'

/** Parses a whole JSON text that is small enough to hold; errors name the file. */
export function parseJson(bytes: Uint8Array, fileName: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new UserError('usage', `${fileName} is not valid JSON: ${why}.`, { cause: error })
  }
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
