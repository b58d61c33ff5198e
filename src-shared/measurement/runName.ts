/** What a run is called where nobody named it: what was run, on which shape, with which options out of the ordinary. */
import { defaults } from '../contract/defaults'
import type { JobSpec, ValidateSpec } from '../contract/jobs'
import { operationText } from '../contract/operation'
import type { Run, RunSummary } from '../contract/run'
import type { Shapes } from '../contract/shapes'

const number = (value: number) => value.toLocaleString('en-US')

function range(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return low === high ? number(low) : `${number(low)}–${number(high)}`
}

/** 'M = N = K = 8,192', 'M = N = 8,192, K 512–8,192', 'M 128, N 256, K 64'; '' where no step tells. */
export function shapeOf({ spec, steps }: Pick<Run, 'spec' | 'steps'>): string {
  if (spec.shapes) return shapesText(spec.shapes)
  const distinct = (of: 'm' | 'n' | 'k') => {
    const values = new Set(steps.map((step) => step[of]))
    if (values.size > 0) return [...values]
    if (spec.kind === 'sweep') return spec[`${of}Values`]
    return spec[of] === undefined ? [] : [spec[of]]
  }
  const [m, n, k] = [distinct('m'), distinct('n'), distinct('k')]
  const parts: string[] = []
  const single = (values: readonly number[]) => (values.length === 1 ? values[0] : undefined)
  const isSquare = single(m) !== undefined && single(m) === single(n)
  if (isSquare && single(m) === single(k)) return `M = N = K = ${number(m[0]!)}`
  if (isSquare) parts.push(`M = N = ${number(m[0]!)}`)
  else {
    if (m.length > 0) parts.push(`M ${range(m)}`)
    if (n.length > 0) parts.push(`N ${range(n)}`)
  }
  if (k.length > 0) parts.push(`K ${range(k)}`)
  return parts.join(', ')
}

/** 'llama-70b, 1–16 tokens, TP 8'. */
export function shapesText({ source, tokens, tp }: Shapes): string {
  const name = source.split(/[/\\]/).at(-1)!
  const all = tokens && `${range(tokens)} token${tokens.length === 1 && tokens[0] === 1 ? '' : 's'}`
  return [name, all, tp !== undefined && tp > 1 && `TP ${tp}`].filter(Boolean).join(', ')
}

/** What differs from the defaults: 'hot L2', 'bf16 out', 'zeros'. */
export function optionsOf(spec: JobSpec): string {
  return [
    spec.kind === 'sweep' && spec.mode !== defaults.mode && `${spec.mode} L2`,
    spec.output !== defaults.output && `${spec.output} out`,
    spec.distribution !== defaults.distribution && spec.distribution,
    operationText(spec),
    spec.kind === 'validate' && ofFiles(spec)
  ]
    .filter(Boolean)
    .join(', ')
}

/** 'C of c.npy', 'operands of o.npz': what was given by files. */
function ofFiles({ operandsFiles, resultFile }: ValidateSpec): string {
  const name = (path: string) => path.split(/[/\\]/).at(-1)!
  if (resultFile !== undefined) return `C of ${name(resultFile)}`
  return operandsFiles === undefined ? '' : `operands of ${operandsFiles.map(name).join(', ')}`
}

/** 'box, linux x64' */
export const hostText = ({ host, measuredBy }: Pick<Run, 'host' | 'measuredBy'>): string =>
  measuredBy ? 'not in the file' : `${host.name}, ${host.system}`

/** 'blockscope 0.1.0, Node v22.1.0'; 'nvbench 0.1.0, gemm.json' */
export function madeByText({
  appVersion,
  host,
  measuredBy
}: Pick<Run, 'appVersion' | 'host' | 'measuredBy'>): string {
  if (!measuredBy) return `blockscope ${appVersion}, Node ${host.node}`
  const { program, version, file } = measuredBy
  return `${[program, version].filter(Boolean).join(' ')}, ${file}`
}

/** 'normal, seed 1' */
export const operandsText = ({ spec, measuredBy }: Pick<Run, 'spec' | 'measuredBy'>): string =>
  measuredBy ? 'not in the file' : `${spec.distribution}, seed ${spec.seed}`

type Named = Pick<RunSummary, 'label' | 'kind' | 'formats' | 'shape' | 'options'> &
  Partial<Pick<RunSummary, 'id' | 'problem'>>

export function runName(run: Named): string {
  if (run.label) return run.label
  // Of an unreadable run the folder's name is all that is known.
  if (run.problem && run.id) return run.id
  const formats = run.formats.length > 3 ? `${run.formats.length} formats` : run.formats.join(', ')
  const done = `${run.kind === 'validate' ? 'Validate' : 'Sweep'} ${formats}`
  return [done, run.shape, run.options].filter(Boolean).join(', ')
}
