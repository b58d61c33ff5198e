/** The address, and what each view showed last. */
import { beforeEach, expect, it, vi } from 'vitest'

beforeEach(() => {
  sessionStorage.clear()
  location.hash = ''
})

/** The module as a page that was loaded anew has it. */
async function loaded() {
  vi.resetModules()
  return import('../../../../src-renderer/ground/route')
}

it('a reload keeps what every view showed, in this tab', async () => {
  const before = await loaded()
  const stop = before.followAddress()
  before.go('sweep', { run: '20261122-1', metric: 'heat' })
  before.go('layouts', { rows: '64' })
  stop()
  const after = await loaded()
  after.followAddress()()
  expect(after.lastAddress('sweep').params).toEqual({ run: '20261122-1', metric: 'heat' })
  after.goBackTo('sweep')
  expect(location.hash).toBe('#/sweep?run=20261122-1&metric=heat')
  expect(after.lastAddress('runs').params).toEqual({})
})

it('a link that was followed counts before what is written for the address that it left', async () => {
  const { followAddress, go, route, useParam } = await loaded()
  const stop = followAddress()
  go('timeline', { run: 'a' })
  const range = useParam('range')
  // As when the event of the link is still to come.
  history.replaceState(history.state, '', '#/timeline?run=a&range=2ms..3ms')
  range.value = '1ms..2ms'
  expect(location.hash).toBe('#/timeline?run=a&range=2ms..3ms')
  expect(route.value.params).toEqual({ run: 'a', range: '2ms..3ms' })
  range.value = '1ms..2ms'
  expect(location.hash).toBe('#/timeline?run=a&range=1ms..2ms')
  stop()
})

it('what is kept is read with care', async () => {
  for (const kept of [
    '{',
    '[]',
    'null',
    '{"sweep":7,"runs":{"run":3,"compare":"a,b"},"evil":{}}'
  ]) {
    sessionStorage.setItem('blockscope.addresses', kept)
    const { followAddress, lastAddress } = await loaded()
    followAddress()()
    expect(lastAddress('sweep').params).toEqual({})
    expect(lastAddress('runs').params).toEqual(kept.includes('evil') ? { compare: 'a,b' } : {})
  }
})
