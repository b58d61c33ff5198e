import { expect, it } from 'vitest'
import { dividedOn, divisionOf } from './decodeDivisions'

for (const card of ['h200', 'h100'] as const)
  it(`divides decode-mma's work at most 5 % worse than the best that was timed on the ${card.toUpperCase()}`, () => {
    const rows = dividedOn(card)
    const lines: string[] = []
    const chosen = new Set<string>()
    let worst = 1
    for (const one of rows) {
      const division = divisionOf(one)
      const us = one.us[division]
      if (us === undefined) continue
      const share = us / Math.min(...Object.values(one.us))
      worst = Math.max(worst, share)
      chosen.add(division)
      lines.push(`${one.format} ${one.m} x ${one.n} x ${one.k}: ${division}, ${share.toFixed(3)}`)
    }
    expect(lines.length).toBeGreaterThan(0.9 * rows.length)
    expect(chosen.size).toBeGreaterThanOrEqual(5)
    expect(worst, lines.join('\n')).toBeLessThanOrEqual(1.05)
  })
