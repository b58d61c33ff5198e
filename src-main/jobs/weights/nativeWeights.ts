/** Weights of checkpoints as the native addon is told of them. */
import type { BlockScaledWeight, Convention } from '@shared/checkpoints/conventions'
import { readTensorScale } from '@shared/checkpoints/slice'
import { bytesPerRow, totalRows, type WeightSource } from '@shared/checkpoints/weightSource'
import { layoutText } from '@shared/layouts/describe'
import type { ScaleLayout } from '@shared/layouts/layout'
import type {
  NativeFilePlace,
  NativeRowRange,
  NativeStoredScales,
  NativeStoredValues
} from '../../engine/nativeQuantizing'
import type { Checkpoint } from '../../store/checkpointFile'

export function storedScales(
  { scale, scaleBlockSize }: Convention,
  layout: ScaleLayout,
  place: NativeFilePlace
): NativeStoredScales {
  return { place, format: scale.name, scaleBlockSize, layout: layoutText(layout) }
}

export function storedValues(source: WeightSource, checkpoint: Checkpoint): NativeStoredValues {
  const { rows, k, stored } = source
  const shape = { rowsPerMatrix: rows, k }
  if ('real' in stored) {
    return { ...shape, place: checkpoint.placeOf(stored.real), real: stored.real.dtype }
  }
  const { blocks } = stored
  return {
    ...shape,
    place: checkpoint.placeOf(blocks.codes),
    blockScaled: {
      element: blocks.convention.element.name,
      scales: scalesOf(blocks, checkpoint),
      tensorScale: readTensorScale(blocks, checkpoint.read)
    }
  }
}

export function scalesOf(weight: BlockScaledWeight, checkpoint: Checkpoint): NativeStoredScales {
  return storedScales(weight.convention, weight.layout, checkpoint.placeOf(weight.scales))
}

/** Bytes of input that one call of the engine works on: what cancelling waits for, and a kill costs, at most. */
const slabBytes = 256 * 2 ** 20

/** Rows of a weight, part by part; whole matrices where their scales are mixed. */
export function slabsOf(source: WeightSource, wholeMatrices: boolean): NativeRowRange[] {
  const all = totalRows(source)
  const fitting = Math.max(1, Math.floor(slabBytes / bytesPerRow(source)))
  const step = wholeMatrices
    ? Math.max(1, Math.floor(fitting / source.rows)) * source.rows
    : fitting
  return partsOf(all, step)
}

/** Bytes of a copy, part by part. */
export const partsOfBytes = (count: number): NativeRowRange[] => partsOf(count, slabBytes)

function partsOf(count: number, step: number): NativeRowRange[] {
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => ({
    from: i * step,
    to: Math.min((i + 1) * step, count)
  }))
}
