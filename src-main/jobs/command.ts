import type { JobSpec } from '@shared/contract/jobs'

/** The command line that does the same job without a window. Defaults are left out. */
export function commandOf(spec: JobSpec): string {
  if (spec.resumes !== undefined) return `blockscope runs resume ${spec.resumes}`
  const words = ['blockscope', spec.kind, '--formats', spec.formats.join(',')]
  const add = (flag: string, value: unknown, usual?: unknown) => {
    if (value !== undefined && value !== usual) words.push(flag, String(value))
  }
  if (spec.kernels.length > 0) words.push('--kernels', spec.kernels.join(','))
  add('--device', spec.device, 'auto')
  add('-M', spec.m)
  add('-N', spec.n)
  if (spec.kind === 'validate') {
    add('-K', spec.k)
    add('--atol', spec.atol, 1e-3)
    add('--rtol', spec.rtol, 1e-3)
    add('--operands', spec.operandsFile && quoted(spec.operandsFile))
  } else {
    add('-K', spec.kValues.join(','))
    add('--mode', spec.mode, 'cold')
    add('--preset', spec.preset, 'standard')
    add('--reps', spec.reps)
    add('--rounds', spec.rounds)
    if (spec.sustained) words.push('--sustained')
  }
  add('--seed', spec.seed, 42)
  add('--dist', spec.distribution, 'normal')
  add('--out', spec.output, 'f16')
  return words.join(' ')
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
