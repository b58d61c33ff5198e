/** Text in its room, wheel events, SVG. */
import { describe, expect, it } from 'vitest'
import { SvgPainter } from '../../../../src-renderer/canvas/svgPainter'
import { fitOneOf, fitText, remembering } from '../../../../src-renderer/canvas/textFit'
import { wheelMeaning } from '../../../../src-renderer/canvas/useGestures'

const measure = (text: string) => text.length * 7

describe('fitText', () => {
  it('keeps both ends of a name, and writes nothing where nothing can be read', () => {
    const name = 'block_scaled_matmul_kernel_mxfp4'
    expect(fitText(name, 1000, measure)).toBe(name)
    const cut = fitText(name, 100, measure)
    expect(cut).toMatch(/^block.*….*mxfp4$/)
    expect(measure(cut)).toBeLessThanOrEqual(100)
    expect(fitText(name, 15, measure)).toBe('')
  })

  it('takes the first form that fits whole', () => {
    expect(fitOneOf(['mxfp4 5760x2880', '5760x2880'], 70, measure)).toBe('5760x2880')
    expect(fitOneOf(['mxfp4 5760x2880', '5760x2880'], 35, measure)).toBe('57…80')
  })

  it('measures a text once', () => {
    let asked = 0
    const known = remembering((text) => (asked++, text.length))
    expect([known('a'), known('a'), known('bb')]).toEqual([1, 1, 2])
    expect(asked).toBe(2)
  })
})

describe('wheelMeaning', () => {
  const turn = (part: Partial<WheelEvent>) =>
    wheelMeaning({
      ...{ deltaX: 0, deltaY: 0, deltaMode: 0 },
      ...{ shiftKey: false, altKey: false, ctrlKey: false },
      ...part
    })

  it('zooms by the wheel, pans with Shift or sideways, goes down with Alt', () => {
    expect(turn({ deltaY: -100 }).zoom).toBeCloseTo(1.3)
    expect(turn({ deltaY: 100 }).zoom).toBeCloseTo(1 / 1.3)
    expect(turn({ deltaY: 100, shiftKey: true })).toMatchObject({ zoom: 1, panPixels: 100 })
    expect(turn({ deltaX: 30, deltaY: 5 })).toMatchObject({ zoom: 1, panPixels: 30 })
    expect(turn({ deltaY: 40, altKey: true })).toMatchObject({ zoom: 1, scrollPixels: 40 })
    expect(turn({ deltaY: -3, deltaMode: 1 }).zoom).toBeCloseTo(1.3 ** 0.48)
    expect(turn({ deltaY: -1e6 }).zoom).toBe(3)
  })
})

describe('SvgPainter', () => {
  it('writes well-formed text, whatever a name holds', () => {
    const painter = new SvgPainter(200, 100, '#ffffff')
    painter.box(1, 2, 30, 10, { fill: '#abc', hatch: '#123', stroke: '#000', dash: [2, 2] })
    const font = { family: 'Inter, sans-serif', size: 11 }
    painter.text('std::vector<int> & "q" \u0001', 5, 7, { fill: '#000', font, align: 'right' })
    painter.line(0, 0, 10, 10, { stroke: '#000' })
    painter.curve(0, 0, 10.123456, 10, { stroke: '#000' })
    const svg = painter.finish()
    const parsed = new DOMParser().parseFromString(svg, 'image/svg+xml')
    expect(parsed.querySelector('parsererror')).toBeNull()
    expect(svg).toContain('std::vector&lt;int&gt; &amp; &quot;q&quot;')
    expect(svg).toContain('text-anchor="end"')
    expect(svg).toContain('10.12')
    expect(svg.match(/<rect/g)).toHaveLength(3)
  })
})
