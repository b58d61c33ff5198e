import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { nodeAtPath, pathText } from '@shared/profile/ask/nodePath'
import type { RangeSums } from '@shared/profile/lanes/rangeSums'
import { openProfile } from '@shared/profile/read/openProfile'
import { fromTransferable } from '@shared/profile/tree/transfer'
import { viewCommand } from '@shared/profile/write/viewCommand'
import { register } from '../../../../src-main/cli/view'
import { runCommand } from '../../main/cli/runCommand'
import type { ProfileQuery } from '../../../../src-renderer/workers/profileProtocol'
import type { TimelineInfo } from '../../../../src-renderer/workers/timelineProtocol'
import { Openness, ProfileSession } from '../../../../src-renderer/workers/profileSession'

const bytesOf = (name: string) =>
  new Uint8Array(readFileSync(`test/fixtures/proton/synthetic/${name}.hatchet`))
const query = (part: Partial<ProfileQuery> = {}): ProfileQuery => ({
  metrics: ['time/ms'],
  include: '',
  exclude: '',
  depth: 100,
  sort: 'chronological',
  hotPath: false,
  arrangement: 'tree',
  metadata: false,
  demangle: true,
  diff: false,
  search: '',
  openness: { all: true, toggled: [] },
  ...part
})
function opened(name = 'modern_a'): ProfileSession {
  const session = new ProfileSession()
  session.open({ opened: openProfile(bytesOf(name), name), files: [name] })
  return session
}

describe('ProfileSession', () => {
  it('sends the tree once and then only what changed', () => {
    const session = opened()
    const first = session.show(query())
    expect(first.tree?.count).toBe(first.columns![0]!.values.length)
    expect(session.show(query()).columns).toBeNull()
    expect(session.show(query({ depth: 1 })).tree).toBeNull()
    expect(session.show(query({ depth: 1 })).rows).toHaveLength(1)
  })

  it('colours the launches of a run by what launched them, in the tree and in time', () => {
    const session = new ProfileSession()
    const run = new Uint8Array(readFileSync('docs/results/h200-8192/run.json'))
    session.open({ opened: openProfile(run, 'run.json'), files: ['run.json'] })
    const whole = { startNs: 0, endNs: Infinity }
    const { lanes } = session.timeline({ ask: 'info' }) as TimelineInfo
    const titles = session.timeline({ ask: 'colour', by: 'kind' }) as string[]
    const asked = { ask: 'sums', range: whole, lanes: lanes.map((_, at) => at) } as const
    const { names } = session.timeline(asked) as RangeSums
    const titleOf = (name: string) =>
      titles[names.find((one) => one.name.startsWith(name))?.group ?? -1]
    expect(titleOf('multiply')).toBe('block-scaled matmul')
    expect(titleOf('fallback')).toBe('block-scaled matmul')
    expect(titleOf('widen')).toBe('widen, quantise')
    expect(titleOf('wgmma mixed')).toBe('block-scaled matmul')
    expect(titleOf('nvjet_sm90_qqhsh')).toBe('dense matmul')
    expect(titleOf('cublaslt-bf16 mxfp4')).toBe('dense matmul')
  })

  it('filters, and leaves the total of the root as it was', () => {
    const session = opened()
    const all = session.show(query())
    const some = session.show(query({ include: 'no such name' }))
    expect(some.rows).toHaveLength(0)
    expect(all.columns![0]!.values[0]).toBeGreaterThan(0)
    expect(some.columns).toBeNull()
    expect(() => session.show(query({ include: '/(/' }))).toThrow(/not a regular expression/)
  })

  it('searches in any case, and by a regular expression as it is written', () => {
    const session = opened()
    const matches = (search: string) => session.show(query({ search })).matches.length
    expect(matches('root')).toBe(1)
    expect(matches('/^ROOT$/')).toBe(1)
    expect(matches('/^root$/')).toBe(0)
    expect(matches('/^root$/i')).toBe(1)
  })

  it('keeps the tree of callers while columns come and go', () => {
    const session = opened()
    const arrangement = 'inverted'
    expect(session.show(query({ arrangement })).tree).not.toBeNull()
    const wider = session.show(query({ arrangement, metrics: ['count', 'time/ms'] }))
    expect([wider.tree, wider.columns?.length]).toEqual([null, 2])
    expect(session.show(query({ arrangement, demangle: false })).tree).not.toBeNull()
  })

  it('closes and opens nodes', () => {
    const session = opened()
    expect(session.show(query({ openness: { all: false, toggled: [] } })).rows).toHaveLength(1)
    expect(new Openness(true, [3]).has(3)).toBe(false)
    expect(new Openness(true, [3]).has(2)).toBe(true)
  })

  it('compares with a baseline: changes are profile minus baseline', () => {
    const session = opened('modern_c')
    session.openBaseline({
      opened: openProfile(bytesOf('modern_a'), 'modern_a'),
      files: ['modern_a']
    })
    const { columns, state } = session.show(query({ diff: true }))
    const [before, after, change] = columns!.map((column) => column.values[0]!)
    expect(change).toBeCloseTo(after! - before!, 9)
    expect(state).not.toBeNull()
  })

  it('sends columns that are added', () => {
    const session = opened()
    session.show(query())
    const labels = session
      .show(query({ metrics: ['time/ms', 'count'] }))
      .columns!.map((c) => c.label)
    expect(labels).toHaveLength(2)
  })

  it.each(['proton', 'csv', 'folded', 'hatchet', 'speedscope', 'trace'] as const)(
    'writes %s',
    (form) => expect(opened().text(form, query()).length).toBeGreaterThan(20)
  )
})

describe('viewCommand', () => {
  it('quotes what a shell would take apart', () => {
    expect(viewCommand(query({ include: "it's" }), ['a b.hatchet'])).toBe(
      "blockscope view 'a b.hatchet' -m time/ms -i 'it'\\''s'"
    )
  })
})

describe('the command that the view shows', () => {
  const path = 'test/fixtures/proton/synthetic/modern_a.hatchet'
  const variants: Partial<ProfileQuery>[] = [
    {},
    { metrics: ['time/us', 'count'] },
    { include: 'matmul' },
    { exclude: '/layer[1]/', include: 'layer' },
    { threshold: 0.001 },
    { threshold: 0 },
    { threshold: 0, metrics: ['tflop8/s'] },
    { depth: 2 },
    { sort: { column: 0, descending: true } },
    { sort: 'name' },
    { hotPath: true },
    { arrangement: 'flat' },
    { arrangement: 'inverted' },
    { metadata: true, demangle: false }
  ]
  it.each(variants)('prints what the view copies: %o', async (part) => {
    const session = new ProfileSession()
    session.open({ opened: openProfile(new Uint8Array(readFileSync(path)), path), files: [path] })
    const asked = query(part)
    const [, , ...words] = viewCommand(asked, [path])
      .split(' ')
      .map((word) => word.replaceAll("'", ''))
    const { stdout } = await runCommand(register, ['view', ...words])
    // The command says below what the view says beside the tree.
    expect(stdout.startsWith(session.text('proton', asked))).toBe(true)
  })
})

describe('one subtree', () => {
  const path = 'test/fixtures/proton/synthetic/modern_a.hatchet'

  it.each(['tree', 'inverted'] as const)('of %s is what --node prints', async (arrangement) => {
    const session = new ProfileSession()
    session.open({ opened: openProfile(new Uint8Array(readFileSync(path)), path), files: [path] })
    const tree = fromTransferable(session.show(query({ arrangement })).tree!)
    const below = 2
    const asked = query({ arrangement, node: below })
    const command = viewCommand(asked, [path], undefined, pathText(tree, below))
    expect(command).toMatch(/--node '?ROOT/)
    const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, a, b]) => a ?? b!)
    const { stdout } = await runCommand(register, words.slice(1))
    expect(stdout.startsWith(session.text('proton', asked))).toBe(true)
    const { rows } = session.show(asked)
    expect(rows).toContain(below)
    expect([...rows].every((row) => row < tree.end[below]!)).toBe(true)
  })

  it('is refused on the command line where there is none', async () => {
    await expect(runCommand(register, ['view', path, '--node', 'ROOT > nowhere'])).rejects.toThrow(
      "No node at 'ROOT > nowhere'"
    )
    await expect(runCommand(register, ['view', path, '--flat', '--inverted'])).rejects.toThrow(
      /exclude each other/
    )
  })
})

describe('nodeAtPath', () => {
  it('finds every node of a profile by its path, or one of the same path', () => {
    for (const name of ['modern_a', 'modern_c', 'legacy_b', 'arch120']) {
      const tree = fromTransferable(opened(name).show(query()).tree!)
      for (let node = 0; node < tree.count; node++) {
        const path = pathText(tree, node)
        expect(pathText(tree, nodeAtPath(tree, path))).toBe(path)
      }
      expect(nodeAtPath(tree, 'no > such > path')).toBe(-1)
      expect(nodeAtPath(tree, '')).toBe(-1)
    }
  })
})
