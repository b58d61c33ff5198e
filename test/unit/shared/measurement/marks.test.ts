/** One language of marks: keyed to ids, told apart by every eye, in both looks. */
import { describe, expect, it } from 'vitest'
import {
  familyOf,
  formatSymbol,
  kernelColours,
  kernelKey,
  providerColours,
  ramps,
  symbolPath,
  type Colour,
  type KernelId
} from '../../../../src-shared/measurement/marks'
import { blockFormats } from '../../../../src-shared/formats/blockFormat'
import { contrast, oklabDistance } from '../../renderer/support/colourVision'

const looks = [
  ['light', '#ffffff'],
  ['dark', '#11141a']
] as const
const eyes = ['none', 'protan', 'deutan'] as const

const kernel = (name: string, provider = 'blockscope'): KernelId => ({ kernel: name, provider })
const named = [
  ...['wgmma', 'wgmma-fp8-p32', 'wgmma-fp8-p64', 'wgmma-fp8-p128', 'wgmma-fp8-p256'].map((name) =>
    kernel(name)
  ),
  kernel('triton', 'Triton'),
  kernel('triton-fast-math', 'Triton'),
  kernel('cublaslt-bf16', 'cuBLASLt'),
  kernel('cublaslt-fp8', 'cuBLASLt')
]

describe('the colour of a kernel', () => {
  it('is its own, whatever else is shown: live, finished, alone or overlaid', () => {
    const all = kernelColours(named)
    for (const id of named) {
      expect(kernelColours([id]).get(kernelKey(id))).toBe(all.get(kernelKey(id)))
      expect(kernelColours([...named].reverse()).get(kernelKey(id))).toBe(all.get(kernelKey(id)))
    }
    expect(new Set(all.values()).size).toBe(named.length)
  })

  it('of a kernel nobody named comes from its id, and never wraps onto another while steps are free', () => {
    const mine = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'].map((name) => kernel(name, 'user'))
    const colours = kernelColours(mine)
    expect(new Set(colours.values()).size).toBe(5)
    expect([...colours.values()].every((colour) => ramps.user.includes(colour))).toBe(true)
    expect(kernelColours([mine[0]!]).get(kernelKey(mine[0]!))).toBe(
      colours.get(kernelKey(mine[0]!))
    )
    // A kernel that takes a name's provider does not take its shade.
    const clash = kernelColours([kernel('other'), kernel('wgmma')])
    expect(clash.get(kernelKey(kernel('wgmma')))).toBe(ramps.blockscope[0])
    expect(clash.get(kernelKey(kernel('other')))).not.toBe(ramps.blockscope[0])
  })

  it('goes by the provider; what runs on the CPU and what nobody knows have hues of their own', () => {
    expect(familyOf(kernel('cpu-avx2'))).toBe('cpu')
    expect(familyOf(kernel('mma', 'blockscope'))).toBe('blockscope')
    expect(familyOf(kernel('x', 'my company'))).toBe('user')
  })
})

describe('the symbol of a format', () => {
  it('with its dots is different for every format of the registry', () => {
    const signs = blockFormats.map(({ id }) => symbolPath(formatSymbol(id)))
    expect(new Set(signs).size).toBe(blockFormats.length)
  })
})

describe.each(looks)('%s', (look, surface) => {
  const apart = (one: Colour, other: Colour) =>
    Math.min(...eyes.map((eye) => oklabDistance(one[look], other[look], eye)))
  const pairs = <T>(list: readonly T[]) =>
    list.flatMap((one, index) => list.slice(index + 1).map((other) => [one, other] as const))

  it('every mark has 3 to 1 on its panel', () => {
    for (const colour of [...Object.values(ramps).flat(), ...Object.values(providerColours)]) {
      expect(contrast(colour[look], surface), colour[look]).toBeGreaterThanOrEqual(3)
    }
  })

  it('providers stay apart for people who see no red or no green', () => {
    // Vendors' libraries share theirs: they are never on the same GPU.
    const { hipblaslt, ...others } = providerColours
    expect(hipblaslt).toBe(others.cublaslt)
    for (const [one, other] of pairs(Object.values(others))) {
      expect(apart(one, other), `${one[look]} ${other[look]}`).toBeGreaterThanOrEqual(9)
    }
  })

  it('named kernels of two providers stay apart, and shades of one do too', () => {
    const colours = kernelColours(named)
    for (const [one, other] of pairs(named)) {
      const least = familyOf(one) === familyOf(other) ? 5 : 7
      const [a, b] = [colours.get(kernelKey(one))!, colours.get(kernelKey(other))!]
      expect(apart(a, b), `${one.kernel} ${other.kernel}`).toBeGreaterThanOrEqual(least)
    }
    for (const steps of Object.values(ramps)) {
      for (const [one, other] of pairs(steps)) {
        expect(apart(one, other), `${one[look]} ${other[look]}`).toBeGreaterThanOrEqual(5)
      }
    }
  })
})
