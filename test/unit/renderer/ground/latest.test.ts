/** Answers that come late, in another order than their questions, or about what has changed meanwhile. */
import { describe, expect, it } from 'vitest'
import { useLatest } from '../../../../src-renderer/ground/latest'

/** A question whose answers the test gives, in the order in which they were asked for. */
function asked() {
  const open: { answer: (words: string) => void; fail: (error: Error) => void }[] = []
  const ask = () =>
    new Promise<string>((answer, fail) => {
      open.push({ answer, fail })
    })
  const taken: string[] = []
  const settled = async () => {
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  }
  return {
    ...useLatest(ask, (answer) => taken.push(answer)),
    ...{ open, taken, settled }
  }
}

describe('of questions that are asked while one is open', () => {
  it('only the last is asked, and its answer stands', async () => {
    const { refresh, open, taken, settled, busy } = asked()
    const all = [refresh(), refresh(), refresh()]
    expect(open).toHaveLength(1)
    open[0]!.answer('of the first')
    await settled()
    expect(taken).toEqual(['of the first'])
    expect([open.length, busy.value]).toEqual([2, true])
    open[1]!.answer('of the last')
    await Promise.all(all)
    expect(taken).toEqual(['of the first', 'of the last'])
    expect(busy.value).toBe(false)
  })

  it('a failure of the first is none', async () => {
    const { refresh, open, taken, settled } = asked()
    const all = [refresh(), refresh()]
    open[0]!.fail(new Error('gone'))
    await settled()
    open[1]!.answer('here')
    await Promise.all(all)
    expect(taken).toEqual(['here'])
  })

  it('one of the last is said to all, and the next question is asked', async () => {
    const { refresh, open, taken } = asked()
    const failing = refresh()
    open[0]!.fail(new Error('gone'))
    await expect(failing).rejects.toThrow('gone')
    const next = refresh()
    open[1]!.answer('here again')
    await next
    expect(taken).toEqual(['here again'])
  })
})

describe('another question', () => {
  it('is asked behind the one before, whose answer is not taken', async () => {
    const { refresh, askAnother, open, taken, settled } = asked()
    const all = [refresh(), askAnother()]
    open[0]!.answer('to the first')
    await settled()
    open[1]!.answer('to the other')
    await Promise.all(all)
    expect(taken).toEqual(['to the other'])
  })
})

describe('a change', () => {
  it('of what is asked about makes an answer late: it is asked again', async () => {
    const { refresh, changed, open, taken, settled } = asked()
    const done = refresh()
    changed()
    open[0]!.answer('of before')
    await settled()
    open[1]!.answer('of now')
    await done
    expect(taken).toEqual(['of now'])
  })

  it('asks nothing where no question is open', async () => {
    const { changed, refresh, open, taken } = asked()
    changed()
    expect(open).toEqual([])
    const done = refresh()
    open[0]!.answer('once')
    await done
    expect([open.length, taken]).toEqual([1, ['once']])
  })
})
