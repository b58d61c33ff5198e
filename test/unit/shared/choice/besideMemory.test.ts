/** What a stage's bytes and the rest of it take together, and what no kernel is below (src-shared/choice/cost.ts). */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { predictTime } from '@shared/choice/cost'
import { chooseAgain } from '@shared/choice/chooseAgain'
import { factsOf } from '@shared/choice/deviceFacts'
import type { Step } from '@shared/contract/run'
import { parseRun } from '@shared/contract/parseRun'
import { groupedBy } from '@shared/groupedBy'
import { kernelsOf } from './kernelsOfManifest'

const listOf = (card: string) =>
  parseRun(readFileSync(`docs/results/${card}-decode-list/run.json`, 'utf8'), card)
const kernels = kernelsOf('sm_90')
const run = listOf('h200')
const facts = factsOf(run.device!, run.roofs!)
const problem = { format: 'mxfp4', m: 1, n: 64, k: 64, output: 'f16' }
const decode = kernels.find(({ id }) => id === 'decode')!

/** Nanoseconds of a kernel that has this one stage, which reads for `memoryNs`. */
function stageNs(memoryNs: number, ns: string, more: { percentInTurn?: string } = {}): number {
  const rate = 'reason' in facts.read ? NaN : facts.read.rate
  const stage = { ...decode.model!.cost!.stages[0]!, units: '1', slots: '1', flop: '0', ns }
  const bytes = String(Math.round((memoryNs * rate) / 1e9))
  const whole = { ...stage, percentInTurn: '100', ...more, bytes, percentOfRead: '100' }
  const cost = { ...decode.model!.cost!, fixedNs: 0, stages: [whole] }
  const found = predictTime(
    { ...decode, model: { ...decode.model!, cost } },
    'bf16',
    facts,
    problem
  )
  return 'ns' in found ? found.summedNs : NaN
}

it('adds of what takes less, memory or the rest, the share that the stage says is in turn with it', () => {
  expect(stageNs(3000, '1000')).toBeCloseTo(4000, 0)
  expect(stageNs(3000, '1000', { percentInTurn: '0' })).toBeCloseTo(3000, 0)
  expect(stageNs(3000, '1000', { percentInTurn: '25' })).toBeCloseTo(3250, 0)
  expect(stageNs(1000, '3000', { percentInTurn: '25' })).toBeCloseTo(3250, 0)
})

it('tells no kernel less than its launches and a plain read of what it reads', () => {
  const cost = { ...decode.model!.cost!, fixedNs: 5000, stages: [] }
  const found = predictTime({ ...decode, model: { ...decode.model!, cost } }, 'bf16', facts, {
    ...problem,
    n: 8192,
    k: 8192
  })
  if (!('ns' in found)) throw new Error(found.reason)
  expect(found.floorNs).toBeGreaterThan(7000)
  expect(found.ns).toBe(5000 + found.floorNs)
})

it('chooses within 5 % of the best exact kernel that a list timed, on memory of either speed', () => {
  for (const card of ['h100', 'h200']) {
    const list = listOf(card)
    const steps = chooseAgain(list, { ...list.device!, kernels })
    const timeOf = ({ measurement }: Step) => measurement!.timeNs.median
    const timed = steps.filter(({ measurement, kernel }) => measurement && /^decode/.test(kernel))
    const shares = [...groupedBy(timed, ({ format, m, n, k }) => [format, m, n, k].join()).values()]
      .filter((ofOne) => ofOne.some(({ choice }) => choice))
      .map((ofOne) => timeOf(ofOne.find(({ choice }) => choice)!) / Math.min(...ofOne.map(timeOf)))
    expect(shares).toHaveLength(210)
    expect(Math.max(...shares)).toBeLessThan(1.05)
  }
})
