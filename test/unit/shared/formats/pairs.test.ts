import { describe, expect, it } from 'vitest'
import {
  blockFormats,
  everyBlockFormat,
  findBlockFormat,
  formatOfPair,
  matchBlockFormat,
  matrixBytes,
  pairFormats
} from '@shared/formats/blockFormat'
import { isScaled } from '@shared/formats/numberFormat'

describe('pairs of elements', () => {
  it('are every two of five types under e8m0 per 32, and e2m1 under the scales it may have', () => {
    const scaled = everyBlockFormat.filter(({ a }) => isScaled(a))
    expect(scaled).toHaveLength(27)
    expect(pairFormats).toHaveLength(everyBlockFormat.length - blockFormats.length)
    const keys = scaled.map(({ a, b, scale, scaleBlockSize }) =>
      [a.name, b.name, scale.name, scaleBlockSize].join()
    )
    expect(new Set(keys).size).toBe(27)
    expect(keys.filter((key) => key.endsWith('e8m0,32'))).toHaveLength(25)
  })

  it('are besides those of activations without scales', () => {
    const unscaled = everyBlockFormat.filter(({ a }) => !isScaled(a))
    expect(unscaled.map(({ id }) => id)).toEqual(['w4a16_mxfp4', 'w4a16_nvfp4'])
    for (const format of unscaled) {
      expect(format.flopsMetric).toBe('flops16')
      expect(matrixBytes(format, 'a', 4, 64)).toEqual({ elements: 512, scales: 0 })
      expect(matrixBytes(format, 'b', 4, 64).scales).toBe(256 / format.scaleBlockSize)
    }
  })

  it('are named by their elements, A before B', () => {
    const { a, b, scale, scaleBlockSize } = findBlockFormat('e5m2xe2m1')
    expect([a.name, b.name, scale.name, scaleBlockSize]).toEqual(['e5m2', 'e2m1', 'e8m0', 32])
    expect(pairFormats.map(({ id }) => id)).toContain('e2m3xe3m2')
  })

  it.each([
    ['e4m3xe2m1', 'mixed'],
    ['E4M3xE4M3', 'mxfp8'],
    ['e2m1xe2m1', 'mxfp4'],
    ['e2m1xe2m1-e8m0-16', 'mxfp4_b16'],
    ['e2m1xe2m1-ue4m3-16', 'nvfp4'],
    ['e2m1xe2m1-e4m3-16', 'nvfp4'],
    ['e5m2xe2m1-e8m0-32', 'e5m2xe2m1']
  ])('%s is %s', (written, id) => {
    expect(findBlockFormat(written).id).toBe(id)
  })

  it('are refused under a scale that no definition gives them', () => {
    const why =
      /No format has A e2m1, B e2m1 and a ue4m3 scale per 32 elements\. Scales: e8m0 per 32/
    expect(() => findBlockFormat('e2m1xe2m1-ue4m3-32')).toThrow(why)
    expect(() => findBlockFormat('e4m3xe4m3-e8m0-16')).toThrow(/No format has A e4m3/)
    expect(formatOfPair('mxfp4')).toBeUndefined()
    expect(formatOfPair('e4m3xe9m9')).toBeUndefined()
    expect(matchBlockFormat('e3m2', 'e4m3', 'e8m0', 32).id).toBe('e3m2xe4m3')
  })

  it('are offered where a name is nearly one', () => {
    expect(() => findBlockFormat('e5m2xe2m7')).toThrow(/Did you mean e5m2xe2m[13]\?.*e5m2xe2m1\./)
  })
})
