/** What the kernels of a sweep are compared with: a provider's best, one kernel, or an earlier run, at the same shape. */
import { familyOf, providerTitles, type ProviderFamily } from '../measurement/marks'
import { pointOf, ratioToBest } from '../measurement/ratios'
import type { Step } from '../contract/run'
import type { SweepLine } from './sweepSeries'

export interface BaselineChoice {
  /** 'best triton', 'kernel wgmma', 'run ID' */
  id: string
  title: string
  /** The name in headings: '× Triton'. */
  short: string
}

export function baselineChoices(lines: readonly SweepLine[]): BaselineChoice[] {
  const own = lines.filter(({ overlay }) => !overlay)
  const families = new Set<ProviderFamily>(own.map(familyOf))
  const kernels = new Set(own.map(({ kernel }) => kernel))
  const runs = new Map(lines.filter(({ overlay }) => overlay).map((line) => [line.runId, line]))
  return [
    ...[...families].map((family) => ({
      id: `best ${family}`,
      title: `${providerTitles[family]}'s best`,
      short: providerTitles[family]
    })),
    ...[...kernels].map((kernel) => ({ id: `kernel ${kernel}`, title: kernel, short: kernel })),
    ...[...runs.values()].map(({ runId, runTitle }) => ({
      id: `run ${runId}`,
      title: `the same kernel in ${runTitle}`,
      short: runTitle
    }))
  ]
}

/** An earlier run that is overlaid, else Triton's best, else nothing: what is compared with is a person's choice. */
export function usualBaseline(choices: readonly BaselineChoice[]): string {
  const run = choices.find(({ id }) => id.startsWith('run '))
  const triton = choices.find(({ id }) => id === 'best triton')
  return (run ?? triton)?.id ?? ''
}

/** A kernel that was measured in some lines, to compare with where the chosen one was not: a reference first, others are held to it. */
export function otherBaseline(
  choices: readonly BaselineChoice[],
  lines: readonly SweepLine[]
): BaselineChoice | undefined {
  const own = lines.filter(({ overlay }) => !overlay)
  const kernel = (own.find(({ mark }) => mark.hollow) ?? own[0])?.kernel
  return choices.find(({ id }) => id === `kernel ${kernel}`)
}

export type RatioOf = (line: SweepLine, step: Step) => number | undefined

/** Rate over the baseline's rate at the same format, M, N and K; undefined where the baseline was not measured. */
export function ratioTo(baseline: string, lines: readonly SweepLine[]): RatioOf {
  const [kind, name] = splitOnce(baseline)
  const peers = lines.filter(
    (line) =>
      (kind === 'best' && !line.overlay && familyOf(line) === name) ||
      (kind === 'kernel' && !line.overlay && line.kernel === name) ||
      (kind === 'run' && line.runId === name)
  )
  const steps = peers.flatMap(({ points }) => points.map(({ step }) => step))
  const placeOf = (step: Step) =>
    kind === 'run' ? `${step.kernel} ${pointOf(step)}` : pointOf(step)
  const ratioOf = ratioToBest(steps, placeOf)
  return (_line, step) => ratioOf(step)
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf(' ')
  return at < 0 ? ['', ''] : [text.slice(0, at), text.slice(at + 1)]
}

export interface RatioRange {
  format: string
  low: number
  high: number
}

/** Of each format, how far the best own kernel stands above the baseline, over all shapes. */
export function bestRatios(lines: readonly SweepLine[], ratioOf: RatioOf): RatioRange[] {
  const formats = [...new Set(lines.map(({ format }) => format))]
  return formats.flatMap((format) => {
    const bestAt = new Map<string, number>()
    for (const line of lines) {
      const family = familyOf(line)
      const isOwn = family === 'blockscope' || family === 'user' || family === 'cpu'
      if (line.format !== format || line.overlay || line.mark.hollow || !isOwn) continue
      for (const { step } of line.points) {
        const ratio = ratioOf(line, step)
        const place = pointOf(step)
        if (ratio !== undefined && ratio > (bestAt.get(place) ?? 0)) bestAt.set(place, ratio)
      }
    }
    const ratios = [...bestAt.values()]
    return ratios.length === 0
      ? []
      : [{ format, low: Math.min(...ratios), high: Math.max(...ratios) }]
  })
}
