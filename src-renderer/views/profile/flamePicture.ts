/** The flame graph as a file: what is shown, with a title, the command that shows the same and the legend. */
import type { ChartTheme } from '@shared/charts/theme'
import { CanvasPainter, cssFont, type Painter } from '../../canvas/painter'
import type { Span } from '../../canvas/span'
import { SvgPainter } from '../../canvas/svgPainter'
import { fitText, measureOf } from '../../canvas/textFit'
import { fillsOf, legendOf } from '../../charts/flameFills'
import { heightOf, type FlameLayer } from './flameLayers'
import { hitCounts, sceneBoxes } from './flameScene'
import { paintFlame } from './paintFlame'

export interface PictureScene {
  layers: readonly FlameLayer[]
  span: Span
  width: number
  title: string
  /** Command line that shows the same. */
  source: string
  theme: ChartTheme
  labelsOf: (node: number) => readonly string[]
  valueOf: (node: number, share: number | undefined) => string
  matches: Int32Array | null
  selected: number
}

const margin = 16
const headHeight = 52
const footHeight = 34
/** Device pixels of a PNG to a pixel of the picture. */
const pngScale = 2

export const pictureHeight = ({ layers }: Pick<PictureScene, 'layers'>) =>
  headHeight + heightOf(layers) + footHeight

export function pictureSvg(scene: PictureScene): string {
  const painter = new SvgPainter(scene.width, pictureHeight(scene), scene.theme.surface)
  paintPicture(painter, scene)
  return painter.finish()
}

export async function picturePng(scene: PictureScene): Promise<Uint8Array<ArrayBuffer>> {
  const size = { width: scene.width, height: pictureHeight(scene) }
  const canvas = document.createElement('canvas')
  canvas.width = size.width * pngScale
  canvas.height = size.height * pngScale
  const context = canvas.getContext('2d')
  if (!context) throw new Error('The browser gave no canvas for the picture.')
  const painter = new CanvasPainter(context, pngScale)
  painter.begin(size)
  painter.box(0, 0, size.width, size.height, { fill: scene.theme.surface })
  paintPicture(painter, scene)
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve))
  if (!blob) throw new Error('The browser could not make a PNG of the picture.')
  return new Uint8Array(await blob.arrayBuffer())
}

function paintPicture(painter: Painter, scene: PictureScene): void {
  const { layers, span, width, title, source, theme, labelsOf, valueOf, matches, selected } = scene
  const font = { family: theme.font, size: 11, weight: 500 }
  const small = { family: theme.mono, size: 10 }
  const inner = width - 2 * margin
  painter.text(title, margin, 18, {
    fill: theme.text,
    font: { family: theme.font, size: 14, weight: 600 }
  })
  const command = fitText(source, inner, measureOf(cssFont(small)))
  painter.text(command, margin, 36, { fill: theme.dim, font: small })
  const ink = {
    ...{ text: theme.text, accent: theme.accent, surface: theme.surface, font },
    measure: measureOf(cssFont(font))
  }
  const offset = shifted(painter, margin)
  for (const layer of layers) {
    const { layout, painted, nodeOf, shareOf, upwards, firstLevel, top } = layer
    paintFlame(
      offset,
      {
        boxes: sceneBoxes(layout, { span, width: inner, firstLevel, endLevel: Infinity }),
        ...{ layout, upwards, width: inner, top: headHeight + top },
        classOf: (node) => painted.classes[node]!,
        fills: fillsOf(painted, theme),
        labelsOf: (node) => labelsOf(nodeOf(node)),
        valueOf: (node) => valueOf(nodeOf(node), shareOf?.(node)),
        hits: matches && !shareOf ? hitCounts(layout, matches) : null,
        selected: shareOf ? -1 : selected
      },
      ink
    )
  }
  let x = margin
  const y = headHeight + heightOf(layers) + footHeight / 2
  for (const { fill, title: entry } of layers[0] ? legendOf(layers[0].painted, theme) : []) {
    painter.box(x, y - 5, 10, 10, { ...fill, stroke: fill.edge, radius: 2 })
    painter.text(entry, x + 15, y, { fill: theme.text, font })
    x += 15 + (entry === '' ? 0 : ink.measure(entry) + 14)
  }
}

/** The same painter, further to the right. */
function shifted(painter: Painter, by: number): Painter {
  return {
    box: (x, ...rest) => painter.box(x + by, ...rest),
    text: (text, x, ...rest) => painter.text(text, x + by, ...rest),
    line: (x1, y1, x2, ...rest) => painter.line(x1 + by, y1, x2 + by, ...rest),
    curve: (x1, y1, x2, ...rest) => painter.curve(x1 + by, y1, x2 + by, ...rest)
  }
}
