/** What a sweep over several problems has when it is cut off: times of whole problems, and what is left for `runs resume`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Run, Step } from '@shared/contract/run'
import { startBlockscope } from '../../../support/runBlockscope'
import { runInProcess } from '../../../support/runInProcess'

let store: string
beforeEach(() => (store = mkdtempSync(join(tmpdir(), 'blockscope-cut-'))))
afterEach(() => rmSync(store, { recursive: true, force: true }))

const problems = 4
const kernels = ['cpu-avx2', 'cpu-portable']
const words = [
  ...['sweep', '--device', 'cpu', '--formats', 'mxfp8,nvfp4', '-M', '128', '-N', '128'],
  ...['--kernels', kernels.join(','), '--rounds', '2']
]
/** Four problems of two kernels; a point takes a tenth of a second at the least. */
const sweep = [...words, '-K', '256,512', '--preset', 'quick']

const nameOf = ({ format, k }: Step) => `${format} ${k}`

async function latest(): Promise<Run> {
  const { stdout } = await runInProcess(['runs', 'show', 'latest', '--store', store, '--json'])
  return JSON.parse(stdout) as Run
}

it.each(['SIGINT', 'SIGKILL'] as const)(
  'a sweep ended by %s has times of the problems it came to; the rest is done by runs resume',
  async (signal) => {
    const program = startBlockscope([...sweep, '--store', store])
    // Three rows are one problem and a half.
    await program.printed(/(passed[\s\S]*){3}/)
    program.signal(signal)
    await program.done
    const cut = await latest()
    expect(cut.status).toBe(signal === 'SIGINT' ? 'cancelled' : 'interrupted')
    const begun = new Set(cut.steps.map(nameOf))
    const timed = cut.steps.filter(({ measurement }) => measurement).map(nameOf)
    const whole = [...begun].filter((name) => timed.filter((one) => one === name).length === 2)
    expect(whole.length).toBeGreaterThanOrEqual(1)
    // It ended in the first round: a part is there of one problem at most, and some were not begun.
    expect(begun.size - whole.length).toBeLessThanOrEqual(1)
    expect(begun.size).toBeLessThan(problems)

    const resumed = await runInProcess(['runs', 'resume', cut.id, '--store', store])
    expect(resumed.code).toBe(0)
    const run = await latest()
    expect(run.status).toBe('done')
    expect(run.events[0]!.message).toContain(
      `${cut.steps.length} of 8 steps had been validated there`
    )
    expect(run.steps).toHaveLength(problems * kernels.length)
    for (const step of run.steps) {
      expect(step.measurement!.roundMediansNs).toHaveLength(2)
      const before = cut.steps.find(({ index }) => index === step.index)
      if (before) expect(step.validation).toEqual(before.validation)
    }
  }
)

it('a sweep that is killed between validation and times keeps the validation', async () => {
  const slow = [...words, '-K', '256', '--preset', 'thorough']
  const program = startBlockscope([...slow, '--store', store])
  // Both kernels of a problem have been validated, and the first is being timed, which takes a second or more.
  const steps = async () => (await latest().catch(() => undefined))?.steps ?? []
  await expect.poll(async () => (await steps()).length).toBe(2)
  program.signal('SIGKILL')
  await program.done
  const cut = await latest()
  expect(cut.steps.map(({ disposition }) => disposition)).toContain('not-run')
  expect(cut.steps.every(({ validation }) => validation)).toBe(true)
})
