/**
 * The cost model's constants of the CPU kernels, which have no manifest row. Rates are docs/cpu-kernels.md's, half of what two
 * cores of a Zen 5 reach at 2048 cubed. What packing takes was measured on two cores of an EPYC with AVX2 (npm run bench:auto)
 * and is in proportion to those rates; of instruction sets that it lacks it is taken to be that of their AVX2 kin.
 */
import { stageOf, type KernelCost } from '../contract/kernelCost'

interface CpuClass {
  /** FLOP/s of one core. */
  peak: number
  /** Register tile: rows of A by columns of B; a product is padded to whole ones. */
  tile: readonly [rows: number, columns: number]
  /** Picoseconds in which a core packs an element of A, and one of B. */
  packPs: readonly [a: number, b: number]
  /** Nanoseconds that a row of A takes a core however short it is. */
  rowNs: number
}

const integers = { packPs: [50, 270], rowNs: 150 } as const
const numbers = { packPs: [200, 630], rowNs: 0 } as const

const classes: Readonly<Record<string, CpuClass>> = {
  'int8:avx512-vnni': { peak: 730e9, tile: [6, 32], ...integers },
  'bf16:avx512-bf16': { peak: 466e9, tile: [12, 32], ...numbers },
  'fp32:avx512': { peak: 240e9, tile: [12, 32], ...numbers },
  'int8:avx-vnni': { peak: 388e9, tile: [3, 16], ...integers },
  'int8:avx2': { peak: 213e9, tile: [3, 16], ...integers },
  'fp32:avx2': { peak: 125e9, tile: [6, 16], ...numbers },
  'fp64:portable': { peak: 14.5e9, tile: [4, 4], packPs: [480, 700], rowNs: 0 }
}

/** FLOP/s of one core by class of instruction; undefined: none of a CPU kernel. */
export const cpuPeakOf = (instruction: string): number | undefined => classes[instruction]?.peak

/** The packing of both operands and the product: undefined where the instruction is none of a CPU kernel. */
export function cpuCostOf(instruction: string): KernelCost | undefined {
  const found = classes[instruction]
  if (!found) return undefined
  const [rows, columns] = found.tile
  const [packA, packB] = found.packPs
  return {
    source: 'docs/cpu-kernels.md and npm run bench:auto',
    fixedNs: callNs,
    stages: [
      stageOf({
        name: 'pack A',
        units: `round_up(GROUP_ROWS, ${rows})`,
        ns: `(K * ${packA} / 1000 + ${found.rowNs}) / SMS`
      }),
      stageOf({
        name: 'pack B',
        units: `GROUP_ROWS > 0 ? round_up(N, ${columns}) : 0`,
        ns: `K * ${packB} / (1000 * SMS)`
      }),
      stageOf({
        name: 'multiply',
        flop: `2 * round_up(GROUP_ROWS, ${rows}) * round_up(N, ${columns}) * K`
      })
    ]
  }
}

/** Waking the other cores and putting them to sleep. */
const callNs = 3500
