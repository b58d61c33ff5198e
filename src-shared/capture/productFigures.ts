/** What a kernel that multiplies matrices reaches, once its shape is known: rate, share of its roof, what the roof would save. */
import { instructionWords } from '../measurement/instructions'
import { peakOfInstruction, type PeakDevice } from '../measurement/peaks'
import { digits, percent, quantity, text } from '../units'
import type { KernelFacts } from './kernelTable'
import type { CapturedDevice } from './shardNames'

export const peakDeviceOf = (gpu: CapturedDevice): PeakDevice => ({
  type: gpu.architecture.startsWith('gfx') ? 'HIP' : 'CUDA',
  id: String(gpu.number),
  arch: gpu.architecture.replace('sm_', ''),
  busWidthBits: gpu.busWidthBits,
  clockRateKHz: gpu.clockRateKHz,
  memoryClockRateKHz: gpu.memoryClockRateKHz,
  multiprocessors: gpu.multiprocessors
})

/** FLOP of C = A B: a product and a sum for each k. */
export const flopsOfProduct = ({ m, n, k }: { m: number; n: number; k: number }): number =>
  2 * m * n * k

/** What multiplies, where nobody says it. */
export const usualInstruction = 'bf16'

export interface ProductFigures {
  /** At the median time. */
  tflops: number
  /** FLOP/s of the instruction's class on this GPU at its highest clock. */
  roof?: number
  /** Of the roof; absent above 1, where FLOP or class are wrong. */
  shareOfRoof?: number
  /** Of all kernels' time, were all launches of the row as fast as the roof. */
  saved?: number
  /** The two in a sentence, with the roof; or why there is none. */
  sentence: string
}

/**
 * @param flops of one launch
 * @param instruction class of what multiplies: 'bf16', 'fp8'
 */
export function productFigures(
  row: KernelFacts,
  flops: number,
  instruction: string
): ProductFigures {
  if (row.count === 0)
    return { tflops: NaN, sentence: 'no launch of it has a time: counters measured them all.' }
  const tflops = flops / row.medianNs / 1000
  const reached = `${text(quantity('rate', tflops))} at the median`
  if (!row.gpu)
    return { tflops, sentence: `${reached}; the capture does not say on which GPU it ran.` }
  const peak = peakOfInstruction(peakDeviceOf(row.gpu), instruction)
  if ('reason' in peak) return { tflops, sentence: `${reached}; no roof: ${peak.reason}.` }
  const roof = peak.value
  const source = `dense ${instructionWords(instruction)} at ${digits(row.gpu.clockRateKHz / 1e6)} GHz, ${text(quantity('rate', roof / 1e12))}; data sheet: ${peak.source}`
  const shareOfRoof = (tflops * 1e12) / roof
  if (shareOfRoof > 1)
    return {
      tflops,
      roof,
      sentence: `${reached}, ${percent(shareOfRoof)} of the roof: its shape or its class is not this (${source}).`
    }
  const atRoofNs = (row.count * flops * 1e9) / roof
  const saved = (row.share * Math.max(0, row.totalNs - atRoofNs)) / row.totalNs
  return {
    tflops,
    roof,
    shareOfRoof,
    saved,
    sentence: `${reached}, ${percent(shareOfRoof)} of the roof. It is ${percent(row.share)} of the kernels' time; at the roof of its class that time would be ${percent(saved)} shorter (${source}).`
  }
}
