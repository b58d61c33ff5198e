import type { RunSummary } from '@shared/contract/run'
import { titleOf } from '../../stores/runs'

/** Plain words, any case, all of them somewhere in the run's line: what people expect of a search field. */
export function findRuns(runs: readonly RunSummary[], query: string): readonly RunSummary[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return runs
  return runs.filter((run) => {
    const hay = [
      titleOf(run),
      run.notes,
      ...run.formats,
      run.device,
      run.shape,
      run.options,
      run.kind,
      run.status,
      run.id
    ]
    const text = hay.join(' ').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
