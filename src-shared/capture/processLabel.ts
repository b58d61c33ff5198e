import type { CapturedProcess } from './shardNames'

/** 'rank 3, python 4121': the script of an interpreter says more than its program. */
export function processLabel(
  pid: number,
  { program, arguments: words, rank }: CapturedProcess
): string {
  const last = (path: string) => path.slice(path.lastIndexOf('/') + 1)
  const script = words.slice(1).find((word) => !word.startsWith('-'))
  const name =
    script !== undefined && /\.(py|sh|js|pl|rb)$/.test(script) ? last(script) : last(program)
  return `${rank === undefined ? '' : `rank ${rank}, `}${name || 'process'} ${pid}`
}
