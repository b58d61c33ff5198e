/**
 * A copy of arrays and plain objects, all else as it is. Vue's reactive proxies, which structured clone refuses, become
 * plain on the way.
 */
export function plainCopy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(plainCopy) as T
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, plainCopy(entry)])
  ) as T
}
