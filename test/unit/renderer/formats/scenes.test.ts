import { describe, expect, it } from 'vitest'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { studyBlock } from '@shared/formats/blockStudy'
import { compareFormats, drawValues, referenceQuantize } from '@shared/formats/compare'
import { sizeAxis } from '@shared/formats/errorProfile'
import { scaleRules } from '@shared/formats/quantize'
import {
  axisFor,
  blockScene,
  columnAt,
  plot,
  valueAt,
  yOf
} from '../../../../src-renderer/views/formats/blockScene'
import { scaleWords, typedValue } from '../../../../src-renderer/views/formats/blockWords'
import {
  binAt,
  drawnFormats,
  gainPlaces,
  histogramPath,
  mostShare,
  rmsOf,
  ruleGains,
  sizeOfBin,
  sizeScene
} from '../../../../src-renderer/views/formats/errorScenes'

const values = Float64Array.from(drawValues('normal', 32, 0))
const sceneOf = (id: string, width = 1000, chosen = 0) => {
  const format = findBlockFormat(id)
  const study = studyBlock(format, values, 'floor', 4)
  return { study, format, scene: blockScene(format, study, axisFor(values), width, chosen) }
}

describe('the block under a hand', () => {
  it('reads back from a pixel the value that stands there', () => {
    const axis = axisFor(values)
    expect(axis.most).toBe(4)
    for (const value of [-3.9, 0, 0.63, 4])
      expect(valueAt(yOf(value, axis), axis)).toBeCloseTo(value)
    expect(valueAt(plot.top - plot.height / 2, axis)).toBe(8)
    expect(yOf(99, axis)).toBe(plot.top)
    expect(axisFor([NaN, Infinity, 0]).most).toBe(1)
  })

  it('has a column for each value, and finds it', () => {
    const { scene } = sceneOf('mxfp4')
    expect(scene.columns).toHaveLength(32)
    scene.columns.forEach(({ x, width }, at) => expect(columnAt(scene, x + width / 2)).toBe(at))
    expect(columnAt(scene, 5000)).toBe(31)
  })

  it('fans the levels of the chosen block out with their codes, where they can be read', () => {
    const { scene } = sceneOf('mxfp4')
    expect(scene.rungs.map(({ level }) => level.value)).toEqual([
      3, 2, 1.5, 1, 0.75, 0.5, 0.25, 0, -0.25, -0.5, -0.75, -1, -1.5, -2, -3
    ])
    expect(scene.rungs[7]!.level.codes).toEqual([0, 8])
    expect(sceneOf('mxfp8').scene.rungs).toEqual([])
    expect(sceneOf('mxfp4', 400).scene.rungs).toEqual([])
  })

  it('sets blocks of 16 apart, each with its own reach', () => {
    const { scene, study } = sceneOf('nvfp4')
    expect(scene.blocks).toHaveLength(2)
    expect(scene.blocks[1]!.from - scene.blocks[0]!.to).toBeCloseTo(14)
    scene.blocks.forEach(({ reach }, at) => expect(reach).toBeCloseTo(6 * study.scales[at]!.step))
  })

  it('shows the bytes that kernels hold, and whose codes are in each', () => {
    const fp4 = sceneOf('mxfp4')
    const [first, second] = fp4.study.elements.map(({ code }) => code)
    expect(fp4.scene.bytes[0]).toMatchObject({ byte: first! | (second! << 4), of: [0, 1] })
    const fp6 = sceneOf('mxfp6_e2m3').scene.bytes
    expect(fp6.map(({ of }) => of).slice(0, 3)).toEqual([
      [0, 1],
      [1, 2],
      [2, 3]
    ])
    expect(fp6).toHaveLength(24)
    expect(sceneOf('mxfp8').scene.bytes).toHaveLength(32)
  })

  it('says scales and reads typed values', () => {
    const { format, study } = sceneOf('mxfp4')
    expect(scaleWords(format, study.scales[0]!)).toBe('= 2^(126 − 127) = 0.5')
    expect(scaleWords(format, { code: 255, value: NaN, step: NaN })).toBe('= NaN')
    expect(typedValue('-inf').value).toBe(-Infinity)
    expect(typedValue('NaN').value).toBeNaN()
    expect(typedValue('x').problem).toContain('number')
  })
})

describe('the charts of errors', async () => {
  const formats = drawnFormats.map(({ format }) => format)
  const rows = await compareFormats(
    formats,
    [...scaleRules],
    ['normal'],
    [],
    0,
    referenceQuantize,
    true
  )
  const floors = rows.filter(({ rule }) => rule === 'floor' || rule === 'two-level')
  const profiles = floors.map(({ profile }) => profile!)
  const scene = sizeScene(
    floors.map(({ format: id, profile }) => ({ id, profile: profile! })),
    700,
    400
  )!

  it('give every format a hue and a dash of its own', () => {
    expect(formats).toHaveLength(7)
    expect(new Set(drawnFormats.map(({ colour }) => colour)).size).toBe(7)
  })

  it('draw histograms of one scale, within their height', () => {
    const most = mostShare(profiles, undefined)
    const ys = profiles.flatMap((profile) =>
      [...histogramPath(profile, undefined, 300, 40, most).matchAll(/V([\d.]+)/g)].map((m) =>
        Number(m[1])
      )
    )
    expect(Math.min(...ys)).toBe(0)
    expect(Math.max(...ys)).toBe(40)
  })

  it('say the rms of all values, and of a range of sizes', () => {
    const [profile] = profiles
    expect(rmsOf(profile!, undefined)).toBeCloseTo(profile!.rms)
    const large = binAt(scene, scene.right)
    expect(rmsOf(profile!, [large, large])).toBeGreaterThan(profile!.rms)
    expect(sizeOfBin(0)).toBe(2 ** sizeAxis.from)
  })

  it('draw a curve for each format with labels that do not overlap', () => {
    expect(scene.curves).toHaveLength(7)
    const labels = scene.curves.map(({ labelY }) => labelY).sort((one, other) => one - other)
    labels.slice(1).forEach((y, i) => expect(y - labels[i]!).toBeGreaterThanOrEqual(14 - 1e-9))
    expect(binAt(scene, scene.left + 1)).toBe(scene.firstBin)
    expect(sizeScene([], 700, 400)).toBeUndefined()
  })

  it('show what rules gain over floor; nvfp4 has no even of its own', () => {
    const gains = ruleGains(rows)
    const nvfp4 = gains.find(({ id }) => id === 'nvfp4')!
    expect(nvfp4.gains.map(({ rule }) => rule)).toEqual(['floor', 'ceil', 'mse'])
    expect(nvfp4.bestRules).toBe('mse')
    for (const { gains: ofRow, floor, best } of gains) {
      expect(ofRow.find(({ rule }) => rule === 'floor')!.gain).toBe(0)
      expect(best).toBeGreaterThanOrEqual(floor)
    }
    const places = gainPlaces(
      [
        { rule: 'floor', gain: 0 },
        { rule: 'ceil', gain: 0.01 }
      ],
      (g) => 100 * g
    )
    expect(places.map(({ x }) => x)).toEqual([0, 15])
  })
})
