/** What a stage's bytes and the rest of it take together, and what that makes of choices (src-shared/choice/cost.ts). */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { chooseAgain } from '@shared/choice/chooseAgain'
import { predictTime } from '@shared/choice/cost'
import { factsOf } from '@shared/choice/deviceFacts'
import { stageOf } from '@shared/contract/kernelCost'
import { parseRun } from '@shared/contract/parseRun'
import { judgeAuto } from '@shared/measurement/autoChoices'
import { kernelsOf } from './kernelsOfManifest'
import { isFasterSince } from './timesOfToday'

const listOf = (card: string) =>
  parseRun(readFileSync(`docs/results/${card}-decode-list/run.json`, 'utf8'), card)
const kernels = kernelsOf('sm_90')
const { device, roofs } = listOf('h200')
const facts = factsOf(device!, roofs!)

/** Nanoseconds of a kernel that has one stage, which reads for `memoryNs`. */
function stageNs(memoryNs: number, ns: string, percentInTurn?: string): number {
  if ('reason' in facts.read) throw new Error(facts.read.reason)
  const bytes = String(Math.round((memoryNs * facts.read.rate) / 1e9))
  const stage = stageOf({ name: 'one', ns, bytes, ...(percentInTurn && { percentInTurn }) })
  const cost = { source: 'a test', fixedNs: 0, stages: [stage] }
  const kernel = { ...kernels[0]!, model: { constants: {}, requires: [], cost } }
  const problem = { format: 'mxfp4', m: 1, n: 64, k: 64, output: 'f16' }
  const found = predictTime(kernel, 'bf16', facts, problem)
  if ('reason' in found) throw new Error(found.reason)
  return found.ns
}

it('adds of what takes less, memory or the rest, the share that the stage says is in turn with it', () => {
  expect(stageNs(3000, '1000')).toBeCloseTo(4000, 0)
  expect(stageNs(3000, '1000', '0')).toBeCloseTo(3000, 0)
  expect(stageNs(3000, '1000', '25')).toBeCloseTo(3250, 0)
  expect(stageNs(1000, '3000', '25')).toBeCloseTo(3250, 0)
})

// The H100 timed decode-mma, one row above all, as it was before (docs/decode.md): memory's share is what this list tells. Nor has it
// the kernels whose CTAs give one another parts of tiles as they do today.
it.each(['h100', 'h200'])(
  'chooses within 5 % of the best exact kernel that the list of an %s timed, as `runs choices --again` does',
  (card) => {
    const list = listOf(card)
    const steps = chooseAgain(list, { ...list.device!, kernels })
    const isOfToday = (step: (typeof steps)[number]) =>
      card === 'h200' ||
      !['decode', 'decode-fp8', 'decode-mma'].some((kernel) => isFasterSince(kernel, step))
    const { choices, problems } = judgeAuto({ steps: steps.filter(isOfToday) }, 0.05)
    expect(choices).toHaveLength(card === 'h200' ? 210 : 135)
    expect(problems).toEqual([])
  }
)
