/** The rules that exported traces are held to find what breaks them. */
import { describe, expect, it } from 'vitest'
import { problemsOfTrace } from '../../../support/traceEventFormat'

const slice = (name: string, ts: number, dur: number, more: object = {}) => ({
  ...{ ph: 'X', name, pid: 0, tid: 1, ts, dur },
  ...more
})
const flow = (ph: string, ts: number) => ({
  ...{ ph, name: 'launch', cat: 'flow', id: 7, pid: 0, tid: 1, ts }
})
const frames = { 1: { name: 'main', category: 'scope' } }

describe('the trace event format', () => {
  it('takes a whole trace', () => {
    const traceEvents = [
      { ph: 'M', name: 'thread_name', pid: 0, tid: 1, args: { name: 'Stream 7' } },
      ...[slice('step', 0, 10), slice('inner', 2, 3, { sf: '1' }), slice('next', 10, 1)],
      ...[flow('s', 2), flow('f', 10)]
    ]
    expect(problemsOfTrace({ displayTimeUnit: 'ns', stackFrames: frames, traceEvents })).toEqual([])
  })

  it.each([
    [[slice('a', 0, 5), slice('b', 3, 5)], /^b begins within a and ends after it\.$/],
    [[slice('a', 0, -1)], /has no dur/],
    [[slice('a', NaN, 1)], /has no ts/],
    [[slice('', 0, 1)], /has no name/],
    [[slice('a', 0, 1, { sf: '9' })], /names a frame that is not there/],
    [[{ ph: 'M', name: 'thread_nam', pid: 0, tid: 1 }], /metadata of no kind/],
    [[{ ph: 'M', name: 'thread_name', pid: 0, tid: 1, args: {} }], /no name in args/],
    [[slice('a', 0, 1, { ph: 'Y' })], /phase Y/],
    [[slice('a', 0, 1), flow('s', 0)], /has no finish/],
    [[slice('a', 0, 1), flow('f', 0)], /has no start/],
    [[slice('a', 0, 1), slice('b', 2, 1), flow('s', 2), flow('f', 0)], /ends before it starts/],
    [[slice('a', 0, 1), flow('s', 0), flow('f', 5)], /bound to no slice/]
  ])('refuses %j', (traceEvents, expected) => {
    expect(problemsOfTrace({ stackFrames: frames, traceEvents }).join('\n')).toMatch(expected)
  })

  it.each([
    [[], /no object/],
    [{}, /no list/],
    [{ traceEvents: [], displayTimeUnit: 's' }, /displayTimeUnit/],
    [{ traceEvents: [], stackFrames: { 1: { name: 'a' } } }, /no category/],
    [
      { traceEvents: [], stackFrames: { 1: { name: 'a', category: 'b', parent: '1' } } },
      /leads nowhere/
    ]
  ])('refuses %j', (trace, expected) => {
    expect(problemsOfTrace(trace).join('\n')).toMatch(expected)
  })
})
