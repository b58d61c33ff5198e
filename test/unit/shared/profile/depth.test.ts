import { describe, expect, it } from 'vitest'
import { furtherCallers, invertCalls } from '@shared/profile/ask/regroup'
import { readHatchet } from '@shared/profile/read/readHatchet'
import { longestChain } from '@shared/profile/tree/chainLength'
import { nodeName, type ProfileTree } from '@shared/profile/tree/profileTree'
import { metricValues } from '@shared/profile/tree/rollUp'
import { foldedLines } from '@shared/profile/write/writeFolded'

/** Each level calls the next and has a launch of its own: whole paths of all nodes would be quadratic. */
function chain(levels: number): ProfileTree {
  const open = Array.from(
    { length: levels },
    (_, i) => `{"frame":{"name":"f${i}"},"metrics":{"time (ns)":1},"children":[`
  )
  return readHatchet(new TextEncoder().encode(open.join('') + ']}'.repeat(levels)), 'chain')
}

describe('trees of 20,000 levels', () => {
  const levels = 20_000
  const deep = chain(levels)
  const allowed = 32 * levels

  it('are inverted in steps linear in their nodes, every launch kept, and say what was joined', () => {
    const inverted = invertCalls(deep)
    expect(inverted.count).toBeLessThanOrEqual(allowed + 2 * levels)
    expect(metricValues(inverted, 'time (ns)')[0]).toBe(levels - 1)
    expect(inverted.warnings[0]).toMatch(
      /levels deep: callers further than \d+ calls away are one row/
    )
    const names = Array.from({ length: inverted.count }, (_, node) => nodeName(inverted, node))
    expect(names).toContain(furtherCallers)
  })

  it('are folded in lines linear in their nodes: the outermost frames, how many were left out, the frame', () => {
    const lines = [...foldedLines(deep, (name) => name)]
    expect(lines).toHaveLength(levels)
    expect(lines.reduce((sum, line) => sum + line.split(';').length, 0)).toBeLessThanOrEqual(
      allowed + 3 * levels
    )
    expect(lines.at(-1)).toMatch(/^f0;f1;.*;\(\d+ frames\);f19999 1\n$/)
  })
})

it('shallow trees keep every caller and every frame', () => {
  const shallow = chain(900)
  expect(longestChain(shallow, () => true)).toBe(Infinity)
  expect([...foldedLines(shallow, (name) => name)].at(-1)!.split(';')).toHaveLength(900)
  expect(invertCalls(shallow).warnings).toEqual([])
})
