import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { boxAt, icicleBoxes } from '../../../../src-renderer/charts/icicleChart'
import { viewCommand } from '../../../../src-renderer/stores/profile'
import type { ProfileQuery } from '../../../../src-renderer/workers/profileProtocol'
import { Openness, ProfileSession } from '../../../../src-renderer/workers/profileSession'

const bytesOf = (name: string) =>
  new Uint8Array(readFileSync(`test/fixtures/proton/synthetic/${name}.hatchet`))
const query = (part: Partial<ProfileQuery> = {}): ProfileQuery => ({
  metrics: ['time/ms'],
  include: '',
  exclude: '',
  threshold: NaN,
  depth: 100,
  sort: 'chronological',
  hotPath: false,
  flat: false,
  metadata: false,
  demangle: true,
  diff: false,
  search: '',
  openness: { all: true, toggled: [] },
  ...part
})
function opened(name = 'modern_a'): ProfileSession {
  const session = new ProfileSession()
  session.open(bytesOf(name), name)
  return session
}

describe('ProfileSession', () => {
  it('sends the tree once and then only what changed', () => {
    const session = opened()
    const first = session.show(query())
    expect(first.tree?.count).toBe(first.columns[0]!.values.length)
    expect(session.show(query({ depth: 1 })).tree).toBeNull()
    expect(session.show(query({ depth: 1 })).rows).toHaveLength(1)
  })

  it('filters, and leaves the total of the root as it was', () => {
    const session = opened()
    const all = session.show(query())
    const some = session.show(query({ include: 'no such name' }))
    expect(some.rows).toHaveLength(0)
    expect(some.columns[0]!.values[0]).toBe(all.columns[0]!.values[0])
    expect(() => session.show(query({ include: '/(/' }))).toThrow(/not a regular expression/)
  })

  it('closes and opens nodes', () => {
    const session = opened()
    expect(session.show(query({ openness: { all: false, toggled: [] } })).rows).toHaveLength(1)
    expect(new Openness(true, [3]).has(3)).toBe(false)
    expect(new Openness(true, [3]).has(2)).toBe(true)
  })

  it('compares with a baseline: changes are profile minus baseline', () => {
    const session = opened('modern_c')
    session.openBaseline(bytesOf('modern_a'), 'modern_a')
    const { columns, state } = session.show(query({ diff: true }))
    const [before, after, change] = columns.map((column) => column.values[0]!)
    expect(change).toBeCloseTo(after! - before!, 9)
    expect(state).not.toBeNull()
  })

  it('says in words what is wrong with a file', () => {
    const session = new ProfileSession()
    const whole = bytesOf('modern_a')
    expect(() => session.open(whole.slice(0, whole.length / 2), 'half.hatchet')).toThrow(/half/)
    expect(() => session.open(new Uint8Array([1, 2]), 'x.png')).toThrow(/x\.png/)
  })

  it.each(['proton', 'csv', 'folded', 'hatchet', 'speedscope', 'trace'] as const)(
    'writes %s',
    (form) => expect(opened().text(form, query()).length).toBeGreaterThan(20)
  )
})

describe('viewCommand', () => {
  it('quotes what a shell would take apart', () => {
    expect(viewCommand(query({ include: "it's" }), 'a b.hatchet')).toBe(
      "blockscope view 'a b.hatchet' -m time/ms -i 'it'\\''s'"
    )
  })
})

describe('icicleBoxes', () => {
  it('passes over what is too narrow to see, with all below it', () => {
    const edges = {
      x0: Float64Array.of(0, 0, 0.5, 0.5),
      x1: Float64Array.of(1, 0.5, 0.5001, 0.5001),
      depth: Int32Array.of(0, 1, 1, 2)
    }
    const boxes = icicleBoxes(edges, Int32Array.of(4, 2, 4, 4), 100)
    expect(boxes.map((box) => box.node)).toEqual([0, 1])
    expect(boxAt(boxes, 10, 25)?.node).toBe(1)
  })
})
