import { addCompared, lossOf, type ComparedValues, type WeightLoss } from '@shared/checkpoints/loss'
import { bytesPerRow, totalRows, type WeightSource } from '@shared/checkpoints/weightSource'
import type { Checkpoint } from '../../store/checkpointFile'
import type { NativeRowRange } from '../../engine/nativeQuantizing'
import { isCopied, readableRows, slabsOf, type WeightFile } from './nativeWeights'
import { Scratch } from '../../ground/scratch'
import { callEngine, Meter, type WeightWork } from './weightWork'

/** A weight and the one it is compared with, of the same shape; each in its checkpoint. */
export interface ComparedPair {
  original: WeightSource
  converted: WeightSource
}

/** Files for the rows of both, where they are copied for the engine. */
export interface PairOfScratch {
  original: Scratch
  converted: Scratch
}

/** What each weight lost, in the order of the pairs. `scratchPath`: a file that may be made. Throws a UserError, or Stopped. */
export async function compareWeights(
  pairs: readonly ComparedPair[],
  original: Checkpoint,
  converted: Checkpoint,
  work: WeightWork,
  scratchPath: string
): Promise<WeightLoss[]> {
  const bytesOf = ({ original: source }: ComparedPair) => bytesPerRow(source) * totalRows(source)
  const meter = new Meter(
    pairs.reduce((sum, pair) => sum + bytesOf(pair), 0),
    work.onProgress
  )
  const scratch = {
    original: new Scratch(`${scratchPath}.original`),
    converted: new Scratch(`${scratchPath}.converted`)
  }
  try {
    const losses: WeightLoss[] = []
    for (const pair of pairs) {
      const parts: ComparedValues[] = []
      for (const range of slabsOf(pair.original, { with: [pair.converted] })) {
        const bytes = (range.to - range.from) * bytesPerRow(pair.original)
        const told = meter.within(bytes, `${pair.original.name}: comparing`)
        const files = { original, converted }
        parts.push(await compareRows(pair, range, files, scratch, work, told))
        meter.finish(bytes)
      }
      losses.push(lossOf(addCompared(parts), pair.original))
    }
    return losses
  } finally {
    await scratch.original.remove()
    await scratch.converted.remove()
  }
}

/** Rows of both weights, by the engine: of the files themselves, or of copies of the rows where one must be copied. */
export async function compareRows(
  { original, converted }: ComparedPair,
  range: NativeRowRange,
  files: { original: WeightFile; converted: WeightFile },
  scratch: PairOfScratch,
  work: Pick<WeightWork, 'engine' | 'signal'>,
  told: (fraction: number) => void
): Promise<ComparedValues> {
  const copy = isCopied(original) || isCopied(converted)
  const x = await readableRows(original, range, files.original, scratch.original, copy)
  const y = await readableRows(converted, range, files.converted, scratch.converted, copy)
  const request = { original: x.values, converted: y.values, range: x.range }
  const compared = await callEngine(work, 'compareRows', request, told)
  const { first } = compared.bad
  if (first >= 0) compared.bad.first = first + x.first * original.k
  return compared
}
