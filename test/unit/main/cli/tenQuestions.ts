/** What every door is asked of a run, what the steps alone answer, and whether a door agrees. */
import { expect } from 'vitest'
import type { Run } from '@shared/contract/run'
import { demangle } from '@shared/profile/ask/demangle'
import { operationName } from '@shared/profile/tree/operation'

/** The ten questions: eight of each operation, two of the whole. What a door does not show it leaves out. */
export interface Answers {
  /** Per operation: us, TFLOP/s, GB/s, percent of the whole, samples, total sampled in ms, count, launched kernels. */
  us: Record<string, number>
  tflops?: Record<string, number>
  gbytes?: Record<string, number>
  percent?: Record<string, number>
  samples?: Record<string, number>
  sampledMs?: Record<string, number>
  count?: Record<string, number>
  /** Names as a view shows them, one by one: a C++ name has commas of its own. */
  launches?: Record<string, string[]>
  /** Time of one operation of each, us. */
  wholeUs?: number
  /** The operation that takes longest. */
  slowest?: string
}

export type Row = { name: string; depth: number; metrics: Record<string, number | null> }
export const metrics = 'time/us,tflop/s,gbyte/s,time/%,samples,total sampled/ms,count'

/** From the steps alone. */
export function expected(run: Run): Required<Answers> {
  const timed = run.steps.filter((step) => step.measurement)
  const of = <T>(value: (step: (typeof timed)[number]) => T) =>
    Object.fromEntries(timed.map((step) => [operationName(step), value(step)]))
  const us = of((step) => step.measurement!.timeNs.median / 1e3)
  const wholeUs = Object.values(us).reduce((sum, one) => sum + one, 0)
  return {
    us,
    tflops: of((step) => step.measurement!.tflops),
    gbytes: of((step) => step.measurement!.gbytesPerSecond),
    percent: of((step) => step.measurement!.timeNs.median / 10 / wholeUs),
    samples: of((step) => step.measurement!.timeNs.samples),
    sampledMs: of(({ measurement: m }) => (m!.timeNs.mean * m!.timeNs.samples) / 1e6),
    count: of(() => 1),
    // A CPU kernel is launched as itself.
    launches: of(({ kernel, measurement }) =>
      [...new Set(measurement!.launches.map(({ name }) => demangle(name)))].filter(
        (name) => name !== kernel
      )
    ),
    wholeUs,
    slowest: Object.entries(us).sort(([, a], [, b]) => b - a)[0]![0]
  }
}

export function fromRows(rows: readonly Row[]): Answers {
  const isOperation = ({ name }: Row) => / \[M=\d+, N=\d+, K=\d+[,\]]/.test(name)
  const operations = rows.filter(isOperation)
  const of = (metric: string) =>
    Object.fromEntries(operations.map(({ name, metrics }) => [name, metrics[metric]!]))
  const below = (row: Row) => {
    const after = rows.slice(rows.indexOf(row) + 1)
    const end = after.findIndex(({ depth }) => depth <= row.depth)
    return after.slice(0, end < 0 ? undefined : end).map(({ name }) => name)
  }
  const us = of('time/us') as Record<string, number>
  const hasTree = rows[0]!.name === 'ROOT'
  return {
    us,
    tflops: of('tflop/s') as Record<string, number>,
    gbytes: of('gbyte/s') as Record<string, number>,
    percent: of('time/%') as Record<string, number>,
    samples: of('samples') as Record<string, number>,
    sampledMs: of('total sampled/ms') as Record<string, number>,
    count: of('count') as Record<string, number>,
    ...(hasTree && {
      launches: Object.fromEntries(operations.map((row) => [row.name, below(row)])),
      wholeUs: rows[0]!.metrics['time/us']!
    }),
    slowest: Object.entries(us).sort(([, a], [, b]) => b - a)[0]![0]
  }
}

export function agree(answers: Answers, right: Required<Answers>, digits = 12): void {
  for (const [question, answer] of Object.entries(answers)) {
    const wanted = right[question as keyof Answers]
    if (typeof answer === 'string') expect(answer, question).toBe(wanted)
    else if (typeof answer === 'number') near(answer, wanted as number, digits, question)
    else {
      expect(Object.keys(answer as object).sort(), question).toEqual(Object.keys(wanted).sort())
      for (const [name, value] of Object.entries(answer as object)) {
        const other = (wanted as Record<string, number | string[]>)[name]!
        if (typeof other === 'number')
          near(value as number, other, digits, `${question} of ${name}`)
        else expect(value, `${question} of ${name}`).toEqual(other)
      }
    }
  }
}

function near(value: number, wanted: number, digits: number, what: string): void {
  const error = Math.abs(value - wanted)
  expect(error <= 10 ** -digits * Math.abs(wanted), `${what}: ${value}, not ${wanted}`).toBe(true)
}
