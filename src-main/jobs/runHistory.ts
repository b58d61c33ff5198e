/** The history of a point over the runs of a store. */
import type { HistoryPoint } from '@shared/contract/history'
import type { Output } from '@shared/contract/methods'
import type { Run } from '@shared/contract/run'
import { historyPoints, labelledHistory } from '@shared/measurement/history'
import type { RunStore } from '../store/runStore'

/** The newest so many are read: a history reads whole runs. */
const mostRuns = 200

/** Of the point that is asked for, else of the one that most runs measured; of runs of a label alone where one is asked for. */
export async function readHistory(
  store: RunStore,
  wanted?: HistoryPoint,
  label = ''
): Promise<Output<'runs.history'>> {
  const summaries = (await store.list()).filter(
    ({ kind, problem, outcome }) => kind === 'sweep' && !problem && outcome.measured > 0
  )
  const runs: Run[] = []
  for (const { id } of summaries.slice(0, mostRuns)) {
    const run = await store.readListed(id)
    if (run) runs.push(run)
  }
  const points = historyPoints(runs)
  const point = wanted ?? points[0]?.point
  return { points, point, ...labelledHistory(runs, point, label) }
}
