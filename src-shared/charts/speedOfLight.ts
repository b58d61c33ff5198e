/**
 * How near a point is to each limit of its device: the first table of Nsight Compute ("GPU Speed Of Light"), from what a run
 * measured. Traffic is the least there can be (operands, scales and C, each once), so a share of a memory is a lower bound.
 */
import type { Roof } from '../contract/roofs'
import type { Step } from '../contract/run'
import { instructionWords, parseInstruction } from '../measurement/instructions'
import { measuredMemory } from '../measurement/roofs'
import { count, percent, quantity, text } from '../units'
import { roofsAt, type Roofs } from './limits'
import { ratedRoofOf } from './ratedRoofs'

export interface LightRow {
  /** 'Tensor core, bf16' */
  name: string
  kind: 'compute' | 'memory' | 'power'
  /** Of the limit, 0..1. */
  share: number
  /** What of the limit can be reached at the clock that was measured; absent where that is all of it. */
  atClock?: number
  /** '577 TFLOP/s', 'at least 108 GB/s' */
  reached: string
  of: string
  /** In a word: how the share came about. */
  how: 'measured' | 'least traffic'
  /** Where the limit is from: a sentence. */
  source: string
}

/** Rows from the arithmetic down to the memory, then the power; those alone whose limit is known. */
export function speedOfLight(step: Step, roofs: Roofs): LightRow[] {
  if (!step.measurement) return []
  const rows = [computeRow(step, roofs), ...memoryRows(step, roofs), powerRow(step, roofs)]
  // Beyond its limit either the limit or the time is wrong; the share of the limit says so.
  return rows.filter((row) => row !== undefined && row.share <= 1) as LightRow[]
}

/** What it is nearest to, and what its clock leaves; '' where nothing is known. */
export function nearestLimit(rows: readonly LightRow[], meanMHz: number): string {
  const limits = rows.filter(({ kind }) => kind !== 'power').sort((a, b) => b.share - a.share)
  const [first, second] = limits
  if (!first) return ''
  const what = second?.kind === 'memory' ? 'no memory' : 'nothing else'
  const next = second ? `; ${what} is known to be above ${percent(second.share)}` : ''
  const clock =
    first.atClock === undefined
      ? ''
      : ` At ${count(Math.round(meanMHz))} MHz, its clock, ${percent(first.atClock)} of it can be reached.`
  return `Nearest its limit: ${first.name}, ${percent(first.share)}${next}.${clock}`
}

function computeRow(step: Step, roofs: Roofs): LightRow | undefined {
  const { compute } = roofsAt(step, roofs)
  const rated = roofs.entered.compute === undefined ? ratedRoofOf(step, roofs) : compute
  if (!compute || !rated) return undefined
  const { tflops } = step.measurement!
  const atClock = compute.rate / rated.rate
  return {
    name: unitOf(step, roofs),
    kind: 'compute',
    share: (tflops * 1e12) / rated.rate,
    ...(atClock < 0.995 && { atClock }),
    reached: text(quantity('rate', tflops)),
    of: text(quantity('rate', rated.rate / 1e12)),
    how: 'measured',
    source: rated.source
  }
}

/** What multiplies: NVIDIA's and AMD's names of the unit, else the instruction alone. */
function unitOf({ instruction }: Step, { device }: Roofs): string {
  const words = instructionWords(instruction)
  if (['fp32', 'fp64'].includes(parseInstruction(instruction).class))
    return `Vector units, ${words}`
  if (device?.kind === 'cuda') return `Tensor core, ${words}`
  return device?.kind === 'hip' ? `Matrix core, ${words}` : `Arithmetic, ${words}`
}

const levels: readonly [of: string, name: string][] = [
  ['l1', 'L1'],
  ['l2', 'L2'],
  ['l3', 'L3'],
  ['dram', 'DRAM']
]

/** Of each level that was measured; else of the data sheet's DRAM. Of what lies in a cache, memory behind it is not read. */
function memoryRows(step: Step, roofs: Roofs): LightRow[] {
  const { memory } = roofsAt(step, roofs)
  const measurement = step.measurement!
  const bytes = (step.work ?? measurement).bytes
  const isHot = measurement.cacheMode.startsWith('hot')
  const entered = roofs.entered.memory !== undefined
  const rated = memory?.of === 'dram' || entered ? memory : undefined
  return levels.flatMap(([of, name]) => {
    if (of === 'dram' && isHot) return []
    const measured = measuredMemory(roofs.measured, of)
    const roof: Roof | undefined =
      of === 'dram' ? (entered && rated) || measured || rated : measured
    if (!roof) return []
    const reached = bytes / measurement.timeNs.median
    return [
      {
        name,
        kind: 'memory' as const,
        share: (reached * 1e9) / roof.rate,
        reached: `at least ${text(quantity('bandwidth', reached))}`,
        of: text(quantity('bandwidth', roof.rate / 1e9)),
        how: 'least traffic' as const,
        source: roof.source
      }
    ]
  })
}

function powerRow({ measurement }: Step, { device }: Roofs): LightRow | undefined {
  const limit = device?.properties['powerLimitW']
  const watts = measurement!.meanWatts
  if (typeof limit !== 'number' || !(limit > 0) || !(watts > 0)) return undefined
  return {
    name: 'Power',
    kind: 'power',
    share: Math.min(1, watts / limit),
    reached: `${count(Math.round(watts))} W`,
    of: `${count(Math.round(limit))} W`,
    how: 'measured',
    source: 'Mean of the samples; the limit that the driver was set to.'
  }
}
