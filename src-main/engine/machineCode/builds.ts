/** What of a manifest is compiled: every row for every target it claims, in every format and output type. */
import { relative } from 'node:path'
import type { KernelRow } from '@shared/contract/kernelRow'
import { UserError } from '@shared/errors'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { numberFormats } from '@shared/formats/numberFormat'
import { readKernelManifests } from '../kernelManifests'

export interface Build {
  /** `<kernel>.<target>.<format>.<output>` */
  name: string
  kernel: string
  format: string
  output: string
  /** Inside the kernel folder. */
  source: string
  target: string
  options: string[]
}

/** The numbers that sources know formats and output types by (resources/kernels/cuda/README.md, "Macros"). */
const formatNumbers = Object.keys(numberFormats)
const outputTypes = ['f16', 'bf16', 'f32']

/** "sm_80+" is compiled for one target of every later family that runs block-scaled formats. */
const laterTargets = [80, 86, 89, 90, 100, 103, 120, 121]

function targetsOf(claim: string): string[] {
  if (!claim.endsWith('+')) return [claim]
  const from = Number(claim.slice('sm_'.length, -1))
  return laterTargets.filter((target) => target >= from).map((target) => `sm_${target}`)
}

/** All, or of each what is worth a compilation: every format with the first output type, the first with every output type. */
function formatsAndOutputs(
  { formats, outputs }: KernelRow,
  choice: 'some' | 'all'
): [format: string, output: string][] {
  const all = formats.flatMap(({ format }, i) =>
    (i && choice === 'some' ? outputs.slice(0, 1) : outputs).map((output): [string, string] => [
      format,
      output
    ])
  )
  return all.length ? all : [['mxfp4', 'f16']]
}

/** Throws a UserError for a folder without a manifest, one with a row that does not fit, or one that names no kernel. */
export function listBuilds(folder: string, choice: 'some' | 'all' = 'some'): Build[] {
  const { sources, warnings } = readKernelManifests([folder])
  if (warnings.length) throw new UserError('usage', warnings.join('\n'))
  if (!sources.length) throw new UserError('usage', `${folder}/manifest.json names no kernel.`)
  return sources.flatMap((row) =>
    formatsAndOutputs(row, choice).flatMap(([format, output]) => {
      const { a, b, scale, scaleBlockSize } = findBlockFormat(format)
      const number = ({ name }: { name: string }) => formatNumbers.indexOf(name)
      const macros = {
        A_FORMAT: number(a),
        B_FORMAT: number(b),
        SCALE_FORMAT: number(scale),
        SCALE_BLOCK: scaleBlockSize,
        OUTPUT_TYPE: outputTypes.indexOf(output),
        ...row.constants
      }
      const defines = Object.entries(macros).map(([name, value]) => `-D${name}=${value}`)
      return row.architectures.flatMap(targetsOf).map((target) => ({
        name: `${row.id}.${target}.${format}.${output}`,
        kernel: row.id,
        format,
        output,
        source: relative(folder, row.file),
        target,
        options: [...defines, ...row.options]
      }))
    })
  )
}
