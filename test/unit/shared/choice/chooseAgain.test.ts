import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { chooseAgain } from '@shared/choice/chooseAgain'
import type { Device, Kernel } from '@shared/contract/devices'
import { parseRun } from '@shared/contract/parseRun'
import type { Measurement, Run, Step } from '@shared/contract/run'
import { sampleStep } from '../../../support/sampleRun'

const path = 'docs/results/h200-gpt-oss-120b/run.json'
const saved = parseRun(readFileSync(path, 'utf8'), path)
const wgmma = saved.device!.kernels.find(({ id }) => id === 'wgmma')!
/** A kernel whose every operation takes `ns` here. */
const kernel = (id: string, ns: number): Kernel => ({
  ...{ ...wgmma, id },
  model: { constants: {}, requires: [], cost: { source: 'here', fixedNs: ns, stages: [] } }
})
const measurement = { timeNs: { median: 1 } } as Measurement
let index = 0
const step = (kernelId: string, change: Partial<Step> = {}): Step =>
  sampleStep(index++, { kernel: kernelId, format: 'mxfp4', measurement, ...change })

it('marks at each point the kernel that is fastest by the costs of today, of those that were timed there', () => {
  const { measurement: _none, ...untimed } = step('quick', { k: 1024 })
  const choice = { kernel: 'slow', why: 'then', candidates: [] }
  const run: Run = {
    ...saved,
    steps: [
      step('slow', { choice }),
      step('quick'),
      step('slow', { k: 1024 }),
      untimed,
      step('untold', { k: 2048 })
    ]
  }
  const device: Device = {
    ...saved.device!,
    kernels: [kernel('quickest', 1e9), kernel('quick', 2e9), kernel('slow', 3e9)]
  }
  const steps = chooseAgain(run, device)
  expect(steps.map(({ kernel: id, choice: made }) => [id, made?.kernel])).toEqual([
    ['slow', undefined],
    ['quick', 'quick'],
    ['slow', 'slow'],
    ['quick', undefined],
    ['untold', undefined]
  ])
})
