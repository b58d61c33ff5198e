/** The list of runs under answers that come late: what the person did stays done. */
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it } from 'vitest'
import type { RunSummary } from '@shared/contract/run'
import { useConnection } from '../../../../src-renderer/stores/connection'
import { useRuns } from '../../../../src-renderer/stores/runs'
import { FakeMain, summaryOf } from '../support/fakeMain'
import { makeRun } from '../support/samples'

describe('a list of runs that was asked for before', () => {
  let main: FakeMain
  let runs: ReturnType<typeof useRuns>
  /** The next list answers with what there is now, once the function that this returns is called. */
  let listLate: () => () => void
  beforeEach(async () => {
    setActivePinia(createPinia())
    main = new FakeMain()
    for (const id of ['a', 'b']) main.addJob(makeRun(id, { status: 'done' }))
    await useConnection().start(main.connect)
    runs = useRuns()
    await runs.load()
    listLate = () => {
      const now: RunSummary[] = [...main.runs.values()].map(summaryOf)
      let answer!: () => void
      const given = new Promise<void>((resolve) => (answer = resolve))
      main.overrides['runs.list'] = async () => {
        delete main.overrides['runs.list']
        await given
        return now
      }
      return answer
    }
  })
  const ids = () => runs.list.map(({ id }) => id).sort()

  it('does not bring back a run that was deleted meanwhile', async () => {
    const answer = listLate()
    const listed = runs.load()
    await runs.remove(['a'])
    expect(ids()).toEqual(['b'])
    answer()
    await listed
    expect(ids()).toEqual(['b'])
  })

  it('does not take a name back', async () => {
    const answer = listLate()
    const listed = runs.load()
    await runs.annotate('a', { label: 'before the swizzle' })
    answer()
    await listed
    expect(runs.list.find(({ id }) => id === 'a')!.label).toBe('before the swizzle')
  })

  it('does not hide what a later one shows', async () => {
    const answer = listLate()
    const listed = runs.load()
    main.addJob(makeRun('c', { status: 'done' }))
    const again = runs.load()
    answer()
    await Promise.all([listed, again])
    expect(ids()).toEqual(['a', 'b', 'c'])
  })
})
