/** The run a view shows: what is done with it is done with it, not with the one at work; views come back as they were left. */
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { effectScope, nextTick, ref } from 'vue'
import { formatHash, go, goBackTo, lastAddress, route } from '../../../../src-renderer/ground/route'
import { useConnection } from '../../../../src-renderer/stores/connection'
import { useJobs } from '../../../../src-renderer/stores/jobs'
import { useShownRun } from '../../../../src-renderer/stores/useShownRun'
import { FakeMain } from '../support/fakeMain'
import { makeRun, sweepSpec } from '../support/samples'

describe('the shown run', () => {
  let main: FakeMain
  beforeEach(async () => {
    setActivePinia(createPinia())
    main = new FakeMain()
    const sweep = { kind: 'sweep', spec: sweepSpec, status: 'running' } as const
    main.addJob(makeRun('at-work', sweep))
    main.addJob(makeRun('waiting', sweep))
    await useConnection().start(main.connect)
    await useJobs().refresh()
    await vi.waitFor(() =>
      expect([...useJobs().jobs.values()].map(({ run }) => run?.id)).toEqual(['at-work', 'waiting'])
    )
  })

  it('is the one that is cancelled, also while another one is at work', async () => {
    expect(useJobs().current?.id).toBe('at-work')
    const shown = effectScope().run(() => useShownRun(ref('waiting')))!
    await shown.cancel()
    await vi.waitFor(() => expect(shown.status.value).toBe('cancelled'))
    const cancelled = main.calls.filter(({ method }) => method === 'jobs.cancel')
    expect(cancelled.map(({ input }) => input)).toEqual([{ id: 'waiting' }])
    expect(useJobs().jobs.get('at-work')?.status).toBe('running')
  })

  it('is the one at work where none is named, of the kind that the view shows', async () => {
    const [sweep, validation] = [ref(''), ref('')]
    effectScope().run(() => {
      useShownRun(sweep, { adopt: 'sweep' })
      useShownRun(validation, { adopt: 'validate' })
    })
    await nextTick()
    expect([sweep.value, validation.value]).toEqual(['at-work', ''])
  })

  it('takes a new name at once', async () => {
    const shown = effectScope().run(() => useShownRun(ref('waiting')))!
    await shown.rename('after the change')
    expect(shown.title.value).toBe('after the change')
    expect(main.runs.get('waiting')?.label).toBe('after the change')
  })
})

describe('a view', () => {
  it('comes back as it was left', () => {
    go('sweep', { run: 'a', metric: 'time' })
    go('devices')
    goBackTo('sweep')
    expect(route.value).toEqual({ view: 'sweep', params: { run: 'a', metric: 'time' } })
    expect(formatHash(lastAddress('sweep'))).toBe('#/sweep?run=a&metric=time')
    go('sweep')
    expect(lastAddress('sweep').params).toEqual({})
  })
})
