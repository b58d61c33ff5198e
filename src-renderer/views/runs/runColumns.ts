/** Columns of the list of runs. */
import type { RunSummary } from '@shared/contract/run'
import { dateTime } from '@shared/units'
import { outcomeLook } from '../../components/looks'
import type { Column } from '../../components/tableColumns'
import { titleOf } from '../../stores/runs'

export const runColumns: readonly Column<RunSummary>[] = [
  { id: 'choose', title: 'Choose', value: () => '', width: '40px', controls: true },
  { id: 'title', title: 'Run', value: (run) => titleOf(run), width: 'minmax(190px, 3fr)' },
  { id: 'kind', title: 'Kind', value: ({ kind }) => kind, width: '70px' },
  {
    id: 'created',
    title: 'Started',
    value: ({ createdAt }) => createdAt,
    text: ({ createdAt }) => dateTime(createdAt),
    width: '128px'
  },
  {
    id: 'status',
    title: 'Verdict',
    value: ({ status, outcome }) => outcomeLook(status, outcome).text,
    width: '112px'
  },
  { id: 'device', title: 'Device', value: ({ device }) => device, width: 'minmax(96px, 1fr)' },
  {
    id: 'outcome',
    title: 'Done of planned',
    value: ({ outcome }) => outcome.sentence,
    width: 'minmax(120px, 1.4fr)'
  },
  { id: 'notes', title: 'Notes', value: ({ notes }) => notes, width: 'minmax(64px, 1.4fr)' }
]
