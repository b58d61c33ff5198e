import type { Roofs } from '@shared/charts/limits'

export type TypedRoofs = Record<'compute' | 'memory', string>

/** What is wrong with a limit as typed; nothing with an empty one, which leaves the known limit. */
export function roofProblem(typed: string): string | undefined {
  const value = Number(typed)
  const good = typed.trim() === '' || (value > 0 && Number.isFinite(value))
  return good ? undefined : 'Write a number above 0, such as 1979.'
}

/** Typed in TFLOP/s and GB/s. */
const units = { compute: 1e12, memory: 1e9 }

/** The limits that are typed and good. */
export function enteredRoofs(typed: TypedRoofs): Roofs['entered'] {
  const entered: Roofs['entered'] = {}
  for (const key of ['compute', 'memory'] as const) {
    const text = typed[key]
    if (text.trim() === '' || roofProblem(text)) continue
    entered[key] = Number(text) * units[key]
  }
  return entered
}
