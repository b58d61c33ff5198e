/** A random order that a seed repeats: Fisher-Yates over the mulberry32 generator. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const result = [...items]
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let x = Math.imul(state ^ (state >>> 15), 1 | state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1))
    const swapped = result[i]!
    result[i] = result[j]!
    result[j] = swapped
  }
  return result
}
