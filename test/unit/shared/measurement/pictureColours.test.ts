/** Fills of pictures: told apart by every eye, with text that can be read on them, in both looks. */
import { describe, expect, it } from 'vitest'
import {
  changeStep,
  changeSteps,
  channelsOf,
  faded,
  hues,
  inkOn,
  plainFill
} from '@shared/measurement/pictureColours'
import { contrast, oklabDistance } from '../../renderer/support/colourVision'

const looks = ['light', 'dark'] as const
const eyes = ['none', 'protan', 'deutan'] as const

describe.each(looks)('fills, %s', (look) => {
  it('stay apart for every eye', () => {
    const all = [...hues, plainFill].map((hue) => hue[look])
    for (const eye of eyes) {
      all.forEach((one, at) =>
        all.slice(at + 1).forEach((other) => {
          expect(oklabDistance(one, other, eye), `${one} ${other} ${eye}`).toBeGreaterThan(4)
        })
      )
    }
  })

  it('carry text at 4.5 to 1', () => {
    const fills = [...hues, plainFill, ...changeSteps].map((hue) => hue[look])
    for (const fill of [...fills, ...hues.map((hue) => faded(hue[look], look))])
      expect(contrast(fill, inkOn(fill)), fill).toBeGreaterThanOrEqual(4.5)
  })

  it('get darker or lighter with every step of a change, both ways', () => {
    for (const eye of eyes) {
      for (let step = 0; step + 1 < changeSteps.length; step++) {
        const [one, other] = [changeSteps[step]![look], changeSteps[step + 1]![look]]
        expect(oklabDistance(one, other, eye), `${one} ${other} ${eye}`).toBeGreaterThan(2)
      }
    }
  })
})

it('a change is cut at 3, 20 and 50 per cent', () => {
  const ratios = [0.1, 0.5, 0.6, 0.9, 0.99, 1, 1.02, 1.1, 1.3, 1.6]
  expect(ratios.map(changeStep)).toEqual([0, 1, 1, 2, 3, 3, 3, 4, 5, 6])
})

it('a colour in its short form is the same colour', () => {
  expect(inkOn('#fff')).toBe(inkOn('#ffffff'))
  expect(inkOn('#000')).toBe(inkOn('#000000'))
  expect(channelsOf('#1af')).toEqual([0x11, 0xaa, 0xff])
})
