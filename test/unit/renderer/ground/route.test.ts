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
