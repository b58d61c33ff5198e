import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ProgressGate } from '@shared/rpc/progressGate'

const figure = (n: number) => ({ type: 'progress', n })

describe('ProgressGate', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('sends the first figure at once and then the newest ten times a second', () => {
    const sent: unknown[] = []
    const gate = new ProgressGate(
      (value) => sent.push(value),
      () => false
    )
    for (let n = 0; n < 100; n++) {
      gate.push(figure(n))
      vi.advanceTimersByTime(10)
    }
    vi.advanceTimersByTime(100)
    expect(sent).toEqual([0, 9, 19, 29, 39, 49, 59, 69, 79, 89, 99].map(figure))
  })

  it('holds figures, but no other event, while the wire is congested', () => {
    const sent: unknown[] = []
    let congested = true
    const gate = new ProgressGate(
      (value) => sent.push(value),
      () => congested
    )
    gate.push(figure(1))
    vi.advanceTimersByTime(1000)
    expect(sent).toEqual([])
    gate.push(figure(2))
    gate.push({ type: 'step' })
    expect(sent).toEqual([figure(2), { type: 'step' }])
    gate.push(figure(3))
    vi.advanceTimersByTime(1000)
    expect(sent).toHaveLength(2)
    congested = false
    vi.advanceTimersByTime(100)
    expect(sent.at(-1)).toEqual(figure(3))
  })

  it('sends nothing after it was closed', () => {
    const sent: unknown[] = []
    const gate = new ProgressGate(
      (value) => sent.push(value),
      () => false
    )
    gate.push(figure(1))
    gate.push(figure(2))
    gate.close()
    vi.advanceTimersByTime(1000)
    expect(sent).toEqual([figure(1)])
  })
})
