import { defaults } from './defaults'
import { groupRowsText, usualAlignment } from './groups'
import type { JobSpec, OperandsAs } from './jobs'

/** The command line that makes a run of another program's file. */
export const importCommandOf = (file: string): string => `blockscope runs import ${quoted(file)}`

/** The command line that does the same job without a window. Defaults are left out. */
export function commandOf(spec: JobSpec): string {
  if (spec.resumes !== undefined) return `blockscope runs resume ${quoted(spec.resumes)}`
  const resultFile = spec.kind === 'validate' ? spec.resultFile : undefined
  const words = ['blockscope', resultFile === undefined ? spec.kind : 'judge']
  const add = (flag: string, value: unknown, usual?: unknown) => {
    if (value !== undefined && value !== usual) words.push(flag, quoted(String(value)))
  }
  const addOperandsAs = ({ format, bOrder, packings, ...layouts }: OperandsAs) => {
    const { scaleLayoutA, scaleLayoutB } = layouts
    add('--format', format)
    add('--b-order', bOrder, 'nk')
    add('--packing', packings?.join(','))
    if (scaleLayoutA === scaleLayoutB) return add('--scale-layout', scaleLayoutA)
    add('--scale-layout-a', scaleLayoutA)
    add('--scale-layout-b', scaleLayoutB)
  }
  const operandsFiles = spec.kind === 'validate' ? spec.operandsFiles : undefined
  // Files of operands bring their format, shape and values.
  if (operandsFiles === undefined) add('--formats', spec.formats.join(','))
  if (spec.kernels.length > 0) add('--kernels', spec.kernels.join(','))
  if (spec.providers.length > 0) add('--providers', spec.providers.join(','))
  for (const file of spec.providerFiles ?? []) add('--provider', file)
  add('--device', spec.device, defaults.device)
  add('--shapes', spec.shapes?.source)
  add('--tokens', spec.shapes?.tokens?.join(','))
  add('--tp', spec.shapes?.tp, 1)
  if (spec.groups) {
    const { layout, rows, alignment, maxRows } = spec.groups
    add('--groups', groupRowsText(rows))
    add('--group-layout', layout, defaults.groupLayout)
    if (layout === 'contiguous') add('--group-align', alignment, usualAlignment)
    if (layout === 'masked') add('--max-rows', maxRows, Math.max(...rows))
  }
  add('--group-layout', spec.shapes?.groupLayout)
  if (spec.kind === 'validate') {
    if (operandsFiles === undefined) {
      add('-M', spec.m)
      add('-N', spec.n)
      add('-K', spec.k)
    }
    add('--atol', spec.atol, defaults.atol)
    add('--rtol', spec.rtol, defaults.rtol)
    add('--rule', spec.rule, defaults.rule)
    if (operandsFiles) words.push('--operands', ...operandsFiles.map(quoted))
    add('--result', resultFile)
    addOperandsAs(spec.operandsAs ?? {})
  } else {
    add('-M', spec.mValues.join(','), '')
    add('-N', spec.nValues.join(','), '')
    add('-K', spec.kValues.join(','), '')
    add('--mode', spec.mode, defaults.mode)
    add('--preset', spec.preset, defaults.preset)
    add('--warmup', spec.warmup)
    add('--reps', spec.reps)
    add('--rounds', spec.rounds)
    if (spec.sustained) words.push('--sustained')
  }
  if (operandsFiles === undefined) {
    add('--seed', spec.seed, defaults.seed)
    add('--dist', spec.distribution, defaults.distribution)
  }
  if (resultFile !== undefined) {
    add('--out', spec.kind === 'validate' ? spec.resultType : undefined)
    add('--out-scale', spec.outputScale, 1)
    return words.join(' ')
  }
  add('--out', spec.output, operandsFiles === undefined ? defaults.output : defaults.outputOfFiles)
  add('--out-scale', spec.outputScale, 1)
  // A file of operands brings the rest of the operation too.
  if (operandsFiles === undefined) {
    add('--b-order', spec.bOrder, 'nk')
    if (spec.accumulate) words.push('--beta', '1')
    add('--batch-a', spec.batchA.join(','), '')
    add('--batch-b', spec.batchB.join(','), '')
  }
  return words.join(' ')
}

/** For a POSIX shell, whatever the text: a run may come from someone else's file. */
function quoted(text: string): string {
  return /^[\w./:=@%+,][\w./:=@%+,-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
