/** What `validate --operands` and `judge` say of the arrays of a file, where it does not say so itself. */
import { Option, type Command } from 'commander'
import type { OperandsAs } from '@shared/contract/jobs'
import type { BOrder } from '@shared/contract/operation'
import { findElementPacking } from '@shared/layouts/elementPacking'
import { findLayout } from '@shared/layouts/registry'
import { wordList } from './arguments'

export interface OperandFlags {
  format?: string
  bOrder?: BOrder
  packing?: string[]
  scaleLayout?: string
  scaleLayoutA?: string
  scaleLayoutB?: string
}

export const operandFiles =
  '.safetensors, .npz, .pt (through a Python with torch), .npy, or a folder of .npy files; several are taken together (docs/operands.md)'

export function addOperandFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--packing <list>',
        'how packed fp4 or fp6 codes of the file lie (layout elements list)'
      ).argParser(wordList)
    )
    .option('--scale-layout <name>', 'how the scales of the file lie (layout list)')
    .option('--scale-layout-a <name>', 'those of A alone')
    .option('--scale-layout-b <name>', 'those of B alone')
}

/** Names as they are spelt here. Throws a UserError for one that is none. */
export function operandsAs(flags: OperandFlags): OperandsAs | undefined {
  const { format, bOrder, packing, scaleLayout } = flags
  const { scaleLayoutA = scaleLayout, scaleLayoutB = scaleLayout } = flags
  const said: OperandsAs = {
    format,
    bOrder,
    packings: packing?.map((name) => findElementPacking(name).name),
    scaleLayoutA: scaleLayoutA === undefined ? undefined : findLayout(scaleLayoutA).name,
    scaleLayoutB: scaleLayoutB === undefined ? undefined : findLayout(scaleLayoutB).name
  }
  return Object.values(said).some((value) => value !== undefined) ? said : undefined
}
