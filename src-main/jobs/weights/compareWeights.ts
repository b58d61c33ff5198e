import { addCompared, lossOf, type WeightLoss } from '@shared/checkpoints/loss'
import { bytesPerRow, totalRows, type WeightSource } from '@shared/checkpoints/weightSource'
import type { Checkpoint } from '../../store/checkpointFile'
import { slabsOf, storedValues } from './nativeWeights'
import { callEngine, Meter, type WeightWork } from './weightWork'

/** A weight and the one it is compared with, of the same shape; each in its checkpoint. */
export interface ComparedPair {
  original: WeightSource
  converted: WeightSource
}

/** What each weight lost, in the order of the pairs. Throws a UserError, or Stopped. */
export async function compareWeights(
  pairs: readonly ComparedPair[],
  original: Checkpoint,
  converted: Checkpoint,
  work: WeightWork
): Promise<WeightLoss[]> {
  const bytesOf = ({ original: source }: ComparedPair) => bytesPerRow(source) * totalRows(source)
  const meter = new Meter(
    pairs.reduce((sum, pair) => sum + bytesOf(pair), 0),
    work.onProgress
  )
  const losses: WeightLoss[] = []
  for (const pair of pairs) {
    const parts = []
    const values = {
      original: storedValues(pair.original, original),
      converted: storedValues(pair.converted, converted)
    }
    for (const range of slabsOf(pair.original, false)) {
      const bytes = (range.to - range.from) * bytesPerRow(pair.original)
      const progress = meter.within(bytes, `${pair.original.name}: comparing`)
      parts.push(await callEngine(work, 'compareRows', { ...values, range }, progress))
      meter.finish(bytes)
    }
    losses.push(lossOf(addCompared(parts), pair.original))
  }
  return losses
}
