import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { kernelFamilies, kernelFamily } from '@shared/profile/ask/kernelFamilies'
import { shortName } from '@shared/profile/ask/shortName'

const rows = readFileSync('test/fixtures/names/families.tsv', 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split('\t') as [string, string, string])

describe('families of kernels', () => {
  it.each(rows)('%s', (name, family, short) => {
    expect(kernelFamily(name)).toBe(family)
    expect(shortName(name)).toBe(short)
  })

  it('are all in the fixture', () => {
    const found = new Set(rows.map(([, family]) => family))
    expect(kernelFamilies.map(({ id }) => id).filter((id) => !found.has(id))).toEqual([])
  })

  it('are told in time linear in the name', () => {
    const hostile = [
      `_${'12345678'.repeat(5000)}x`,
      `void a<${'b<'.repeat(20_000)}`,
      `f(${'('.repeat(20_000)}`,
      `${'a::'.repeat(20_000)}`,
      `operator${' '.repeat(20_000)}`
    ]
    const start = performance.now()
    for (const name of hostile) shortName(name)
    expect(performance.now() - start).toBeLessThan(2000)
  })
})

describe('short names', () => {
  it('of any C++ name are there and never longer', () => {
    const names = readFileSync('test/fixtures/names/cxxfilt.tsv', 'utf8').trim().split('\n')
    for (const line of names) {
      const [mangled, plain] = line.split('\t') as [string, string]
      expect(shortName(mangled), mangled).not.toBe('')
      expect(shortName(plain).length, plain).toBeLessThanOrEqual(plain.length)
    }
  })
})
