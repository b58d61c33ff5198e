/** What a function takes of a multiprocessor or a compute unit, in words: the same on the command line and the page. */
import { count, counted, quantity, text } from '../units'

export interface Resources {
  registers: number
  accumulationRegisters?: number | undefined
  scalarRegisters?: number | undefined
  stackBytes: number
  spilledBytes: number
  sharedBytes: number
  occupancy?: { threads: number; waves: number; of: number; limiters: string[] } | undefined
}

const bytes = (value: number) => text(quantity('bytes', value))

/** AMD's words where there are scalar registers, NVIDIA's elsewhere. */
export function resourceText(of: Resources): string {
  const spilled = `${bytes(of.spilledBytes)} spilled`
  if (of.scalarRegisters === undefined)
    return `${counted(of.registers, 'register')}, ${spilled}, ${bytes(of.sharedBytes)} of static shared memory`
  const accumulation = of.accumulationRegisters ?? 0
  const parts = [
    `${count(of.registers - accumulation)} VGPRs and ${count(accumulation)} AGPRs`,
    `${count(of.scalarRegisters)} SGPRs`,
    spilled,
    `${bytes(of.stackBytes)} of scratch a lane`,
    `${bytes(of.sharedBytes)} of static LDS`
  ]
  if (of.occupancy) parts.push(occupancyText(of.occupancy))
  return parts.join(', ')
}

const amdWords: Readonly<Record<string, string>> = {
  registers: 'vector registers',
  'shared memory': 'LDS',
  warps: 'places for waves',
  blocks: 'places for workgroups'
}

const occupancyText = ({ threads, waves, of, limiters }: NonNullable<Resources['occupancy']>) =>
  waves === 0
    ? `no workgroup of ${count(threads)} fits a compute unit: ${limitersText(limiters)}`
    : `${count(waves)} of ${count(of)} waves a compute unit with workgroups of ${count(threads)}, limited by ${limitersText(limiters)}`

const limitersText = (limiters: readonly string[]): string =>
  limiters.map((one) => amdWords[one] ?? one).join(' and ')
