import { describe, expect, it } from 'vitest'
import { blockFormats, findBlockFormat } from '@shared/formats/blockFormat'
import { levelsAt, studyBlock } from '@shared/formats/blockStudy'
import { compareFormats, drawValues, referenceQuantize } from '@shared/formats/compare'
import {
  errorAxis,
  errorCounts,
  errorProfile,
  sizeAxis,
  sizeCounts
} from '@shared/formats/errorProfile'
import { scaleRules } from '@shared/formats/quantize'

const block = () => Float64Array.from({ length: 32 }, (_, i) => (i % 4) / 2)

describe('a block', () => {
  it('is what the formula of floor says, with what clips', () => {
    const values = block()
    values[5] = 7
    // floor(log2 7) - 2 = 0: 2^0, so that 7 clips to 6.
    const study = studyBlock(findBlockFormat('mxfp4'), values, 'floor', 0)
    expect(study.scales).toEqual([{ code: 127, value: 1, step: 1 }])
    expect(study.elements[5]).toEqual({ value: 7, code: 7, stored: 6, error: -1, clips: true })
    expect(study).toMatchObject({ clips: 1, maxError: 1, maxErrorAt: 5 })
    const ceil = studyBlock(findBlockFormat('mxfp4'), values, 'ceil', 0)
    expect(ceil).toMatchObject({ clips: 0, scales: [{ code: 128 }] })
    // 7 lies half way between 6 and 8, at a step of 2 between 3 and 4: to the even code, 4.
    expect(ceil.elements[5]).toMatchObject({ stored: 8, error: 1 })
  })

  it('of NVFP4 has two scales, and the scale of its whole tensor', () => {
    const study = studyBlock(findBlockFormat('nvfp4'), block(), 'floor', 2688)
    expect(study.tensorScale).toBe(1)
    expect(study.scales).toHaveLength(2)
    expect(study.scales[0]!.value).toBe(0.25)
    expect(studyBlock(findBlockFormat('nvfp4'), block(), 'floor', 0).tensorScale).toBeLessThan(1)
  })

  it('with a NaN is lost as a whole, and only it', () => {
    const values = block()
    values[20] = NaN
    const nvfp4 = studyBlock(findBlockFormat('nvfp4'), values, 'floor', 0)
    expect(nvfp4.elements.slice(16).every(({ stored }) => Number.isNaN(stored))).toBe(true)
    expect(nvfp4.elements[3]!.stored).toBeCloseTo(1.5)
    const mxfp4 = studyBlock(findBlockFormat('mxfp4'), values, 'floor', 0)
    expect(mxfp4).toMatchObject({ clips: 0, scales: [{ code: 0xff }] })
    expect(mxfp4.sqnr).toBeNaN()
  })

  it('is stored on levels, under every rule of every format', () => {
    const values = Float64Array.from(drawValues('normal', 32, 3))
    for (const format of blockFormats) {
      for (const rule of scaleRules) {
        const { elements, scales } = studyBlock(format, values, rule, 4)
        const levels = scales.map(({ step }) => levelsAt(format, step))
        elements.forEach(({ stored, code }, i) => {
          const ofBlock = levels[Math.floor(i / format.scaleBlockSize)]!
          const level = ofBlock.find(({ codes }) => codes.includes(code))!
          expect(level.value).toBeCloseTo(stored, 12)
        })
      }
    }
    expect(levelsAt(findBlockFormat('mxfp4'), 0.5).map(({ value }) => value)).toEqual([
      3, 2, 1.5, 1, 0.75, 0.5, 0.25, 0, -0.25, -0.5, -0.75, -1, -1.5, -2, -3
    ])
  })
})

describe('the profile of errors', () => {
  it('counts every value once, by size and by error, in units of their rms', () => {
    const values = [2, -2, 2, -2, 0]
    const stored = [2.2, -2, 1.8, NaN, 0]
    const unit = Math.sqrt(12 / 4)
    const profile = errorProfile(values, stored)
    expect(profile.unit).toBeCloseTo(unit)
    expect(profile.rms).toBeCloseTo(Math.sqrt(0.08 / 4) / unit)
    expect(profile.counts.reduce((sum, count) => sum + count)).toBe(4)
    const size = Math.floor(((Math.log2(2 / unit) - sizeAxis.from) / 11) * sizeAxis.bins)
    expect(sizeCounts(profile)[size]).toBe(3)
    expect(sizeCounts(profile)[0]).toBe(1)
    expect(profile.squares[size]).toBeCloseTo(0.08 / unit ** 2)
    const middle = errorAxis.bins / 2
    expect(errorCounts(profile, size, size)[middle]).toBe(1)
    expect(errorCounts(profile)[middle]).toBe(2)
  })

  it('comes with a comparison, and agrees with its SQNR', async () => {
    const formats = [findBlockFormat('mxfp4'), findBlockFormat('nvfp4')]
    const ask = (profiled: boolean) =>
      compareFormats(formats, ['floor'], ['normal'], [], 0, referenceQuantize, profiled)
    for (const { profile, sqnr } of await ask(true)) {
      expect(-20 * Math.log10(profile!.rms)).toBeCloseTo(sqnr, 6)
    }
    expect((await ask(false))[0]!.profile).toBeUndefined()
  })
})
