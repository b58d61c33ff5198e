/**
 * The cost model's constants of the CPU kernels, which have no manifest row: what a core reaches with each class of
 * instruction (docs/cpu-kernels.md, "Measured": two cores of a Zen 5, 2048 cubed; of those not in its table the same section's
 * text), and what a call costs beside that (npm run bench:auto).
 */
import type { KernelCost } from '../contract/kernelCost'

interface CpuClass {
  /** FLOP/s of one core. */
  peak: number
  /** Register tile: rows of A by columns of B; a product is padded to whole ones. */
  tile: readonly [rows: number, columns: number]
  /** Picoseconds in which a core packs an element of A or B for the micro-kernel. */
  packPs: number
}

const classes: Readonly<Record<string, CpuClass>> = {
  'int8:avx512-vnni': { peak: 730e9, tile: [6, 32], packPs: 250 },
  'bf16:avx512-bf16': { peak: 466e9, tile: [12, 32], packPs: 500 },
  'fp32:avx512': { peak: 240e9, tile: [12, 32], packPs: 500 },
  'int8:avx-vnni': { peak: 388e9, tile: [3, 16], packPs: 250 },
  'int8:avx2': { peak: 213e9, tile: [3, 16], packPs: 250 },
  'fp32:avx2': { peak: 125e9, tile: [6, 16], packPs: 500 },
  'fp64:portable': { peak: 14.5e9, tile: [4, 4], packPs: 1000 }
}

/** FLOP/s of one core by class of instruction; undefined: none of a CPU kernel. */
export const cpuPeakOf = (instruction: string): number | undefined => classes[instruction]?.peak

/** The packing of both operands and the product: undefined where the instruction is none of a CPU kernel. */
export function cpuCostOf(instruction: string): KernelCost | undefined {
  const found = classes[instruction]
  if (!found) return undefined
  const [rows, columns] = found.tile
  const stage = { ns: '0', bytes: '0', percentOfRead: '100', flop: '0', percentOfPeak: '100' }
  return {
    source: 'docs/cpu-kernels.md and npm run bench:auto',
    fixedNs: callNs,
    stages: [
      {
        ...stage,
        name: 'pack',
        units: `round_up(M, ${rows}) + round_up(N, ${columns})`,
        slots: '1',
        ns: `K * ${found.packPs} / (1000 * SMS)`
      },
      {
        ...stage,
        name: 'multiply',
        units: '1',
        slots: '1',
        flop: `2 * round_up(M, ${rows}) * round_up(N, ${columns}) * K`
      }
    ]
  }
}

/** Waking the other cores and putting them to sleep. */
const callNs = 8000
