/** Round steps of an axis. */

/** The least of 1, 2, 2.5 and 5 times a power of ten that is at least as much as asked. */
export function roundStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted))
  return power * ([1, 2, 2.5, 5, 10].find((step) => step * power >= wanted * (1 - 1e-12)) ?? 10)
}

/** From 0 in round steps, eight at most; the last one ends the axis. */
export function ticksTo(most: number): number[] {
  if (!(most > 0)) return [0, 1]
  const step = roundStep(most / 8)
  const count = Math.ceil(most / step - 1e-9)
  return Array.from({ length: count + 1 }, (_, index) => index * step)
}
