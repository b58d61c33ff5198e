/** What of a manifest is compiled: every row for every target it claims, in every format and output type. */
import { relative } from 'node:path'
import { refusalOfProduct } from '@shared/choice/cost'
import { outputTypes } from '@shared/contract/jobs'
import type { CapabilityLevel, FeatureId } from '@shared/contract/devices'
import type { KernelRow } from '@shared/contract/kernelRow'
import { bOrders, type BOrder } from '@shared/contract/operation'
import { UserError } from '@shared/errors'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { numberFormats } from '@shared/formats/numberFormat'
import { readKernelSources } from '../kernelManifests'

export interface Build {
  /** `<kernel>.<target>.<format>.<output>`, behind it `.kn` where B is (K, N), `.accumulated`, `.grouped` for groups */
  name: string
  kernel: string
  format: string
  output: string
  /** Inside the kernel folder. */
  source: string
  target: string
  options: string[]
  /** What the row claims for the format; undefined for device code that the host uses. */
  level: CapabilityLevel | undefined
  /** Functions that may start before the launch ahead of them has ended. */
  dependents: string[]
}

export const isAmdTarget = (target: string): boolean => target.startsWith('gfx')

/** The numbers that sources know formats and output types by (resources/kernels/cuda/README.md, "Macros"). */
const formatNumbers = Object.keys(numberFormats)

/** "sm_80+" is compiled for one target of every later family that runs block-scaled formats. */
const laterTargets = [80, 86, 89, 90, 100, 103, 110, 120, 121]

function targetsOf(claim: string): string[] {
  if (!claim.endsWith('+')) return [claim]
  const from = Number(claim.slice('sm_'.length, -1))
  return laterTargets.filter((target) => target >= from).map((target) => `sm_${target}`)
}

interface Case {
  format: string
  output: string
  bOrder: BOrder
  accumulated?: true
  grouped?: true
}

/** Whether a row's requirements leave groups in a format: of one row each, by matrices of no odd extent. */
function takesGroups(row: KernelRow, { format, output }: Case): boolean {
  const problem = { format, m: 2, n: 512, k: 512, output }
  const groups = { m: 2, parts: [1, 1], groups: 2 }
  return refusalOfProduct(row, problem, groups, { processors: 132, memoryGbs: 3352 }) === undefined
}

/**
 * All, or of each what is worth a compilation: every format with the first output type, the first with every output type. And,
 * where the kernel reads B either way, formats of 4, 6 and 8 bits with B as (K, N); where it adds the accumulator itself, the first
 * format with every output type; where it does groups, all of it for them too.
 */
function casesOf(row: KernelRow, choice: 'some' | 'all'): Case[] {
  const { formats, outputs, features } = row
  const does = (feature: FeatureId) =>
    features.some(({ id, level }) => id === feature && level === 'fused')
  const claimed = formats.filter(({ level }) => level !== 'unavailable')
  const all = claimed.flatMap(({ format }, i) =>
    (i && choice === 'some' ? outputs.slice(0, 1) : outputs).map((output): Case => ({
      format,
      output,
      bOrder: 'nk'
    }))
  )
  const turned = ['mxfp4', 'mxfp6_e2m3', 'mxfp8'].filter(
    (id) => does('b-kn') && claimed.some(({ format }) => format === id)
  )
  const kn = turned.map((format): Case => ({ format, output: outputs[0]!, bOrder: 'kn' }))
  const accumulated = all
    .filter(({ format }) => does('accumulator') && format === claimed[0]!.format)
    .map((one): Case => ({ ...one, accumulated: true }))
  const groups = [...all, ...accumulated]
    .filter((one) => does('grouped') && takesGroups(row, one))
    .map((one): Case => ({ ...one, grouped: true }))
  return all.length
    ? [...all, ...kn, ...accumulated, ...groups]
    : [{ format: 'mxfp4', output: 'f16', bOrder: 'nk' }]
}

/** Throws a UserError for a folder without a manifest, one with a row that does not fit, or one that names no kernel. */
export function listBuilds(folder: string, choice: 'some' | 'all' = 'some'): Build[] {
  const sources = readKernelSources([folder])
  if (!sources.length) throw new UserError('usage', `${folder}/manifest.json names no kernel.`)
  return sources.flatMap((row) =>
    casesOf(row, choice).flatMap(({ format, output, bOrder, accumulated, grouped }) => {
      const { a, b, scale, scaleBlockSize } = findBlockFormat(format)
      const number = ({ name }: { name: string }) => formatNumbers.indexOf(name)
      const macros = {
        A_FORMAT: number(a),
        B_FORMAT: number(b),
        SCALE_FORMAT: number(scale),
        SCALE_BLOCK: scaleBlockSize,
        OUTPUT_TYPE: outputTypes.findIndex((type) => type === output),
        B_ORDER: bOrders.indexOf(bOrder),
        GROUPED: grouped ? 1 : 0,
        ACCUMULATE: accumulated ? 1 : 0,
        ...row.constants
      }
      const defines = Object.entries(macros).map(([name, value]) => `-D${name}=${value}`)
      const kinds = [bOrder === 'kn' && '.kn', accumulated && '.accumulated', grouped && '.grouped']
      const kind = kinds.filter(Boolean).join('')
      return row.architectures.flatMap(targetsOf).map((target) => ({
        name: `${row.id}.${target}.${format}.${output}${kind}`,
        kernel: row.id,
        format,
        output,
        source: relative(folder, row.file),
        target,
        options: [...defines, ...row.options],
        level: row.formats.find((one) => one.format === format)?.level,
        dependents: row.launches.filter(({ dependent }) => dependent).map((one) => one.function)
      }))
    })
  )
}
