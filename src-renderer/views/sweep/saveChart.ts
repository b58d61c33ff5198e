/** A chart as a file; what draws it is loaded when it is asked for. */
import type { ChartOption, PictureSize } from '@shared/charts/picture'
import { saveFile } from '../../client/shell'
import { failureOf } from '../../ground/failure'
import { useMessages } from '../../stores/messages'

export type PictureForm = 'png' | 'svg'

/** `name`: without its ending. What goes wrong, in making the picture too, is said in a message. */
export async function saveChart(
  name: string,
  form: PictureForm,
  makePicture: () => { option: ChartOption; size: PictureSize }
): Promise<void> {
  try {
    const { option, size } = makePicture()
    if (form === 'svg') {
      const { drawSvg } = await import('@shared/charts/drawSvg')
      saveFile(`${name}.svg`, drawSvg(option, size), 'image/svg+xml')
    } else {
      const { drawPng } = await import('../../charts/drawPng')
      saveFile(`${name}.png`, await drawPng(option, size), 'image/png')
    }
  } catch (error) {
    useMessages().say('The chart could not be saved.', {
      failure: failureOf('sweep.saveChart', error)
    })
  }
}
